"""``spillway validate slurm``: a real Slurm, the same jobs in the simulator, and the deviations of their starts."""

from __future__ import annotations

import argparse
import math
import random
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec

from spillway.analysis.document.blocks import Block, Paragraph, Words
from spillway.analysis.document.terminal import terminal, write
from spillway.analysis.document.text import to_markdown
from spillway.base import durable
from spillway.base.arguments import Parser, natural, number, tell, whole
from spillway.experiments.run.errors import SpecError
from spillway.experiments.slurm.availability import MissingRequirement
from spillway.experiments.slurm.configuration import Select, Settings, Submission
from spillway.experiments.slurm.deviations import MEDIAN_S, deviations, noise_floor, priorities, table, waits
from spillway.experiments.slurm.live import run
from spillway.experiments.slurm.packages import RELEASES
from spillway.experiments.slurm.recording import Recording, read
from spillway.experiments.slurm.recording import write as keep
from spillway.experiments.slurm.replay import replayed, starts
from spillway.experiments.slurm.site import Site, usual

HELP = "the simulator against a real resource manager"
DESCRIPTION = (
    "Set a real Slurm with a pool of burst buffers up in namespaces of its own (root, Debian's packages; nothing of "
    "the system is changed), submit short jobs to it, play the same submissions in the simulator under the policy "
    "'slurm-backfill' and --bb-life slurm, and print the deviation of every start."
)
EPILOG = (
    "Exit codes: 0 the deviations are within their bounds (median 1 s, 95th percentile bf_interval + 2 s); 1 they are "
    "not, or Slurm failed; 2 wrong input; 77 skipped, the reason is printed: namespaces or packages are not available."
)
EXAMPLES = """
spillway validate slurm --record run.json
spillway validate slurm --nodes 16 --jobs 100 --seed 7 --bf-interval 5
spillway validate slurm --replay run.json
spillway validate slurm --replay first.json second.json third.json
"""

BETWEEN_S = 1.2
"""Mean time between two submissions, s: jobs come faster than they end, so that both queues build up."""
_SWING = 0.8
"""Share of its mean by which the rate of submissions rises and falls in a day."""
_RUNTIMES_S = (2, 12)
_LIMITS_MIN = (1, 3)
_WITHOUT_BUFFER = 0.3
"""Share of jobs without a buffer."""
UNITS = (0.1, 0.6)
"""Least and largest request, as shares of the pool."""
_WITH_LICENSES = 0.2
"""Share of jobs that hold licenses, where there is a site."""
_DEPENDENT = 0.15
"""Share of jobs that wait for one of the last :data:`_REACH` before them, where there is a site."""
_REACH = 10


