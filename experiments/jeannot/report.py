"""Tables: the realised loads, the outcomes, the verdicts, the variants, the selector. On the console and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.folders import write_text
from experiments.jeannot.claims import Cells
from experiments.jeannot.inference import Tested
from experiments.jeannot.measures import Outcome
from experiments.jeannot.published import STATED
from experiments.jeannot.run import STRATEGIES, Result
from experiments.jeannot.selector import Judged
from experiments.jeannot.variants import VARIANTS
from experiments.jeannot.verdicts import CONTRARY, HOLDS, LEVEL, Verdict, overall

COLUMNS = ("makespan_s", "utilisation", "idle", "mean_stretch", "max_stretch", "mean_flow_s")
SIGNS = {HOLDS: "+", CONTRARY: "-"}
"""How verdicts are printed where there is little space; nothing for what is not shown."""


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table; it appears when it is complete."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    write_text(path, text.getvalue())
    return path


def runs(cells: Cells, folder: Path) -> Path:
    """One line per execution."""
    rows = [
        [family, f"{alpha:g}", seed, f"{result.load:.6f}", len(result.rejected), name]
        + [f"{getattr(outcome, column):.9g}" for column in COLUMNS]
        + [f"{value:.9g}" for value in (outcome.steady(), outcome.drift("allocated"), outcome.drift("transferring"))]
        for (family, alpha, seed), result in sorted(cells.items())
        for name, outcome in result.outcomes.items()
    ]
    head = ["family", "alpha", "draw", "load", "rejected", "strategy", *COLUMNS]
    return write_csv(folder / "runs.csv", [*head, "steady_utilisation", "processor_drift", "bandwidth_drift"], rows)


def show_loads(cells: Cells, console: Console) -> None:
    """The realised load, equation (2), and how many draws were rejected."""
    families, loads = _axes(cells)
    table = Table("family", *(f"{load:g}" for load in loads), title="Realised I/O load (rejected draws)")
    for family in families:
        row = []
        for load in loads:
            found = [result for key, result in cells.items() if key[:2] == (family, load)]
            values = [result.load for result in found]
            rejected = sum(len(result.rejected) for result in found)
            row.append(f"{np.mean(values):.3f} ({rejected})" if found else "")
        table.add_row(family, *row)
    console.print(table)


def show_outcomes(cells: Cells, console: Console) -> None:
    """Means over draws of what Figures 4 to 7 are about."""
    families, loads = _axes(cells)
    titles = {
        "mean_stretch": "Mean stretch", "max_stretch": "Maximum stretch", "utilisation": "Utilisation (%)",
    }  # fmt: skip
    for column, title in titles.items():
        factor = 100 if column == "utilisation" else 1
        table = Table("family", "strategy", *(f"{load:g}" for load in loads), title=f"{title}, mean of the draws")
        for family in families:
            for name in STRATEGIES:
                values = [_mean(cells, family, load, name, column) * factor for load in loads]
                digits = 1 if factor > 1 else 2
                table.add_row(family, name, *(f"{value:.{digits}f}" for value in values))
            table.add_section()
        console.print(table)


def show_stated(cells: Cells, console: Console) -> None:
    """The paper's numbers beside ours."""
    table = Table("quantity", "paper", "ours", "section", title="Numbers that the paper states")
    for stated in STATED:
        table.add_row(stated.quantity, stated.text, stated.ours(cells), stated.section)
    console.print(table)


def show_verdicts(verdicts: Sequence[Verdict], console: Console) -> None:
    """Lessons and Table 1, claim by claim, then as a whole."""
    families = list(dict.fromkeys(family for verdict in verdicts for family in verdict.by_family))
    table = Table(
        "where", "claim", "n", "mean [95 %]", "p", "verdict", *families,
        title="Claims: mean of what is positive where they are right; sign-flip permutation test, p adjusted (Holm); "
        "families: * p < 0.05 unadjusted",
    )  # fmt: skip
    place = ""
    for verdict in verdicts:
        if place and verdict.claim.place != place:
            table.add_section()
        shown = "" if verdict.claim.place == place else verdict.claim.place
        place, tested = verdict.claim.place, verdict.tested
        p_value = verdict.p_below if verdict.verdict == CONTRARY else verdict.p_above
        table.add_row(
            shown, verdict.claim.text, str(tested.size),
            f"{tested.mean:+.3f} [{tested.low:+.3f}, {tested.high:+.3f}]", _p(p_value), verdict.verdict,
            *(_family(verdict.by_family[family]) if family in verdict.by_family else "" for family in families),
        )  # fmt: skip
    console.print(table)
    summary = Table("where", "verdict", title="Lessons and Table 1")
    for where, word in overall(verdicts).items():
        summary.add_row(where, word)
    console.print(summary)


