"""The answer to what would change: one table, one sentence a setting, and what they do not say."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillway.analysis.compare import Interval, Paired, compare_runs, in_order
from spillway.analysis.metrics import Summary, summarise
from spillway.analysis.tables import JobTable, read_run
from spillway.base import durable
from spillway.base.files import read_file
from spillway.base.units import duration, number, share
from spillway.experiments.campaign.comparison import REPLAY
from spillway.experiments.campaign.machine_changes import PFS_BANDWIDTH, STORAGE_BANDWIDTH
from spillway.experiments.run import folders
from spillway.experiments.run.spec import RunSpec
from spillway.schedulers.policies.replay import SITE_WAIT
from spillway.workloads.batsim_json import parse_batsim

CSV, TEXT = "whatif.csv", "whatif.txt"
SITE, UNCHANGED = "what the site did", "unchanged"
LOAD = "load"


class Asked(NamedTuple):
    """What one row was asked for: its name, and the settings that it changes."""

    name: str
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Relation:
    """Waiting times of the jobs that ran under both, in relation to another row.

    Attributes
    ----------
    paired
        The comparison.
    before_s, after_s
        Mean waiting times of these jobs (s).
    """

    paired: Paired
    before_s: float
    after_s: float


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    asked
        The setting, or the words for the unchanged.
    policy
        Its label.
    model
        Name of the job model.
    tables, figures
        Jobs and summary of each seed.
    to_site, to_same
        In relation to what the site did, and to the policy without the setting; ``None``: there is no such relation.
    """

    asked: Asked
    policy: str
    model: str
    tables: Sequence[JobTable]
    figures: Sequence[Summary]
    to_site: Relation | None = None
    to_same: Relation | None = None

    def mean(self, name: str) -> float:
        """A figure, averaged over seeds."""
        return float(np.mean([getattr(one, name) for one in self.figures]))

    def total(self, name: str) -> int:
        """A count, over all seeds."""
        return sum(int(getattr(one, name)) for one in self.figures)


class Answer:
    """Prints the table and the sentences, and writes both, when all runs have finished.

    Parameters
    ----------
    asked
        Each setting, in the order of the grids after the first.
    tau_s
        Bound of the bounded slowdown (s).
    of_log
        Whether the jobs are those of a log: then seeds differ in what was drawn for it, not in its jobs.
    """

    def __init__(self, asked: Sequence[Asked], tau_s: float, *, of_log: bool) -> None:
        self._asked = asked
        self._tau_s = tau_s
        self._of_log = of_log

    def __call__(self, runs: Sequence[Sequence[RunSpec]], root: Path, console: Console) -> list[Path]:
        """Print, write, and give the files that were written."""
        rows = rows_of(runs, self._asked, root, self._tau_s)
        console.print(_table(rows))
        said = [*_of_site(runs[0], root, rows), *sentences(rows), *_intervals(rows, of_log=self._of_log)]
        for sentence in said:
            console.print(sentence, markup=False, highlight=False, soft_wrap=True)
        durable.write_text(root / CSV, _csv(rows))
        durable.write_text(root / TEXT, "".join(f"{sentence}\n" for sentence in said))
        return [root / CSV, root / TEXT]


def rows_of(runs: Sequence[Sequence[RunSpec]], asked: Sequence[Asked], root: Path, tau_s: float) -> list[Row]:
    """Rows of the finished runs: what the site did, the policy as all is, each setting."""
    labels = list(dict.fromkeys(run.policy.label for run in runs[0]))
    names = [SITE if label == REPLAY and len(labels) > 1 else UNCHANGED for label in labels]
    rows = [
        _row(Asked(name, ()), [run for run in runs[0] if run.policy.label == label], root, tau_s)
        for name, label in zip(names, labels, strict=True)
    ]
    rows += [_row(one, grid, root, tau_s) for one, grid in zip(asked, runs[1:], strict=True)]
    site, same = _base(rows, SITE), _base(rows, UNCHANGED)
    assert same is not None
    return [_related(row, site, same) for row in rows]


def _base(rows: Sequence[Row], name: str) -> Row | None:
    return next((row for row in rows if row.asked.name == name and not row.asked.settings), None)


