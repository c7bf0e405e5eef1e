"""Documents as text: Markdown, tables as LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from spillway.analysis.document import blocks as kit

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "≤": r"$\leq$",
}


def to_markdown(blocks: Iterable[kit.Block], folder: Path = Path()) -> str:
    """Write a document as Markdown; pictures are links, relative to ``folder``."""
    return "\n\n".join(filter(None, (_markdown(block, folder) for block in blocks))) + "\n"


def to_latex(table: kit.Table) -> str:
    """Write a table as LaTeX, with the rules of the package booktabs: names and texts left, numbers right."""
    columns = "l" + "".join("l" if kind else "r" for kind in table.kinds()[1:])
    lines = (" & ".join(_latex(cell) for cell in cells) + r" \\" for cells in (table.headings, *table.rows))
    head, *body = lines
    rules = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
    return "\n".join([*rules, r"\end{tabular}"]) + "\n"


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _markdown(block: kit.Block, folder: Path) -> str:
    match block:
        case kit.Heading(text, level):
            return f"{'#' * level} {_plain(text)}"
        case kit.Paragraph(text):
            return _plain(text)
        case kit.Listing(points):
            return "\n".join(f"- {_plain(point)}" for point in points)
        case kit.Terms(lines):
            return "\n".join(f"- **{_plain(name)}**: {_plain('; '.join(about))}" for name, about in lines)
        case kit.Code(text, language):
            return f"```{language}\n{text}\n```"
        case kit.Table(_, rows):
            rule = [":---", *(":---" if kind else "---:" for kind in block.kinds()[1:])]
            cells = ([_plain(cell).replace("|", "\\|") for cell in row] for row in (block.headings, *rows))
            head, *body = (f"| {' | '.join(row)} |" for row in cells)
            return "\n".join([head, f"| {' | '.join(rule)} |", *body])
        case kit.Image(path, caption):
            return f"![{_plain(caption)}]({path.relative_to(folder).as_posix()})"
        case kit.Section(blocks):
            return to_markdown(blocks, folder).rstrip()
        case Markup():
            return ""


def _plain(cell: kit.Cell) -> str:
    """Text on one line in which ``<`` begins no element of HTML; ``code`` stays as it is."""
    parts = re.split(r"(`[^`]+`)", " ".join(str(cell).splitlines()))
    return "".join(part if place % 2 else re.sub(r"<(?=[A-Za-z/!?])", r"\\<", part) for place, part in enumerate(parts))


def _latex(cell: kit.Cell) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(str(cell).splitlines()))
