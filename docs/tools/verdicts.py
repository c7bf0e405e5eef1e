"""Claims of the papers: pages of the reference, from ``docs/verdicts.csv``.

``python -m docs.tools.verdicts FILE`` takes over the rows of the file that ``spillway study verdicts`` writes; rows of
claims that were not run this time stay. ``docs.tools.reference`` writes the pages.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spillway.analysis.document.blocks import Block, Heading, Paragraph, Table
from spillway.analysis.document.text import to_csv
from spillway.base import durable
from spillway.base.arguments import tell
from spillway.experiments.run.codehash import REPOSITORY
from spillway.experiments.studies.report import Line
from spillway.experiments.studies.verdicts import MORE, OVER, Verdict

DOCS = REPOSITORY / "docs"
TABLE = DOCS / "verdicts.csv"
COLUMNS = Line.__struct_fields__
VERDICTS = [one.value for one in Verdict]

Row = Mapping[str, str]

NOT_RUN = "not run"
SHORT = {
    OVER: "over the edge",
    "a value is not defined (a ratio to a mean of 0, or no such job)": "a wait of 0",
    "1 seeds, at least 5 are needed": "one draw of five",
}
"""Short reasons for the tables."""

PAPERS = {
    "thesis": "Kopański 2020",
    "jeannot": "Jeannot, Pallez, Vidal 2023",
    "herbein": "Herbein et al. 2016",
    "gang": "Zhang et al. 2003",
    "malleable": "Singh, Carretero 2019",
    "malleable-sharing": "Singh, Carretero 2019, section 5.2",
}
PAGE_OF = {"gang": "zhang", "malleable": "singh", "malleable-sharing": "singh"}
"""Pages that describe a study, where they are not named alike."""


def read(path: Path = TABLE) -> list[dict[str, str]]:
    """Rows of a table of claims."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: row.get(name) or "" for name in COLUMNS} for row in csv.DictReader(file)]


def take_over(kept: Sequence[Row], new: Sequence[Row]) -> list[dict[str, str]]:
    """Rows with new ones in place of those of their studies; a claim that was not run keeps its former row."""
    before = {(row["study"], row["name"]): row for row in kept}
    studies = dict.fromkeys([*(row["study"] for row in kept), *(row["study"] for row in new)])
    found: list[dict[str, str]] = []
    for study in studies:
        rows = [row for row in new if row["study"] == study] or [row for row in kept if row["study"] == study]
        for row in rows:
            old = before.get((study, row["name"]), {})
            keeps = row["why"].startswith(NOT_RUN) and old.get("ours")
            found.append({**(old if keeps else row), "group": row["group"]})
    return found


def pages(rows: Sequence[Row]) -> dict[str, list[Block]]:
    """Each page by its name below ``docs/reference/claims``."""
    found = {"index.md": _overview(rows)}
    for study, paper in PAPERS.items():
        about = f"../../{PAGE_OF.get(study, study)}.md"
        blocks = BLOCKS.get(study, _claims)([row for row in rows if row["study"] == study])
        about = f"{paper}; [the study and its results]({about})."
        found[f"{study}.md"] = [Heading(f"Claims: {study}", 1), Paragraph(about), *blocks]
    return found


def _overview(rows: Sequence[Row]) -> list[Block]:
    """Numbers of claims by study and verdict."""
    counts = [_counts(f"[{study}]({study}.md)", [row for row in rows if row["study"] == study]) for study in PAPERS]
    words = "Numbers of claims by [verdict](../../studies.md#verdicts); as a file: [verdicts.csv](../../verdicts.csv)."
    table = Table(("study", "claims", *VERDICTS), [*counts, _counts("all", rows)])
    return [Heading("Claims of the five papers", 1), Paragraph(words), table]


def _counts(name: str, rows: Sequence[Row]) -> list[str]:
    found = Counter(row["verdict"] for row in rows)
    return [name, str(len(rows)), *(str(found[verdict]) for verdict in VERDICTS)]


def _claims(rows: Sequence[Row]) -> list[Block]:
    """Each claim without a group; then the numbers of claims of each group by verdict."""
    alone = [
        (row["place"], row["statement"], row["published"], _ours(row), _verdict(row))
        for row in rows
        if not row["group"]
    ]
    found: list[Block] = [Paragraph(f"{_count_words(rows)}.")]
    if alone:
        found.append(Table(("section", "claim", "published", "ours [95 %]", "verdict"), alone))
    groups = list(dict.fromkeys(row["group"] for row in rows if row["group"]))
    if groups:
        lines = [_of_group(group, [row for row in rows if row["group"] == group]) for group in groups]
        found.append(Table(("values", *VERDICTS, "why not judged"), lines))
    return found


def _of_group(name: str, rows: Sequence[Row]) -> list[str]:
    found = Counter(row["verdict"] for row in rows)
    why = Counter(
        re.sub(r"\d+ % wide", "too wide", _reason(row)) for row in rows if row["verdict"] == Verdict.NOT_JUDGED.value
    )
    return [name, *(str(found[one]) for one in VERDICTS), ", ".join(f"{count} {one}" for one, count in why.items())]