def _row(asked: Asked, runs: Sequence[RunSpec], root: Path, tau_s: float) -> Row:
    tables = [read_run(root / run.id) for run in runs]
    return Row(asked, runs[0].policy.label, runs[0].model.name, tables, [summarise(table, tau_s) for table in tables])


def _related(row: Row, site: Row | None, same: Row) -> Row:
    if row is site:
        return row
    return replace(
        row,
        to_site=_relation(row, site) if site is not None and LOAD not in row.asked.settings else None,
        to_same=_relation(row, same) if row is not same else None,
    )


def _relation(row: Row, base: Row) -> Relation:
    """Waiting times of the same jobs."""
    both = [in_order(ours, theirs) for ours, theirs in zip(row.tables, base.tables, strict=True)]
    after, before = [ours.wait_s for ours, _ in both], [theirs.wait_s for _, theirs in both]
    return Relation(
        compare_runs(after, before), float(np.concatenate(before).mean()), float(np.concatenate(after).mean())
    )


# ---------------------------------------------------------------- sentences


def sentences(rows: Sequence[Row]) -> list[str]:
    """One sentence a setting; before them, what the policy alone makes of it."""
    same = _base(rows, UNCHANGED)
    assert same is not None
    said = []
    if same.to_site is not None:
        said.append(
            f"{UNCHANGED}: under {same.policy} jobs wait {_instead(same.to_site)} at the site. That is the policy's "
            "doing: the site's schedule is recorded, and no setting changes it."
        )
    return said + [f"{row.asked.name}: {_sentence(row, row.to_same, same)}" for row in rows if row.to_same is not None]


def _sentence(row: Row, relation: Relation, same: Row) -> str:
    without = "" if row.policy == same.policy else f" under {same.policy}"
    if relation.paired.win == relation.paired.loss == 0:
        return f"under {row.policy} every job starts when it did{without}.{_why_nothing(row)}"
    text = f"under {row.policy} jobs wait {_instead(relation)}{without or ' without it'}"
    for name in ("rejected", "killed"):
        more = row.total(name) - same.total(name)
        if more:
            jobs = "job is" if abs(more) == 1 else "jobs are"
            text += f"; {abs(more):,} {'more' if more > 0 else 'fewer'} {jobs} {name}"
    return f"{text}."


def _why_nothing(row: Row) -> str:
    """Links that no job uses under its model change nothing."""
    links = {PFS_BANDWIDTH, STORAGE_BANDWIDTH}
    if not row.asked.settings or not links.issuperset(row.asked.settings) or row.model != "rigid":
        return ""
    return " Under the job model rigid no job moves bytes to storage: with --model io they do."


def _instead(relation: Relation) -> str:
    """``41 min on average, 25 % less (95 % interval 10 to 38 % less, over 5 runs), not 54 min as``."""
    ratio = relation.paired.ratio
    text = f"{_time(relation.after_s)} on average, "
    if math.isfinite(ratio.value):
        text += f"{_words(ratio)}, "
    return f"{text}not {_time(relation.before_s)} as"


def _words(ratio: Interval) -> str:
    if not ratio.is_known:
        return f"{_percent(ratio.value)} (no interval)"
    interval = f"(95 % interval {_percent(ratio.low)} to {_percent(ratio.high)})"
    chance = "" if ratio.high < 1 or ratio.low > 1 else ", which may be chance"
    return f"{_percent(ratio.value)} {interval}{chance}"


def _percent(ratio: float) -> str:
    amount = f"{abs(100 * (ratio - 1)):.0f} %" if ratio < 3 else f"{ratio:.1f} times"
    return f"{amount} as much" if ratio >= 3 else f"{amount} {'less' if ratio < 1 else 'more'}"


