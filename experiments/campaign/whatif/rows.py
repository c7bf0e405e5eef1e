"""The rows of a what-if answer: one per setting, on the same jobs, with a band from shaken input."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spillway.analysis.measures.compare import CONFIDENCE, Interval, PairedComparison, compare_runs
from spillway.analysis.measures.fairness import STARVED_S
from spillway.analysis.measures.metrics import summarise
from spillway.analysis.measures.shakes import around
from spillway.analysis.tables.jobs import Floats, from_eligible, read_jobs
from spillway.experiments.campaign.folder.site_waits import as_stated
from spillway.experiments.campaign.folder.summary import metrics_of
from spillway.experiments.campaign.inputs.shakes import SHAKES, Shaken
from spillway.experiments.run.sessions import REPLAY
from spillway.experiments.run.spec import Playing, RunSpec
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.schedulers.model.site import parse_site
from spillway.schedulers.site_file import site_setting
from spillway.workloads.conversion.machine_facts import MachineFacts

MAINTENANCE = "maintenance"
"""Name of the setting: a window in which nothing runs."""

SITE, UNCHANGED = "what the site did", "unchanged"
LOAD = "load"
REJECTED, KILLED = "rejected", "killed"


class RowRequest(NamedTuple):
    """The request for one row: its name, and the settings that it changes."""

    name: str
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The compared figures of one run.

    Attributes
    ----------
    ends
        End of each job: ``rejected``, ``killed``, or "".
    waits
        Waiting time of each job that ran (s), in order of submission.
    figures
        The run's summary, and ``starved``: jobs that waited for more than a week.
    """

    ends: Mapping[str, str]
    waits: Mapping[str, float]
    figures: Mapping[str, float]


Play = Sequence[Outcome]
"""Outcomes of one setting on the log as it is, or on one shake of it: one per seed."""


class OmittedJob(NamedTuple):
    """A job that is not compared, and its end under a setting that rejects or kills it."""

    job: str
    setting: str
    end: str


@dataclass(frozen=True)
class Relation:
    """Waiting times of the compared jobs in relation to another row.

    Attributes
    ----------
    paired
        Comparison on the log as it is, with an interval over seeds or periods where these give one.
    band
        Ratio of mean waits; its ends cover that interval and the shakes' band, NaN without either.
    over
        Sample of the band (shakes, seeds, periods); "" without a band.
    before_s, after_s
        Mean waiting times on the log as it is (s).
    """

    paired: PairedComparison
    band: Interval
    over: str
    before_s: float
    after_s: float

    @property
    def is_effect(self) -> bool:
        """Whether the band is known and excludes a ratio of 1."""
        return self.band.is_known and not self.band.low <= 1 <= self.band.high


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    asked
        The setting, or the name of the row without one.
    policy
        Label of the policy.
    model
        Name of the job model.
    plays
        The log as it is, then each of its shakes.
    machine
        Its machine.
    licenses
        Number of each of its site's licences.
    waits
        For each play and seed the waiting times of the compared jobs (s), in the same order in all rows.
    to_site, to_same
        Relation to the site's own schedule, and to the policy without the setting; ``None`` if it does not exist.
    """

    asked: RowRequest
    policy: str
    model: str
    plays: Sequence[Play]
    machine: MachineFacts
    licenses: Mapping[str, int] = field(default_factory=dict)
    waits: Sequence[Sequence[Floats]] = ()
    to_site: Relation | None = None
    to_same: Relation | None = None

    def values(self, name: str) -> list[float]:
        """A figure of the log as it is, then of each shake; means over seeds."""
        return [float(np.mean([outcome.figures[name] for outcome in play])) for play in self.plays]

    def value(self, name: str) -> float:
        """A figure of the log as it is; the mean over seeds."""
        return self.values(name)[0]

    @property
    def wait_s(self) -> float:
        """Mean wait of the compared jobs of the log as it is (s); NaN if no job is compared."""
        return _mean(self.waits[0]) if self.waits else math.nan


@dataclass(frozen=True)
class Rows:
    """The whole table.

    Attributes
    ----------
    all
        The site's own schedule if known, the policy without a setting, each setting.
    compared, jobs
        Number of compared jobs of the log as it is, and of all its jobs; over all seeds.
    left_out
        The other jobs, once for each setting that rejects or kills them.
    confidence
        Confidence of each band over shakes.
    """

    all: Sequence[Row]
    compared: int
    jobs: int
    left_out: Sequence[OmittedJob] = field(default_factory=tuple)
    confidence: float = CONFIDENCE

    @property
    def site(self) -> Row | None:
        """The site's own schedule, if known."""
        return self._named(SITE)

    @property
    def same(self) -> Row:
        """The policy without any setting."""
        found = self._named(UNCHANGED)
        assert found is not None
        return found

    def _named(self, name: str) -> Row | None:
        return next((row for row in self.all if row.asked.name == name and not row.asked.settings), None)


