"""``spillway workload ACTION``: logs and workloads."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser, add_out, positive, tell

HELP = "logs and workloads: list, fetch, info, convert, split, fit, directives, scripts"
EXAMPLES = """
spillway workload info mine.swf
spillway workload convert mine.swf --out mine.json
spillway workload synth kth-like:jobs=500,seed=3 --out synthetic.swf
"""

_DIRECTIVES = """
spillway workload directives job.sh --nodes 4 --platform tuolumne
"""
_SCRIPTS = """
spillway workload scripts mine.json --scripts scripts/ --out buffered.json
"""


def add_arguments(parser: Parser) -> None:
    """Add the actions."""
    from spillway.workloads.cli import add_actions

    commands = add_actions(parser)
    text = "requests for burst buffers in job scripts, workflow objects and jobspecs, as fields of jobs"
    sub = commands.add_parser("directives", help=text, description=text, examples=_DIRECTIVES)
    sub.add_argument("files", nargs="+", type=Path, metavar="FILE", help="job scripts, or JSON (.json)")
    add = sub.add_argument_group("the job").add_argument
    add("--nodes", type=positive, default=0, metavar="N", help="its compute nodes, if the file does not state them")
    add("--stripes", type=positive, default=1, metavar="K", help="storage nodes of a striped buffer (%(default)s)")
    add = sub.add_argument_group("checks").add_argument
    add("--site", type=Path, default=None, metavar="FILE.toml", help="maxima, presets, profiles (rabbit.toml)")
    add("--platform", default=None, metavar="NAME|FILE", help="a machine's storage nodes")
    sub.set_defaults(command=_directives)
    text = "give the jobs of a Batsim workload the burst buffers and the staging that their scripts request"
    sub = commands.add_parser("scripts", help=text, description=text, examples=_SCRIPTS)
    sub.add_argument("workload", type=Path, metavar="FILE.json", help="Batsim workload")
    add_out(sub.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add = sub.add_argument_group("requests").add_argument
    add("--scripts", type=Path, required=True, metavar="DIR", help="job scripts, named by the jobs' numbers")
    add("--stripes", type=positive, default=1, metavar="K", help="storage nodes of a striped buffer (%(default)s)")
    add("--site", type=Path, default=None, metavar="FILE.toml", help="maxima, presets, profiles (rabbit.toml)")
    sub.set_defaults(command=_scripts)


def _directives(options: argparse.Namespace) -> None:
    from spillway.experiments.cli.requests import requested

    lines = requested(options.files, options.nodes, options.site, options.platform, options.stripes)
    for line in list(lines):  # all of them, or the error alone
        tell(line)


def _scripts(options: argparse.Namespace) -> None:
    from spillway.experiments.cli.requests import with_scripts

    for line in with_scripts(options.workload, options.scripts, options.site, options.stripes, options.output):
        tell(line)


def command(options: argparse.Namespace) -> int:
    """Run the action that was chosen."""
    from spillway.workloads.cli import act

    return act(options)
