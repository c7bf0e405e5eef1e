"""``python -m tools.whatif_coverage``: share of what-if bands that report an effect, for known effects.

Each log is played under EASY on the thesis's machine with ten shakes, as ``spillway whatif`` does, against

* itself with shakes of another seed: both have one distribution, so that the effect is zero by construction, while the
  schedules differ as much as those of a setting without effect;
* itself with all submissions a little closer to each other: jobs wait longer, by an effect that is small or large.

The table counts bands that exclude 0: false alarms in the first case, findings in the others; and separately those on
the other side (more load can shorten the waits of single logs). The bands are those of an answer with three
comparisons. The last column has the results of a single play of each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from spillway.analysis.measures.compare import Interval
from spillway.analysis.measures.shakes import around, together
from spillway.experiments.studies.simulation import simulate
from spillway.platforms.catalogue import resolve_platform
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.description import PolicySpec
from spillway.simulator.engines.native import FixedEngine
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.conversion.shake import shaken
from spillway.workloads.conversion.vary import with_load
from spillway.workloads.models.synthetic import generator

SHAKES = 10
NOTHING, SMALL, LARGE = "nothing (another seed)", "load +10 %", "load +25 %"
FACTORS = {NOTHING: None, SMALL: "x1.1", LARGE: "x1.25"}
"""Changes of the load by name; ``None``: only the seed of the shakes changes."""

MATTERS = 0.05
"""Least difference of single plays that counts as noticeable, as a share."""


@dataclass
class Count:
    """Findings for one change.

    Attributes
    ----------
    bands
        One for each log, of the ratio of mean waits.
    single
        Ratios of one play each.
    """

    bands: list[Interval] = field(default_factory=list)
    single: list[float] = field(default_factory=list)

    def row(self, name: str) -> list[str]:
        """Cells of the printed table."""
        shorter, longer = (sum(side) for side in zip(*((b.high < 1, b.low > 1) for b in self.bands), strict=True))
        wide = float(np.median([band.high - band.low for band in self.bands]))
        middle = float(np.median([band.value for band in self.bands]))
        noticed = sum(abs(ratio - 1) > MATTERS for ratio in self.single)
        changed = f"{100 * (middle - 1):+.1f} %"
        return [name, str(len(self.bands)), changed, f"{100 * wide:.0f} %", str(longer), str(shorter), str(noticed)]


HEADINGS = ("changed", "pairs", "median", "band's width", "says longer", "says shorter", "single plays > 5 % apart")


def count(logs: Sequence[int], jobs: int, load: float) -> dict[str, Count]:
    """Play every change on the logs of these seeds."""
    platform = parse_platform(resolve_platform("thesis"), "thesis")
    facts = MachineFacts.from_platform(platform)
    found = {name: Count() for name in FACTORS}
    for seed in logs:
        log = generator(f"kth-like:jobs={jobs},seed={seed},load={load}")()
        workload, _ = convert(log, facts, ConvertOptions(seed=seed))
        base = list(_waits(workload, seed, platform, facts))
        for name, factor in FACTORS.items():
            changed = with_load(workload, factor, facts) if factor is not None else workload
            other = seed if factor is not None else seed + 1_000_000
            ratios = [ours / theirs for ours, theirs in zip(_waits(changed, other, platform, facts), base, strict=True)]
            found[name].bands.append(around(ratios[0], ratios[1:], together(len(FACTORS))))
            found[name].single.append(ratios[0])
    return found


def _waits(workload: Workload, seed: int, platform: Platform, facts: MachineFacts) -> Iterator[float]:
    """Mean wait (s) of the play whose figure is stated (shaken, too, else nothing would differ), and of each shake."""
    for number in range(SHAKES + 1):
        yield _mean_wait(shaken(workload, number, seed, facts.node_speed_flops), platform)


def _mean_wait(workload: Workload, platform: Platform) -> float:
    submitted = {f"w0!{job.name}": job.subtime for job in workload.jobs}
    waits: list[float] = []
    session = SessionSpec(PolicySpec("easy")).session(
        on_record=lambda record: waits.append(record.start_s - submitted[record.job.id])
    )
    simulate(session, workload, platform, FixedEngine(platform), dynamic_jobs=True, profile_reuse=True)
    return float(np.mean(waits))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each change."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40, help="logs, each with another seed (%(default)s)")
    parser.add_argument("--jobs", type=int, default=200, help="jobs of a log (%(default)s)")
    parser.add_argument("--load", type=float, default=0.9, help="offered load of the logs (%(default)s)")
    options = parser.parse_args(arguments)
    found = count(range(options.pairs), options.jobs, options.load)
    for row in (HEADINGS, *(one.row(name) for name, one in found.items())):
        print(
            "  ".join(f"{cell:>{max(len(HEADINGS[place]), 22 if not place else 0)}}" for place, cell in enumerate(row))
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
