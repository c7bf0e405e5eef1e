"""``spillway validate slurm``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from spillway.base.arguments import Parser, natural, number, tell, whole
from spillway.experiments.slurm.configuration import Select
from spillway.experiments.slurm.packages import RELEASES

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


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("against", choices=("slurm",), help="the resource manager")
    add = parser.add_argument_group("jobs").add_argument
    add("--jobs", type=whole, metavar="N", help="number of jobs, 60 to 2000 (60)")
    add("--seed", type=natural, metavar="N", help="seed of the jobs (1)")
    add("--stage", type=number, metavar="S", help="longest stage-in and stage-out, s (6)")
    add("--between", type=number, metavar="S", help="mean time between submissions, s (1.2)")
    add("--day", type=number, metavar="S", help="length of a day in which their rate rises and falls, s (0: never)")
    add = parser.add_argument_group("Slurm").add_argument
    add("--slurm", choices=RELEASES, metavar="RELEASE", help=f"{' or '.join(RELEASES)} ({RELEASES[0]})")
    add(
        "--with-site", action="store_true", default=None,
        help="with two partitions, accounts with unequal shares, QOS, licenses, dependencies and a maintenance",
    )  # fmt: skip
    add("--nodes", type=whole, metavar="N", help="virtual nodes, 4 to 64 (8)")
    add("--cpus", type=whole, metavar="N", help="processors of a node (1); jobs get whole nodes")
    add("--select", choices=get_args(Select), help="selection of nodes (linear)")
    add("--pool", type=whole, metavar="UNITS", help="units of the pool of burst buffers (100)")
    add("--bf-interval", type=whole, metavar="S", help="time between backfill passes, s (1)")
    add("--bf-resolution", type=whole, metavar="S", help="rounding of planned times, s (60)")
    add("--bf-window", type=whole, metavar="MIN", help="time that it plans ahead, minutes (1440)")
    add("--bf-max-job-test", type=whole, metavar="N", help="jobs that a backfill pass tests (500)")
    add("--sched-interval", type=whole, metavar="S", help="time between full main passes, s (1)")
    add("--batch-sched-delay", type=whole, metavar="S", help="least time between main passes, s (0)")
    add = parser.add_argument_group("recordings").add_argument
    add(
        "--replay", type=Path, nargs="+", metavar="FILE",
        help="compare with this recording, no Slurm is run; with several of the same jobs: their noise floor, too",
    )  # fmt: skip
    add("--record", type=Path, metavar="FILE", help="write Slurm's recording")
    add("--out", type=Path, metavar="FILE", help="write the table of starts")


def command(options: argparse.Namespace) -> int:
    """Run or read a recording, replay it, print the deviations."""
    from spillway.analysis.document.blocks import Paragraph, Words
    from spillway.analysis.document.terminal import terminal
    from spillway.analysis.document.terminal import write as write_blocks
    from spillway.analysis.document.text import to_markdown
    from spillway.base import durable
    from spillway.experiments.slurm.availability import MissingRequirement
    from spillway.experiments.slurm.recording import write
    from spillway.experiments.slurm.validate import SKIPPED, beside, compared, recordings_of

    try:
        recordings = recordings_of(vars(options))
    except MissingRequirement as missing:
        tell(f"validate slurm: skipped: {missing}")
        return SKIPPED
    if options.record is not None:
        write(recordings[0], options.record)
    found = [compared(recording) for recording in recordings]
    blocks = [block for each, _ in found for block in each]
    blocks += [Paragraph(Words(beside(recordings)))] if len(recordings) > 1 else []
    write_blocks(terminal(), blocks)
    if options.out is not None:
        durable.write_text(options.out, to_markdown(blocks))
    return 0 if all(passes for _, passes in found) else 1