def _count_words(rows: Sequence[Row]) -> str:
    found = Counter(row["verdict"] for row in rows)
    return f"{len(rows)} claims: " + ", ".join(f"{found[one]} {one}" for one in VERDICTS)


def _verdict(row: Row) -> str:
    text = f"**{row['verdict']}**" if row["verdict"] in ("reproduced", "fits one run") else row["verdict"]
    return f"{text} ({_reason(row)})" if row["why"] else text


def _ours(row: Row) -> str:
    """The values without the axes of their cases."""
    count, cases, values = row["ours"].partition(" cases: ")
    if not cases:
        return re.sub(r" \(\d+% wide\)", "", row["ours"])
    return f"{count.replace(' of ', '/')}: " + "; ".join(part.rpartition(": ")[2] for part in values.split("; "))


def _reason(row: Row) -> str:
    if row["why"].startswith(NOT_RUN):
        return "not played"
    wide = re.match(r"the interval of a single run is (\d+)% of the number wide", row["why"])
    return f"{wide[1]} % wide" if wide else SHORT.get(row["why"], row["why"].removesuffix(f": {MORE}"))


def _families(rows: Sequence[Row]) -> list[Block]:
    """Claims that are stated of several families (``FAMILY: claim``), a column for each."""
    families = list(dict.fromkeys(row["name"].partition(": ")[0] for row in rows))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        family, _, words = row["statement"].partition(": ")
        words = words.replace(" (but Char, the paper's exception)", "")
        cells.setdefault((row["place"], words), {})[family] = _cell(row)
    lines = [(place, words, *(of.get(family, "") for family in families)) for (place, words), of in cells.items()]
    return [Paragraph(f"{_count_words(rows)}."), Table(("section", "claim", *families), lines)]


MARKS = {
    "reproduced": "**yes**",
    "fits one run": "**fits**",
    "fitted": "fitted",
    "not reproduced": "no",
    "not judged": "?",
}
"""Verdicts in narrow cells."""


def _cell(row: Row) -> str:
    cases = re.match(r"(\d+) of (\d+) cases", row["ours"])
    value = f"{cases[1]}/{cases[2]}" if cases else f"{float(row['ours'].partition(' [')[0]):.2g}"
    return f"{MARKS[row['verdict']]} {value}"


def _whole_log(rows: Sequence[Row]) -> Table:
    """Mean waits of the whole log by schedule: published, ours as a share of it, and the verdict."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        match = re.fullmatch(r"whole log: waiting time of (\S+), (\S+)", row["name"])
        if match:
            ours = row["ours"].replace(", one run", ";") if row["ours"] else "not played"
            ours = re.sub(r" \(.*\)$", "", ours)
            verdict = f" {MARKS[row['verdict']]}" if row["ours"] else ""
            found.setdefault(match[1], {})[match[2]] = f"{row['published'].partition(' ')[0]}: {ours}{verdict}"
    models = ("Alloc-Only", "IO-Aware")
    return Table(("schedule", *models), [(name, *(of.get(one, "") for one in models)) for name, of in found.items()])


def _thesis(rows: Sequence[Row]) -> list[Block]:
    """The claims, and the mean waits of the whole log."""
    words = (
        "The published mean wait (s) and our share of it, with the interval for one draw of burst buffers; `?`: not "
        "judged. Schedules with one draw have no interval."
    )
    return [*_claims(rows), Heading("The whole log"), Paragraph(words), _whole_log(rows)]


BLOCKS: Mapping[str, Callable[[Sequence[Row]], list[Block]]] = {"jeannot": _families, "thesis": _thesis}


def shares(rows: Sequence[Row], study: str) -> dict[str, tuple[float, float, float]]:
    """Values with the interval for one run, as shares of the published ones; intervals that reach 0 are left out."""
    found = {}
    for row in rows:
        one = re.match(r"(\S+), one run (\S+) to (\S+)", row["ours"]) if row["study"] == study else None
        if one:
            ours = [float(number.replace(",", "")) for number in one.groups()]
            value, low, high = (number / float(row["published"].partition(" ")[0].replace(",", "")) for number in ours)
            if low > 0:
                found[f"{row['name']} ({row['published'].partition(' ')[0]})"] = (value, low, high)
    return found


def draw(rows: Sequence[Row], study: str = "herbein") -> Path:
    """Draw the :func:`shares` of a study beside the published values, which are at 1."""
    from spillway.analysis.plots.intervals import forest
    from spillway.analysis.plots.style import drawing, save

    with drawing(formats=("png",)):
        ax = forest(shares(rows, study))
        ax.set_xlabel("interval for one workload of ours, as a share of the published number")
        [path] = save(ax, DOCS / "images" / f"{study}-one-run")
    return path


def main() -> None:
    """Take new results over if some are named; draw the intervals of Herbein's study."""
    rows = read()
    if sys.argv[1:]:
        rows = take_over(rows, read(Path(sys.argv[1])))
        durable.write_text(TABLE, to_csv(COLUMNS, [[row[name] for name in COLUMNS] for row in rows]))
    tell(draw(rows))


if __name__ == "__main__":
    main()
