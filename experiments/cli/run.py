"""``spillway run``: one comparison of policies."""

from __future__ import annotations

import argparse

from spillway.base.arguments import Parser, add_declared, positive
from spillway.experiments.cli.arguments import RESULTS, add_conduct, add_logs, add_seeds, conduct_of

HELP = "one comparison: policies on workloads"
DESCRIPTION = (
    "Compare policies on workloads. Finished runs are kept: the same command continues. A run that other code made is "
    "named and marked, and repeated with --rerun; a run with changed files is repeated. One command at a time writes a "
    "folder."
)
EPILOG = (
    "Exit codes: 0 all runs finished, whether or not jobs were rejected; 1 a run failed; 2 wrong input; 130 stopped by "
    "Ctrl-C (143 by SIGTERM, 129 by SIGHUP)."
)
EXAMPLES = """
spillway run mine.swf
spillway run mine.swf --nodes 240 --policy easy --policy plan:seed=3
spillway run kth-like:jobs=500 --seeds 5 --policy ./mine.py:Greedy:depth=2 --model io --explain
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command, in groups."""
    from spillway.experiments.run.spec import Playing
    from spillway.schedulers.assembly import Settings
    from spillway.workloads.logs.reading import add_reading

    parser.set_defaults(title="run")
    group = parser.add_argument_group("jobs")
    add_logs(group, "; there may be several")
    add_seeds(group, "number of seeds: five give an interval (1)")
    add_reading(parser)
    add_machine(parser)
    _policies(parser)
    _model(parser)
    add_declared(parser.add_argument_group("settings of the session"), Settings)
    add_declared(parser.add_argument_group("simulation and output"), Playing)
    add_conduct(parser)


def command(options: argparse.Namespace) -> int:
    """Play the comparison."""
    from spillway.experiments.campaign.comparison import campaign_of, play_grids, with_the_site
    from spillway.experiments.campaign.folder.places import default_folder

    campaign = campaign_of(options)
    if options.replay:
        campaign = with_the_site(campaign, force=conduct_of(options).force)
    return play_grids([campaign], options.out or default_folder(campaign, RESULTS), options)


def add_machine(parser: Parser) -> None:
    """Add the options of the machine, and those of burst buffers that logs do not state."""
    from spillway.experiments.run.spec import AUTO
    from spillway.workloads.conversion.convert import ConvertOptions

    add_declared(
        parser.add_argument_group("burst buffers of logs and generators"), ConvertOptions, "staging", "stripes"
    )
    group = parser.add_argument_group("machine")
    add_declared(group, ConvertOptions, "processors_per_node")
    add = group.add_argument
    add(
        "--platform",
        default=AUTO,
        metavar="NAME|FILE",
        help="built-in machine, description (.toml) or SimGrid XML. The default has the nodes that the log states in "
        "its header, else as many as were in use at once by its own times, and burst buffers for the largest request "
        "and for all that were held at once; of a log without starts the widest job decides",
    )
    add(
        "--nodes",
        type=positive,
        default=None,
        metavar="N",
        help="in place of --platform: a machine of N compute nodes, the rest as that of the thesis in proportion",
    )
    add(
        "--burst-buffer",
        default=None,
        metavar="SIZE",
        help="capacity of each storage node, one for every 8 compute nodes (with --nodes: 40GB)",
    )
    add(
        "--burst-buffer-total",
        default=None,
        metavar="SIZE",
        help="burst buffers of the whole machine, in one pool as Slurm counts them; 0: no burst buffers",
    )


def _policies(parser: Parser) -> None:
    from spillway.experiments.run.sessions import FIVE
    from spillway.schedulers.service.arguments import add_literal, add_options

    group = parser.add_argument_group("policies")
    add = group.add_argument
    add(
        "-p",
        "--policy",
        action="append",
        default=[],
        metavar="NAME|FILE.py:CLASS[:KEY=VALUE,...]",
        help=f"policy, with its options; may be repeated (default: {', '.join(FIVE)}; spillway serve --list shows all)",
    )
    add_options(group)
    add(
        "--no-replay",
        dest="replay",
        action="store_false",
        help="leave out the site's own schedule (policy replay), the baseline where a log states when its jobs started",
    )
    add_literal(group)


def _model(parser: Parser) -> None:
    from spillway.schedulers.jobmodels import MODELS

    group = parser.add_argument_group("job model")
    group.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME|FILE.py:CLASS[:KEY=VALUE,...]",
        help=f"job model: {', '.join(MODELS)}, or a class of one's own, with its options (io:max_phases=5); "
        "may be repeated (default: timeshared under gang policies, else rigid)",
    )