def _of_site(runs: Sequence[RunSpec], root: Path, rows: Sequence[Row]) -> list[str]:
    """What the log itself states, and whether its schedule fits the machine."""
    site = _base(rows, SITE)
    own = [run for run in runs if run.policy.label == REPLAY]
    if site is None:
        return []
    jobs = parse_batsim(read_file(root / own[0].workload.path), own[0].workload.path).jobs
    stated = float(np.mean([job.extras[SITE_WAIT] for job in jobs]))
    text = f"{SITE}: the log states a mean wait of {_time(stated)}"
    warnings = folders.read_json(root / own[0].id / folders.RUN_FILE).get("warnings", ())
    fault = next((one for one in warnings if "schedule" in one), "")
    if not fault:
        return [f"{text}, and its schedule fits the machine."]
    played = _time(site.mean("mean_waiting_time_s"))
    return [
        f"{text}; played here it is {played}, because {fault}. As far as this machine, or the burst buffers drawn for "
        "the jobs, are not the site's, the difference to the site is overstated."
    ]


def _intervals(rows: Sequence[Row], *, of_log: bool) -> list[str]:
    """Why there are no intervals, or what they are over."""
    relations = [relation.paired for row in rows for relation in (row.to_site, row.to_same) if relation is not None]
    open_ones = [one for one in relations if not one.ratio.is_known and one.win + one.loss]
    if open_ones:
        remedy = "a longer log gives one" if of_log else "--seeds 5 gives one"
        return [
            "Where there is no interval, whether the difference holds elsewhere is open: waiting times of one queue "
            f"depend on each other ({remedy})."
        ]
    if of_log and len(rows[0].tables) > 1:
        return ["The intervals are over seeds: what was drawn for the jobs differs between them, the jobs do not."]
    over = sorted({one.over for one in relations if one.over})
    return [f"The intervals are over {' and '.join(over)}."] if over else []


def _time(seconds: float) -> str:
    """A mean wait; below a hundredth of a second it is the simulator's resolution."""
    return duration(round(seconds, 2))


# ---------------------------------------------------------------- tables

COLUMNS = ("setting", "policy", "mean wait", "95 % wait less than", "bounded slowdown", "utilisation")


def _table(rows: Sequence[Row]) -> Table:
    same = _base(rows, UNCHANGED)
    table = Table(title="what if", title_justify="left", header_style="bold")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in COLUMNS[:2] else "right", overflow="fold")
    relations = [("to_site", "wait, against the site")] if any(row.to_site for row in rows) else []
    relations += [("to_same", f"wait, against {same.policy if same else ''} unchanged")]
    for _, name in relations:
        table.add_column(name, justify="right", overflow="fold")
    for row in rows:
        cells = [*_cells(row), *(_change(getattr(row, name)) for name, _ in relations)]
        table.add_row(*map(Text, cells))
    return table


def _cells(row: Row) -> list[str]:
    return [
        row.asked.name,
        row.policy,
        _time(row.mean("mean_waiting_time_s")),
        _time(row.mean("p95_waiting_time_s")),
        number(row.mean("mean_bounded_slowdown")),
        share(row.mean("compute_utilisation")),
    ]


def _change(relation: Relation | None) -> str:
    """``-25 %``, with its interval where there is one."""
    if relation is None or not math.isfinite(relation.paired.ratio.value):
        return ""
    ratio = relation.paired.ratio
    low, high = (f"{100 * (end - 1):+.0f}" for end in (ratio.low, ratio.high))
    return f"{100 * (ratio.value - 1):+.0f} %" + (f" ({low} to {high})" if ratio.is_known else "")


def _csv(rows: Sequence[Row]) -> str:
    """All figures in seconds and shares, with full precision."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = list(Summary.__dataclass_fields__)
    ends = ("difference_s", "ratio", "ratio_low", "ratio_high", "over")
    relations = ("to_site", "to_same")
    writer.writerow(["setting", "policy", *names, *(f"{relation}_{end}" for relation in relations for end in ends)])
    for row in rows:
        line: list[object] = [row.asked.name, row.policy, *(row.mean(name) for name in names)]
        for relation in (row.to_site, row.to_same):
            line += [""] * len(ends) if relation is None else _figures(relation.paired)
        writer.writerow(line)
    return stream.getvalue()


def _figures(paired: Paired) -> list[object]:
    ratio = paired.ratio
    return [paired.difference.value, ratio.value, ratio.low, ratio.high, paired.over]
