"""The answer to a what-if question: one table, and one sentence per setting with its price and its band."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from spillway.analysis.answers.ratios import Wording
from spillway.analysis.answers.whatif import CSV, LEFT_OUT, TEXT, read_table, table_of, wait
from spillway.analysis.document.terminal import say, show
from spillway.analysis.document.text import to_csv
from spillway.analysis.measures.metrics import Summary
from spillway.analysis.measures.shakes import around, together
from spillway.analysis.measures.units import FEWEST_RUNS
from spillway.base import durable
from spillway.base.units import many, number
from spillway.base.units import size as size_text
from spillway.experiments.campaign.inputs.machine_changes import CAPACITY, PFS_BANDWIDTH, STORAGE_BANDWIDTH
from spillway.experiments.campaign.inputs.shakes import Shaken
from spillway.experiments.campaign.whatif.rows import MAINTENANCE, OmittedJob, Relation, Row, RowRequest, Rows, rows_of
from spillway.experiments.run import folders
from spillway.experiments.run.sessions import REPLAY
from spillway.experiments.run.spec import Playing, RunSpec
from spillway.workloads.conversion.shake import RUN_TIME, SUBMISSION_S
from spillway.workloads.logs.book import Fate, said
from spillway.workloads.logs.omissions import Omission

_WAITS = Wording("less", "more", "times as long as")

NAMED = 3
"""Most jobs left out that a sentence names; the file has all."""


class Answer:
    """Prints the table and the sentences, and writes both, when all runs have finished.

    Parameters
    ----------
    asked
        Each setting, in the order of the grids after the first.
    playing
        Options of the runs.
    of_log
        Whether the jobs are those of a log: then seeds differ in the values drawn for them, not in the jobs.
    shakes
        Repetitions of each run with shaken input.
    bands
        Number of comparisons that are to hold together.
    is_curve
        Whether capacities of the burst buffers are a curve: the pool is the log's own peak.
    """

    def __init__(
        self,
        asked: Sequence[RowRequest],
        playing: Playing,
        *,
        of_log: bool,
        shakes: int = 0,
        bands: int = 1,
        is_curve: bool = False,
    ) -> None:
        self._asked = asked
        self._playing = playing
        self._of_log = of_log
        self.shakes = shakes
        self._bands = bands
        self._is_curve = is_curve

    def __call__(self, grids: Sequence[Sequence[RunSpec]], shaken: Shaken, root: Path, console: Console) -> list[Path]:
        """Print and write the answer; return the files that were written."""
        _, said, written = self.written(grids, shaken, root)
        show(console, table_of(read_table(root / CSV)), "what if", names=2)
        for sentence in said:
            say(console, sentence)
        return written

    def written(
        self, grids: Sequence[Sequence[RunSpec]], shaken: Shaken, root: Path
    ) -> tuple[Rows, list[str], list[Path]]:
        """Write the answer; return its rows, its sentences and the files."""
        rows = rows_of(grids, shaken, self._asked, root, self._playing, together(self._bands))
        durable.write_text(root / CSV, _csv(rows.all))
        said = list(self._said(rows, grids[0], root))
        durable.write_text(root / TEXT, "".join(f"{sentence}\n" for sentence in said))
        durable.write_text(root / LEFT_OUT, to_csv(OmittedJob._fields, rows.left_out))
        return rows, said, [root / CSV, root / TEXT, root / LEFT_OUT]

    def _said(self, rows: Rows, first: Sequence[RunSpec], root: Path) -> Iterator[str]:
        yield from of_log(folders.read_json(root / first[-1].id / folders.RUN_FILE))
        site = next((run for run in first if run.policy.label == REPLAY), None) if rows.site is not None else None
        fault = _misfit(root, site) if site is not None else ""
        if site is not None:
            yield _of_site(rows, fault)
        others = differing(rows, folders.read_json(root / first[-1].id / folders.RUN_FILE), fault)
        points = [row for row in rows.all if self._is_curve and row.asked.settings == (CAPACITY,)]
        yield from sentences(replace(rows, all=[row for row in rows.all if row not in points]), others)
        yield from _curve(rows.same, points)
        yield from _compared(rows)
        yield from _bands(rows, self.shakes, of_log=self._of_log)


# ---------------------------------------------------------------- sentences


def sentences(rows: Rows, others: Sequence[str] = ()) -> list[str]:
    """One sentence per setting; before them, one on the policy without a setting.

    Parameters
    ----------
    others
        Differences between the site and the runs besides the policy: with any of them, no effect is due to the policy
        alone.
    """
    same, said = rows.same, []
    if same.to_site is not None and rows.site is not None:
        text = _sentence(same, rows.site, same.to_site, "at the site", rows.confidence)
        said.append(f"{same.asked.name}: {text}{_doing(same.to_site, others)}")
    for row in rows.all:
        if row.to_same is not None:
            than = "without it" if row.policy == same.policy else f"under {same.policy}"
            said.append(f"{row.asked.name}: {_sentence(row, same, row.to_same, than, rows.confidence)}")
    return [*said, *_cheapest(rows)]


def _curve(same: Row, points: Sequence[Row]) -> Iterator[str]:
    """A sentence on the waits by capacity of the burst buffers, and on the least capacity that serves as well."""
    related = [(row.asked.name.partition("=")[2], row.to_same) for row in points]
    known = [(factor, relation) for factor, relation in related if relation is not None]
    if not known:
        return
    parts = [
        f"{factor} {wait(relation.after_s)}"
        + (f" ({_WAITS.span(relation.band.low, relation.band.high)})" if relation.band.low < relation.band.high else "")
        for factor, relation in known
    ]
    text = (
        f"{CAPACITY}: nobody states the burst buffers, so the pool is the log's own peak: more can hardly help; state "
        f"yours (--burst-buffer-total). Mean wait under {same.policy} by pool: x1 {wait(known[0][1].before_s)}, "
        f"{', '.join(parts)}"
    )
    worse = [
        factor for factor, relation in known if relation.is_effect and relation.band.value > 1 and float(factor[1:]) < 1
    ]
    least = next((factor for factor, _ in known if factor not in worse and float(factor[1:]) < 1), "x1")
    if all(relation.band.is_known for _, relation in known):
        text += f"; the knee is at {least}: the least pool with waits that cannot be told from those at x1"
    rejected = points[0].value("rejected") - same.value("rejected")
    text += f"; at {known[0][0]} {_jobs(rejected)} rejected besides" if rejected > 0 else ""
    yield f"{text}."


def _cheapest(rows: Rows) -> Iterator[str]:
    """A sentence on the cheapest and the dearest of several windows of maintenance, by the mean wait."""
    costs = [(row.to_same.after_s, row) for row in rows.all if row.to_same and row.asked.settings == (MAINTENANCE,)]
    if len(costs) < 2:
        return
    (least_s, cheapest), (most_s, dearest) = (choose(costs, key=itemgetter(0)) for choose in (min, max))
    before_s = rows.same.value("mean_waiting_time_s")
    yield (
        f"Of {len(costs)} windows {cheapest.asked.name} costs least: jobs wait {wait(least_s)} on average, "
        f"{wait(max(least_s - before_s, 0.0))} more than without a window; {dearest.asked.name} costs most: "
        f"{wait(max(most_s - before_s, 0.0))} more."
    )


def _doing(relation: Relation, others: Sequence[str]) -> str:
    """A sentence on the cause of an effect; empty without an effect."""
    if not relation.is_effect:
        return ""
    if not others:
        return " As far as the log shows, nothing else differs, so the difference is due to the policy."
    return f" This is not due to the policy alone. Other differences from the site: {'; '.join(others)}."


def differing(rows: Rows, record: Mapping[str, Any], fault: str) -> list[str]:
    """Differences between the site and the runs besides the policy, the largest share of node-hours first.

    Parameters
    ----------
    record
        A run's ``run.json``, which states the parts of the log that are not played.
    fault
        The reason why the recorded schedule does not fit the machine; "": it fits.
    """
    assumed, found = record.get("assumed", {}), omitted(record)
    rejected = rows.same.value("rejected")
    found += [f"{_jobs(rejected)} rejected here that the site ran"] if rejected else []
    imputed = [part for note in assumed.get("notes", ()) for part in _IMPUTED.findall(note)]
    found += [f"imputed, because the log does not state it: {part}" for part in imputed]
    return [*found, *(["the recorded schedule does not fit this machine (see above)"] if fault else [])]


def omitted(record: Mapping[str, Any]) -> list[str]:
    """Properties of a log's jobs that a run does not play, the largest share of node-hours first."""
    found = (Omission(**omission) for omission in record.get("assumed", {}).get("omissions", ()))
    return [omission.line for omission in sorted(found, key=lambda omission: -omission.share)]