def generated(
    settings: Settings, jobs: int, stage_s: float, seed: int, between_s: float = BETWEEN_S, day_s: float = 0.0
) -> list[Submission]:
    """Jobs for a Slurm, in the order of their submission.

    Parameters
    ----------
    settings
        Nodes and pool.
    jobs
        Number of jobs.
    stage_s
        Longest stage-in and stage-out, s; each is drawn between a sixth of it and all of it.
    seed
        The same seed gives the same jobs.
    between_s, day_s
        Mean time between two submissions; length of a day in which their rate rises and falls, 0: it does not (s).
    """
    draw = random.Random(seed)
    at_s, drawn = 0.0, []
    for _ in range(jobs):
        buffered = draw.random() >= _WITHOUT_BUFFER
        drawn.append(
            Submission(
                at_s=round(at_s, 3),
                nodes=min(settings.nodes, draw.choice((1, 1, 2, 2, 3, 4)) * max(1, settings.nodes // 8)),
                runtime_s=draw.randint(*_RUNTIMES_S),
                limit_min=draw.randint(*_LIMITS_MIN),
                units=max(1, round(settings.pool_units * draw.uniform(*UNITS))) if buffered else 0,
                stage_in_s=round(draw.uniform(stage_s / 6, stage_s), 1) if buffered else 0.0,
                stage_out_s=round(draw.uniform(stage_s / 6, stage_s), 1) if buffered else 0.0,
            )
        )
        rate = (1 + _SWING * math.sin(2 * math.pi * at_s / day_s) if day_s else 1) / between_s
        at_s += draw.expovariate(rate)
    if settings.site is None:
        return drawn
    return [_at_site(job, number, settings.site, draw) for number, job in enumerate(drawn)]


def _at_site(job: Submission, number: int, site: Site, draw: random.Random) -> Submission:
    """The same job of one of the site's users; ``number``: number of jobs before it."""
    names = [partition.name for partition in site.partitions]
    license, count = draw.choice(list(site.licenses.items()))
    holds, waits = draw.random() < _WITH_LICENSES, draw.random() < _DEPENDENT
    before = draw.randint(max(1, number - _REACH), max(1, number))
    return msgspec.structs.replace(
        job,
        user=draw.choice(site.users).name,
        partition=draw.choice([*names, ",".join(names)]),
        qos=draw.choice(["normal", *site.qos]),
        licenses=f"{license}:{draw.randint(1, max(1, count // 2))}" if holds else "",
        depends=f"{draw.choice(('afterok', 'afterany'))}:{before}" if waits and number else "",
    )


SKIPPED = 77
"""Exit code where no Slurm can be run (test harnesses take it for a skipped test)."""


class Setting(NamedTuple):
    """An option of a live run: least, most and default value, placeholder and help."""

    least: float
    most: float
    default: float
    metavar: str
    words: str


_JOBS = {
    "jobs": Setting(60, 2000, 60, "N", "number of jobs, 60 to 2000 (60)"),
    "seed": Setting(0, math.inf, 1, "N", "seed of the jobs (1)"),
    "stage_s": Setting(0.6, 600.0, 6.0, "S", "longest stage-in and stage-out, s (6)"),
    "between_s": Setting(0.1, 600.0, BETWEEN_S, "S", "mean time between submissions, s (1.2)"),
    "day_s": Setting(0, 86_400, 0.0, "S", "length of a day in which their rate rises and falls, s (0: never)"),
}
"""Options of :func:`generated`."""
_NODES = {
    "nodes": Setting(4, 64, 8, "N", "virtual nodes, 4 to 64 (8)"),
    "cpus": Setting(1, 256, 1, "N", "processors of a node (1); jobs get whole nodes"),
}
_SCHEDULER = {
    "pool_units": Setting(10, 1_000_000, 100, "UNITS", "units of the pool of burst buffers (100)"),
    "bf_interval_s": Setting(1, 600, 1, "S", "time between backfill passes, s (1)"),
    "bf_resolution_s": Setting(1, 3600, 60, "S", "rounding of planned times, s (60)"),
    "bf_window_min": Setting(1, 43_200, 1440, "MIN", "time that it plans ahead, minutes (1440)"),
    "bf_max_job_test": Setting(1, 1_000_000, 500, "N", "jobs that a backfill pass tests (500)"),
    "sched_interval_s": Setting(1, 600, 1, "S", "time between full main passes, s (1)"),
    "batch_sched_delay_s": Setting(0, 600, 0, "S", "least time between main passes, s (0)"),
}
"""Options of :class:`Settings`; Slurm's own bounds where it has any."""
_ALL = _JOBS | _NODES | _SCHEDULER


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("against", choices=("slurm",), help="the resource manager")
    _add(parser.add_argument_group("jobs"), _JOBS)
    group = parser.add_argument_group("Slurm")
    words = f"{' or '.join(RELEASES)} ({RELEASES[0]})"
    group.add_argument("--slurm", dest="release", choices=RELEASES, metavar="RELEASE", help=words)
    words = "with two partitions, accounts with unequal shares, QOS, licenses, dependencies and a maintenance"
    group.add_argument("--with-site", dest="site", action="store_true", default=None, help=words)
    _add(group, _NODES)
    group.add_argument("--select", choices=get_args(Select), help="selection of nodes (linear)")
    _add(group, _SCHEDULER)
    add = parser.add_argument_group("recordings").add_argument
    add(
        "--replay", type=Path, nargs="+", metavar="FILE",
        help="compare with this recording, no Slurm is run; with several of the same jobs: their noise floor, too",
    )  # fmt: skip
    add("--record", type=Path, metavar="FILE", help="write Slurm's recording")
    add("--out", type=Path, metavar="FILE", help="write the table of starts")


def _add(group: argparse._ArgumentGroup, settings: Mapping[str, Setting]) -> None:
    for name, (_, most, default, metavar, words) in settings.items():
        read = number if isinstance(default, float) else natural if most == math.inf else whole
        group.add_argument(_flag(name), dest=name, type=read, metavar=metavar, help=words)


def command(options: argparse.Namespace) -> int:
    """Run or read a recording, replay it, print the deviations."""
    try:
        recordings = recordings_of(vars(options))
    except MissingRequirement as missing:
        tell(f"validate slurm: skipped: {missing}")
        return SKIPPED
    if options.record is not None:
        keep(recordings[0], options.record)
    found = [compared(recording) for recording in recordings]
    blocks = [block for each, _ in found for block in each]
    blocks += [Paragraph(Words(beside(recordings)))] if len(recordings) > 1 else []
    write(terminal(), blocks)
    if options.out is not None:
        durable.write_text(options.out, to_markdown(blocks))
    return 0 if all(passes for _, passes in found) else 1


def recordings_of(options: Mapping[str, Any]) -> list[Recording]:
    """Read the recordings that the options name, or run a Slurm with the options.

    Raises
    ------
    SpecError
        An option is out of its range, or excludes another one; a file is not a recording; several are not of the same
        jobs.
    MissingRequirement
        No Slurm can be run here.
    RunFailed
        Slurm did not run the jobs.
    """
    given = {name: options[name] for name in (*_ALL, "release", "select", "site") if options[name] is not None}
    if options["replay"] is None:
        return [live(given)]
    for name in (*given, *(["record"] if options["record"] is not None else [])):
        raise SpecError(f"--replay and {_flag(name)} exclude each other: the recording says how Slurm was run")
    found = [read(path) for path in options["replay"]]
    for path, recording in zip(options["replay"], found, strict=True):
        if (recording.settings, _requests(recording)) != (found[0].settings, _requests(found[0])):
            raise SpecError(
                f"--replay {path}: expected a run of the same jobs on the same Slurm as {options['replay'][0]}, "
                "with which it is compared"
            )
    return found


def _requests(recording: Recording) -> list[Submission]:
    return [job.request for job in recording.jobs]


def live(given: Mapping[str, Any]) -> Recording:
    """Run a Slurm with these options, defaults for the others; raises as :func:`recordings_of`."""
    chosen: dict[str, Any] = {name: setting.default for name, setting in _ALL.items()} | dict(given)
    for name, (least, most, *_) in _ALL.items():
        if not least <= chosen[name] <= most:
            raise SpecError(f"{_flag(name)}: expected {least:g} to {most:g}, got {chosen[name]:g}")
    of_jobs = {name: chosen.pop(name) for name in _JOBS}
    chosen |= {"site": usual(chosen["nodes"])} if chosen.get("site") else {}
    settings = Settings(**chosen)
    return run(settings, generated(settings, **of_jobs), lambda line: tell(line, to=sys.stderr))


def _flag(name: str) -> str:
    word = _WORDS.get(name) or re.sub("_(s|min|units)$", "", name)
    return f"--{word.replace('_', '-')}"


_WORDS = {"release": "slurm", "site": "with-site"}


def compared(recording: Recording) -> tuple[list[Block], bool]:
    """The table of starts with its summary, and whether the deviations are within their bounds.

    The bounds hold with Slurm's own times of passes. Regular ones are shown beside them: Slurm's two schedulers sleep
    between passes, so that their phases drift, and whichever is first decides.
    """
    simulated, seen = replayed(recording, passes=True)
    found = deviations(recording, simulated)
    regular = starts(recording, passes=False)
    lines = [
        f"{len(recording.jobs)} jobs, {recording.settings.nodes} nodes, Slurm {recording.slurm}",
        f"deviation of starts, passes as Slurm had them: {found} "
        f"(bounds: median {MEDIAN_S:g} s, p95 {found.bound_p95_s:g} s)",
        f"deviation of starts, passes at regular times:  {deviations(recording, regular)}",
        f"waits, passes as Slurm had them: {waits(recording, simulated)}",
        f"waits, passes at regular times:  {waits(recording, regular)}",
    ]
    if recording.site:
        lines.append(f"priorities, passes as Slurm had them: {priorities(recording, seen)}")
    return [table(recording, simulated), *(Paragraph(Words(line)) for line in lines)], found.passes


def beside(recordings: Sequence[Recording]) -> str:
    """The noise floor of several runs of the same jobs, and whether the simulator with regular passes is within it."""
    return str(noise_floor(recordings, [starts(recording, passes=False) for recording in recordings]))
