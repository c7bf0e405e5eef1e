"""What was found, in words: tables for the terminal and for Markdown, and all of it as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from spillway.experiments.trials.conformance.disciplines import DISCIPLINES, REQUIREMENTS
from spillway.experiments.trials.conformance.suite import FAILS, NOT_APPLICABLE, PASSES, Failure, Verdict

Rows = Sequence[Sequence[str]]

CLAIMS: Mapping[str, str] = {
    "fcfs": "fcfs",
    "easy": "easy",
    "sjf-easy": "easy",
    "list": "easy",
    "conservative": "conservative",
}
"""Disciplines of our own policies; all others claim nothing but to be safe (``any``)."""


def verdict_rows(found: Iterable[Verdict]) -> Rows:
    """One row for each case, a header first."""
    return [
        ("case", "mistake or requirement", "source", "verdict"),
        *((one.name, one.aims, one.source, one.result) for one in found),
    ]


def standing_rows(found: Mapping[str, Mapping[str, Mapping[str, Failure]] | str]) -> Rows:
    """One row for each policy: by discipline ``passes`` or the requirements that it breaks, a claim with a star."""
    rows: list[tuple[str, ...]] = [("policy", *DISCIPLINES)]
    for policy, standing in found.items():
        if isinstance(standing, str):
            rows.append((policy, *(NOT_APPLICABLE for _ in DISCIPLINES)))
            continue
        claim = CLAIMS.get(policy, "any")
        cells = {
            name: ", ".join(sorted(broken, key=list(REQUIREMENTS).index)) or PASSES for name, broken in standing.items()
        }
        rows.append((policy, *(f"{cell} *" if name == claim else cell for name, cell in cells.items())))
    return rows


def story(failure: Failure, discipline: str, tested: str) -> list[str]:
    """A failure in words, with its world and the command that plays it again.

    Parameters
    ----------
    discipline
        What was tested; where only a case had the requirement, the command names a discipline that has it.
    tested
        The part of the command line that names the scheduler.
    """
    one = failure.requirement
    names = [discipline, *DISCIPLINES]
    having = next(name for name in names if one in DISCIPLINES[name])
    lines = [f"{one}: {failure.words}", *(f"  {line}" for line in failure.world.story())]
    return [*lines, f"  again: spillway conformance --discipline {having} --world '{failure.world.text()}' {tested}"]


def count(found: Iterable[Verdict]) -> str:
    """How many passed, failed, and were not applicable."""
    results = [one.result for one in found]
    return ", ".join(
        f"{results.count(result)} {result.replace('s', '', 0)}" for result in (PASSES, FAILS, NOT_APPLICABLE)
    )


def markdown(title: str, rows: Rows, stories: Iterable[Sequence[str]]) -> str:
    """A page: the table, and the failures."""
    head, *body = rows
    lines = [f"# {title}", "", _line(head), _line(["---"] * len(head)), *map(_line, body)]
    for one in stories:
        lines += ["", "```text", *one, "```"]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def as_json(**members: object) -> str:
    """All of it as JSON; worlds are objects that ``--world`` takes."""
    return json.dumps(msgspec.to_builtins(members), indent=1) + "\n"