_IMPUTED = re.compile(r"what is known of the jobs: .*imputed: ([^;]+)")
"""Part of the note of :func:`spillway.workloads.logs.shares.shares_line`."""


def _sentence(row: Row, base: Row, relation: Relation, than: str, confidence: float) -> str:
    if _is_same(row, base):
        under = " as without it" if row.policy == base.policy else f" as under {base.policy}"
        return f"under {row.policy} every job starts at the same time{under}.{_why_nothing(row)}"
    worse, better = counts(row, base, confidence)
    means = f"{wait(relation.after_s)} on average instead of {wait(relation.before_s)}"
    if not relation.band.is_known:
        open_end = f"under {row.policy} jobs wait {means} {than}, which may or may not be chance"
        return _with(open_end, "other changes", [*worse, *better])
    band = f"{_WAITS.span(relation.band.low, relation.band.high)} over {relation.over}"
    if not relation.is_effect:
        text = f"under {row.policy} no effect on waiting times can be distinguished from chance ({band})"
        return _with(text, "other changes", [*worse, *better])
    text = f"under {row.policy} jobs wait {_WAITS.change(relation.band.value, than)} ({band}): {means}"
    if relation.band.value < 1:
        return _with(text, "the price", worse)
    return _with(_with(text, "besides", worse).removesuffix("."), "in return", better)


