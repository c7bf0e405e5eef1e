"""The report's two forms have the same contents."""

from pathlib import Path

from spillway.analysis.document.blocks import (
    Block,
    Code,
    Heading,
    Image,
    Listing,
    Paragraph,
    Section,
    Table,
    Words,
)
from spillway.analysis.document.html import to_html
from spillway.analysis.document.text import to_csv, to_latex, to_markdown

PNG = b"\x89PNG not really"


def blocks(folder: Path) -> list[Block]:
    """One block of each kind."""
    picture = folder / "plots" / "a.png"
    picture.parent.mkdir()
    picture.write_bytes(PNG)
    return [
        Heading("Title & more", 1),
        Heading("Part one"),
        Paragraph("x < y, says `a & b`."),
        Listing(("first", "second")),
        Table(("name", "verdict"), [("a", "reproduced"), ("b", "not reproduced")]),
        Image(picture, "A picture"),
    ]


def test_markdown(tmp_path: Path) -> None:
    """Tables with words on the left, pictures as relative links."""
    text = to_markdown(blocks(tmp_path), tmp_path)
    assert text.startswith("# Title & more\n\n## Part one\n\n")
    assert "| name | verdict |\n| :--- | :--- |\n| a | reproduced |" in text
    assert "- first\n- second" in text
    assert "![A picture](plots/a.png)" in text


def test_html_needs_no_other_file(tmp_path: Path) -> None:
    """Text is escaped, verdicts are marked, sections are linked, pictures are inside."""
    page = to_html(blocks(tmp_path))
    assert "<title>Title &amp; more</title>" in page
    assert '<a href="#part-one">' in page
    assert "x &lt; y, says <code>a &amp; b</code>." in page
    assert '<td class="missed">not reproduced</td>' in page
    assert 'src="data:image/png;base64,' in page
    assert "://" not in page
    assert "default-src 'none'; script-src 'none';" in page


def test_names_from_outside_stay_text() -> None:
    """A name in a table neither makes an element in HTML or Markdown, nor a further column."""
    table: list[Block] = [Heading("<b>T</b>", 1), Table(("log",), [("<svg onload=x>|y\nz `<a>`",)])]
    page = to_html(table)
    assert "<svg" not in page
    assert "<title>&lt;b&gt;T&lt;/b&gt;</title>" in page
    assert "<td>&lt;svg onload=x&gt;|y\nz <code>&lt;a&gt;</code></td>" in page
    text = to_markdown(table, Path())
    assert text == "# \\<b>T\\</b>\n\n| log |\n| :--- |\n| \\<svg onload=x>\\|y z `<a>` |\n"


def test_csv() -> None:
    """Cells with commas are quoted."""
    assert to_csv(("a", "b"), [(1, "x,y")]) == 'a,b\n1,"x,y"\n'


def test_columns_with_sentences_are_text() -> None:
    """They begin on the left and may take several lines, so that the verdict beside them is on the page."""
    sentence = "jobs wait far longer without reservations of burst buffers"
    table = Table(
        ("place", "claim", "verdict"), [["section 1", sentence, "reproduced"], ["section 2", "less", "fitted"]]
    )
    assert table.kinds() == ["", "text", "word"]
    page = to_html([table])
    assert f'<td class="text">{sentence}</td><td class="met">reproduced</td>' in page
    assert '<td>section 2</td><td class="text">less</td><td class="open">fitted</td>' in page
    assert "| :--- | :--- | :--- |" in to_markdown([table], Path())


def test_names_of_columns_are_no_verdicts() -> None:
    """A table that counts verdicts has them as its columns: these have no colour."""
    page = to_html([Table(("group", "reproduced", "fitted"), [["parts", "3", "0"]])])
    assert "<th>group</th><th>reproduced</th><th>fitted</th>" in page


def test_latex() -> None:
    """Signs with a meaning in LaTeX are escaped; names on the left, numbers on the right."""
    table = Table(("policy", "wait"), [["a_b & c", Words("5 %", small="[4, 6]")]])
    assert to_latex(table).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"policy & wait \\",
        r"\midrule",
        r"a\_b \& c & 5 \% [4, 6] \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_words_are_sorted_by_their_number_and_stand_as_they_are() -> None:
    """No code between backquotes; an unknown value has no number; a section can be folded."""
    words = [Words("`a`", "better", 0.5, "[0, 1]", "#0072b2"), Words("–", value=float("nan"))]
    folded = Section([Listing(words), Code("x <y>")], summary="More", is_open=True)
    page = to_html([Table(("name", "of"), [words]), folded], contents=False)
    square = '<svg class="swatch" viewBox="0 0 10 10"><rect width="10" height="10" rx="2" fill="#0072b2"/></svg>'
    assert f'<td class="better" data-value="0.5">{square}`a` <small>[0, 1]</small></td><td data-value="">–</td>' in page
    assert "<details open><summary>More</summary>" in page
    assert "<pre>x &lt;y&gt;</pre>" in page
    assert to_markdown([folded]) == "- `a` [0, 1]\n- –\n\n```text\nx <y>\n```\n"