def rows_of(
    grids: Sequence[Sequence[RunSpec]],
    shaken: Shaken,
    asked: Sequence[RowRequest],
    root: Path,
    playing: Playing,
    confidence: float = CONFIDENCE,
) -> Rows:
    """Read the rows from finished runs.

    Parameters
    ----------
    grids
        Runs of the first grid (the site's schedule, the policy without a setting), then of each setting.
    shaken
        The same runs with shaken input.
    asked
        Each setting, in the order of the grids after the first.
    confidence
        Confidence of each band over shakes.
    """
    labels = list(dict.fromkeys(run.policy.label for run in grids[0]))
    names = [SITE if label == REPLAY and len(labels) > 1 else UNCHANGED for label in labels]
    kinds: list[tuple[RowRequest, Sequence[RunSpec]]] = [
        (RowRequest(name, ()), [run for run in grids[0] if run.policy.label == label])
        for name, label in zip(names, labels, strict=True)
    ]
    kinds += zip(asked, grids[1:], strict=True)
    machines = {
        path: MachineFacts.from_platform(load_platform(root / path))
        for path in dict.fromkeys(runs[0].platform.path for _, runs in kinds)
    }
    rows = [_row(kind, runs, shaken, root, playing, machines[runs[0].platform.path]) for kind, runs in kinds]
    return related(rows, confidence)


def _row(
    asked: RowRequest, runs: Sequence[RunSpec], shaken: Shaken, root: Path, playing: Playing, machine: MachineFacts
) -> Row:
    plays: list[Play] = [[_outcome(run, root, playing) for run in runs]]
    shakes = zip(*(shaken.get(run.id, ()) for run in runs), strict=True)
    plays += [[_outcome(run, root / SHAKES, playing) for run in again] for again in shakes]
    policy = runs[0].policy.label
    for name in asked.settings:  # a setting of the session is part of the label
        policy = policy.partition(f" {name}=")[0]
    site = parse_site(site_setting(str(runs[0].settings.get("site") or "")) or "{}")
    licenses = {license_.name: license_.count for license_ in site.licenses}
    return Row(asked, policy, runs[0].model.name, plays, machine, licenses)


def _outcome(run: RunSpec, root: Path, playing: Playing) -> Outcome:
    """Figures of a run; for the site's own schedule those that the log states, whether or not they fit the machine."""
    folder = root / run.id
    is_site = run.policy.policy == REPLAY
    table = as_stated(run, root) if is_site else from_eligible(read_jobs(folder / "jobs.csv"), folder)
    metrics = summarise(table, playing.tau_s).as_dict() if is_site else metrics_of(folder, playing)
    table = table.only(~table.cancelled)
    ran, killed = table.executed.tolist(), table.killed.tolist()
    ends = {
        job: (KILLED if dead else "") if here else REJECTED
        for job, here, dead in zip(table.job_id, ran, killed, strict=True)
    }
    order = np.argsort(table.submit_s, kind="stable").tolist()
    wait_s = table.wait_s
    waits = {table.job_id[row]: float(wait_s[row]) for row in order if ran[row]}
    figures = {**metrics, "starved": sum(wait > STARVED_S for wait in waits.values())}
    return Outcome(ends, waits, figures)