def _with(text: str, words: str, items: Sequence[str]) -> str:
    return f"{text}; {words}: {_listed(items)}." if items else f"{text}."


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def counts(row: Row, base: Row, confidence: float) -> tuple[list[str], list[str]]:
    """Additions to a machine and its site, and figures besides the mean wait that got worse; then the others.

    Changes by chance are left out.
    """
    worse, better = _of_machine(row, base)
    for name, phrase in _COUNTED.items():
        after, before = row.value(name), base.value(name)
        text, old = phrase(after), (wait if name == "max_waiting_time_s" else number)(before)
        if phrase(after) != phrase(before) and not _may_be_chance(row.values(name), base.values(name), confidence):
            (worse if after > before else better).append(f"{text} instead of {old}")
    return worse, better


def _may_be_chance(after: Sequence[float], before: Sequence[float], confidence: float) -> bool:
    """Whether the band of the differences contains 0; without shakes there is no band, and the answer is no."""
    paired = np.broadcast_arrays(np.array(after), np.array(before))
    difference, *shaken = (paired[0] - paired[1]).tolist()
    band = around(difference, shaken, confidence)
    return band.is_known and band.low <= 0 <= band.high


def _of_machine(row: Row, base: Row) -> tuple[list[str], list[str]]:
    """Nodes, burst buffers and licences that a row has more than another, and those that it has less."""
    found: tuple[list[str], list[str]] = ([], [])
    nodes = row.machine.nodes - base.machine.nodes
    if nodes:
        hours = number(round(abs(nodes) * row.value("makespan_s") / 3600))
        some = f"{many(abs(nodes), 'node', 'nodes')} {'more' if nodes > 0 else 'less'}"
        found[nodes < 0].append(f"{some}, {hours} node-hours until the last end")
    size = row.machine.all_storage_bytes - base.machine.all_storage_bytes
    if size:
        found[size < 0].append(f"{size_text(abs(size))} of burst buffers {'more' if size > 0 else 'less'}")
    for name in dict.fromkeys((*base.licenses, *row.licenses)):
        licenses = row.licenses.get(name, 0) - base.licenses.get(name, 0)
        if licenses:
            hours = number(round(abs(licenses) * row.value("makespan_s") / 3600))
            some = f"{many(abs(licenses), 'licence', 'licences')} of {name} {'more' if licenses > 0 else 'less'}"
            found[licenses < 0].append(f"{some}, {hours} licence-hours until the last end")
    return found


def _jobs(count: float) -> str:
    return f"{number(count)} {'job is' if count == 1 else 'jobs are'}"


_COUNTED: Mapping[str, Callable[[float], str]] = {
    "max_waiting_time_s": lambda value: f"the longest wait is {wait(value)}",
    "starved": lambda value: f"{number(value)} {'job waits' if value == 1 else 'jobs wait'} for more than a week",
    "rejected": lambda value: f"{_jobs(value)} rejected",
    "killed": lambda value: f"{_jobs(value)} killed",
}


def _is_same(row: Row, base: Row) -> bool:
    """Whether every job waits as long as it did, in all plays."""
    pairs = [
        (ours, theirs)
        for play, other in zip(row.waits, base.waits, strict=True)
        for ours, theirs in zip(play, other, strict=True)
    ]
    return all(np.array_equal(ours, theirs) for ours, theirs in pairs)


def _why_nothing(row: Row) -> str:
    """A sentence where links changed that no job uses under its model, else ""."""
    links = {PFS_BANDWIDTH, STORAGE_BANDWIDTH}
    if not row.asked.settings or not links.issuperset(row.asked.settings) or row.model != "rigid":
        return ""
    return " Under the job model rigid no job moves bytes to storage: with --model io they do."