def write_verdicts(verdicts: Sequence[Verdict], path: Path) -> Path:
    """One line per claim."""
    return write_csv(
        path,
        ["place", "claim", "text", "unit", "n", "mean", "low", "high", "p_for", "p_against", "verdict"],
        [
            [
                verdict.claim.place, verdict.claim.id, verdict.claim.text, verdict.claim.unit, verdict.tested.size,
                *(f"{value:.6g}" for value in verdict.tested[1:4]), f"{verdict.p_above:.6g}",
                f"{verdict.p_below:.6g}", verdict.verdict,
            ]
            for verdict in verdicts
        ],
    )  # fmt: skip


def show_variants(found: Mapping[str, Sequence[Verdict]], results: Mapping[str, Cells], console: Console) -> None:
    """Claims by variant: ``+`` holds, ``-`` contrary, nothing: not shown. Then the outcomes under each choice."""
    names = list(found)
    table = Table("where", "claim", *names, title="The same claims where one choice is made differently")
    for rows in zip(*found.values(), strict=True):
        claim = rows[0].claim
        table.add_row(claim.place, claim.id, *(SIGNS.get(verdict.verdict, "") for verdict in rows))
    console.print(table)
    outcomes = Table("variant", "what is different", title="Outcomes under each choice: mean stretch / utilisation (%)")
    for name in STRATEGIES:
        outcomes.add_column(name)
    for variant, cells in results.items():
        row = []
        for name in STRATEGIES:
            outcomes_of = [result.outcomes[name] for result in cells.values()]
            row.append(
                f"{np.mean([one.mean_stretch for one in outcomes_of]):.2f} / "
                f"{100 * np.mean([one.utilisation for one in outcomes_of]):.1f}"
            )
        outcomes.add_row(variant, VARIANTS[variant].text, *row)
    console.print(outcomes)


def write_variants(found: Mapping[str, Sequence[Verdict]], path: Path) -> Path:
    """One line per claim and variant."""
    return write_csv(
        path,
        ["variant", "place", "claim", "n", "mean", "p_for", "p_against", "verdict"],
        [
            [
                name, verdict.claim.place, verdict.claim.id, verdict.tested.size, f"{verdict.tested.mean:.6g}",
                f"{verdict.p_above:.6g}", f"{verdict.p_below:.6g}", verdict.verdict,
            ]
            for name, verdicts in found.items()
            for verdict in verdicts
        ],
    )  # fmt: skip


def show_selector(judged: Mapping[str, Judged], learned: int, console: Console) -> None:
    """How good the recommendations are on held-out draws."""
    title = f"Selector: learned from {learned} workloads, judged on others; excess over the better of both (%)"
    table = Table("objective", "workloads", "packs better (%)", "right (%)", "selector", title=title)
    for heading in ("always list", "always packs"):
        table.add_column(heading)
    for objective, one in judged.items():
        shares = (one.packs_better, one.right, one.selector, one.always_list, one.always_pack)
        table.add_row(
            objective, str(one.workloads), *(f"{100 * share:.{1 + (i > 1)}f}" for i, share in enumerate(shares))
        )
    console.print(table)


def _axes(cells: Cells) -> tuple[list[str], list[float]]:
    return sorted({family for family, *_ in cells}), sorted({alpha for _, alpha, _ in cells})


def _mean(cells: Cells, family: str, load: float, name: str, column: str) -> float:
    found: list[Result] = [result for key, result in cells.items() if key[:2] == (family, load)]
    outcomes: list[Outcome] = [result.outcomes[name] for result in found]
    return float(np.mean([getattr(outcome, column) for outcome in outcomes])) if outcomes else float("nan")


def _family(tested: Tested) -> str:
    return f"{tested.mean:+.3f}{'*' if min(tested.above, tested.below) < LEVEL else ' '}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