def related(rows: Sequence[Row], confidence: float = CONFIDENCE) -> Rows:
    """Compare rows with each other, on the jobs that have the same outcome in all of them.

    A job is left out of a play where one row rejects it, or where some kill it and others do not.
    """
    plays = max(len(row.plays) for row in rows)
    waits: dict[int, list[list[Floats]]] = {place: [] for place in range(len(rows))}
    compared = jobs = 0
    for number in range(plays):
        of_seeds = list(zip(*(row.plays[min(number, len(row.plays) - 1)] for row in rows), strict=True))
        same = [_same_jobs(outcomes) for outcomes in of_seeds]
        for place, found in waits.items():
            pairs = zip(of_seeds, same, strict=True)
            found.append([np.array([outcomes[place].waits[job] for job in kept]) for outcomes, kept in pairs])
        if number == 0:
            compared = sum(map(len, same))
            jobs = sum(len(outcomes[0].ends) for outcomes in of_seeds)
            left_out = [
                job for outcomes, kept in zip(of_seeds, same, strict=True) for job in _left_out(rows, outcomes, kept)
            ]
    measured = [replace(row, waits=waits[place]) for place, row in enumerate(rows)]
    bare = Rows(measured, compared, jobs, list(dict.fromkeys(left_out)), confidence)
    if not all(len(seed) for play in bare.same.waits for seed in play):
        return bare
    return replace(bare, all=[_related(row, bare.site, bare.same, confidence) for row in measured])


def _same_jobs(outcomes: Sequence[Outcome]) -> list[str]:
    """Jobs that ran under every setting to the same end, in order of submission."""
    first, *others = outcomes
    return [
        job for job in first.waits if all(job in other.waits and other.ends[job] == first.ends[job] for other in others)
    ]


def _left_out(rows: Sequence[Row], outcomes: Sequence[Outcome], kept: Sequence[str]) -> Iterator[OmittedJob]:
    known = set(kept)
    for row, outcome in zip(rows, outcomes, strict=True):
        for job, end in outcome.ends.items():
            if end and job not in known:
                yield OmittedJob(job, row.asked.name, end)


def _related(row: Row, site: Row | None, same: Row, confidence: float) -> Row:
    if row is site:
        return row
    return replace(
        row,
        to_site=_relation(row, site, confidence) if site is not None and LOAD not in row.asked.settings else None,
        to_same=_relation(row, same, confidence) if row is not same else None,
    )


def _relation(row: Row, base: Row, confidence: float) -> Relation:
    paired = compare_runs(row.waits[0], base.waits[0])
    after, before = ([_mean(play) for play in row.waits] for row in (row, base))
    if len(after) == 1:
        return Relation(paired, paired.ratio, paired.over, before[0], after[0])
    ratio, *shaken = (_ratio(ours, theirs) for ours, theirs in zip(after, before, strict=True))
    band = around(ratio, shaken, confidence)
    over = [f"{len(shaken)} shakes"] if band.is_known else []
    if band.is_known and paired.ratio.is_known:
        band = Interval(ratio, min(band.low, paired.ratio.low), max(band.high, paired.ratio.high))
        over.append(paired.over)
    return Relation(paired, band, " and ".join(over), before[0], after[0])


def _ratio(after: float, before: float) -> float:
    if before > 0:
        return after / before
    return 1.0 if after == before else math.inf


def _mean(play: Sequence[Floats]) -> float:
    values = np.concatenate(play)
    return float(values.mean()) if values.size else math.nan