def of_log(record: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on the lines of a log that are not played, if there are such."""
    book = record.get("assumed", {}).get("book")
    lines = list(said(book["rows"], book["node_h"], *(fate for fate in Fate if fate is not Fate.READ))) if book else []
    if book and lines:
        yield f"the log: {book['jobs']:,} jobs are played; {'; '.join(lines)}."


def _misfit(root: Path, site: RunSpec) -> str:
    """The reason why the recorded schedule does not fit the machine; "" if it fits."""
    warnings = folders.read_json(root / site.id / folders.RUN_FILE).get("warnings", ())
    return next((warning for warning in warnings if "schedule" in warning), "")


def _of_site(rows: Rows, fault: str) -> str:
    """A sentence on the mean wait that the log states, and on whether its schedule fits the machine."""
    assert rows.site is not None
    text = f"{rows.site.asked.name}: the log states a mean wait of {wait(rows.site.value('mean_waiting_time_s'))}"
    rejected = rows.site.value("rejected")
    text += f"; {_jobs(rejected)} rejected here that the site ran" if rejected else ""
    if rejected and not fault:
        return f"{text}; all others start when they did."
    return f"{text}{f'; {fault}' if fault else ', and its schedule fits the machine'}."


def _compared(rows: Rows) -> Iterator[str]:
    """A sentence on the number of compared jobs, and on those that are left out."""
    if rows.compared == rows.jobs:
        return
    if not rows.compared:
        yield "No job has the same outcome under every setting, so nothing is compared: ask one setting at a time."
        return
    by_end: dict[tuple[str, str], list[str]] = {}
    for job in rows.left_out:
        by_end.setdefault((job.setting, job.end), []).append(job.job)
    parts = [f"{len(jobs):,} {end} under {setting} ({_some(jobs)})" for (setting, end), jobs in by_end.items()]
    yield (
        f"Mean waits are those of the {rows.compared:,} of {rows.jobs:,} jobs that have the same outcome under every "
        f"setting. Left out, and counted in the table: {'; '.join(parts)}. {LEFT_OUT} lists them."
    )


def _some(jobs: Sequence[str]) -> str:
    more = f" and {len(jobs) - NAMED:,} more" if len(jobs) > NAMED else ""
    return f"job{'s' if len(jobs) > 1 else ''} {', '.join(jobs[:NAMED])}{more}"


def _bands(rows: Rows, shakes: int, *, of_log: bool) -> Iterator[str]:
    """Sentences on the sample behind the bands, or on the reason why there are no bands."""
    if shakes:
        yield (
            f"Every setting was played {shakes} more times with its input shaken: submissions by up to "
            f"{SUBMISSION_S:.0f} s, run times by up to {100 * RUN_TIME:.0f} %. Figures are of the log as it is; the "
            "bands hold them and the medians of these plays, all together with 95 % confidence. They separate "
            "differences from chance on these jobs; they do not say whether the differences hold for other jobs."
        )
    relations = [relation for row in rows.all for relation in (row.to_site, row.to_same) if relation is not None]
    if any(not relation.band.is_known and relation.paired.win + relation.paired.loss for relation in relations):
        seeds = "--seeds 5 gives one" if len(rows.all[0].plays[0]) < FEWEST_RUNS else "more seeds can give one"
        remedy = "--shakes 10 gives one" if of_log else seeds
        yield f"Where there is no band, the difference may or may not be chance ({remedy})."
    elif not shakes and of_log and len(rows.all[0].plays[0]) > 1:
        yield "The bands are over seeds: the values drawn for the jobs differ between them, the jobs do not."
    elif not shakes:
        over = list(Counter(relation.over for relation in relations if relation.over))
        yield from [f"The bands are 95 % intervals over {_listed(over)}."] if over else []


# ---------------------------------------------------------------- tables


def _csv(rows: Sequence[Row]) -> str:
    """All figures in seconds and shares, with full precision."""
    names = ["starved", *Summary.__dataclass_fields__]
    ends = ("before_s", "after_s", "ratio", "ratio_low", "ratio_high", "over")
    header = [f"{relation}_{end}" for relation in ("to_site", "to_same") for end in ends]
    lines = []
    for row in rows:
        line: list[object] = [row.asked.name, row.policy, row.wait_s, *map(row.value, names)]
        for relation in (row.to_site, row.to_same):
            line += [""] * len(ends) if relation is None else _figures(relation)
        lines.append(line)
    return to_csv(["setting", "policy", "compared_wait_s", *names, *header], lines)


def _figures(relation: Relation) -> list[object]:
    band = relation.band
    return [relation.before_s, relation.after_s, band.value, band.low, band.high, relation.over]
