"""The glossary explains the words of reports and commands, in alphabetical order."""

from pathlib import Path

WORDS = [
    line[2:].partition(" |")[0]
    for line in (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
][2:]


def test_words_of_answers_are_explained() -> None:
    """Those that a first answer on a log uses."""
    assert {"replay", "what-if", "offered load", "life", "granule", "hold"} <= set(WORDS)


def test_words_are_in_order() -> None:
    """Each once."""
    assert [word.lower() for word in WORDS] == sorted({word.lower() for word in WORDS})
