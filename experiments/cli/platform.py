"""``spillway platform ACTION``: machines."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser, add_out, positive, tell

HELP = "machines: init, import, export, show, list, generate, annotate, check, draw, fit"
EXAMPLES = """
spillway platform init mine.toml --from mine.swf --burst-buffer 200GB
spillway platform show mine.toml
spillway platform draw thesis --out thesis.png
"""
_INIT_EXAMPLES = """
spillway platform init mine.toml --from mine.swf
spillway platform init mine.toml --nodes 240 --burst-buffer 200GB
"""


_IMPORT_EXAMPLES = """
spillway platform import rabbitmapping.json --out mine.toml
spillway platform import rabbitmapping.json R.json --name ours --out mine.toml
"""


def add_arguments(parser: Parser) -> None:
    """Add the actions."""
    from spillway.platforms.cli import add_actions

    commands = add_actions(parser)
    text = "write a commented description of an own machine, to be edited"
    init = commands.add_parser("init", help=text, description=text, examples=_INIT_EXAMPLES)
    init.add_argument(
        "file", nargs="?", type=Path, default=Path("machine.toml"), metavar="FILE.toml", help="default: machine.toml"
    )
    add = init.add_argument_group("compute nodes").add_argument
    add("--nodes", type=positive, default=None, metavar="N", help="compute nodes")
    add("--from", dest="log", default=None, metavar="LOG", help="log with the number of nodes in its header")
    add("--processors-per-node", type=positive, default=None, metavar="P", help="with --from: processors of a node (1)")
    add = init.add_argument_group("burst buffers").add_argument
    add("--nodes-per-storage", type=positive, default=None, metavar="N", help="compute nodes for each storage node (8)")
    add("--burst-buffer", default=None, metavar="SIZE", help="capacity of each storage node; 0: no storage (40GB)")
    add = init.add_argument_group("bandwidth").add_argument
    add("--node-bandwidth", default=None, metavar="BANDWIDTH", help="of the link of a node (1250MBps)")
    add("--pfs-bandwidth", default=None, metavar="BANDWIDTH", help="of the file system (5000MBps for every 96 nodes)")
    init.set_defaults(run=_init)
    text = "make a description out of a site's files: compute-to-rabbit maps, Flux resource graphs (JGF)"
    read = commands.add_parser("import", help=text, description=text, examples=_IMPORT_EXAMPLES)
    read.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files about one machine")
    read.add_argument(
        "--name", default=None, metavar="NAME", help="name of the machine (default: the graph's, else the file's)"
    )
    add_out(read, "FILE.toml", "file to write")
    read.set_defaults(run=_import)
    text = "write nodes, racks and storage nodes as a Flux resource graph (JGF), which import reads back"
    write = commands.add_parser(
        "export", help=text, description=text, examples=f"{parser.prog} export tiny --jgf t.json"
    )
    write.add_argument("platform", metavar="NAME|FILE", help="built-in name, description, or SimGrid XML")
    write.add_argument("--jgf", type=Path, required=True, metavar="FILE.json", help="file to write")
    write.set_defaults(run=_export)
    text = "print nodes, storage, links, the file system, and assumptions"
    show = commands.add_parser("show", help=text, description=text, examples=f"{parser.prog} show mine.toml")
    show.add_argument(
        "platform", metavar="NAME|FILE|nodes:N", help="built-in name, description, SimGrid XML, or a size"
    )
    show.set_defaults(run=_show)


def command(options: argparse.Namespace) -> int:
    """Run the action that was chosen."""
    return int(options.run(options))


def _init(options: argparse.Namespace) -> int:
    from spillway.experiments.cli import machine_file
    from spillway.experiments.run.errors import SpecError

    if options.nodes is None and options.log is None:
        raise SpecError("the machine's size is needed: --nodes N, or --from LOG for the size in a log's header")
    nodes = options.nodes or machine_file.nodes_of_log(options.log, options.processors_per_node)
    stated = machine_file.StatedFigures(
        nodes, options.nodes_per_storage, options.burst_buffer, options.node_bandwidth, options.pfs_bandwidth
    )
    machine_file.write(options.file, stated)
    tell(f"{options.file}: a machine of {nodes} compute nodes; edit the values marked ASSUMED in it")
    return 0


def _import(options: argparse.Namespace) -> int:
    from spillway.experiments.cli import machine_file

    for line in machine_file.imported(options.files, options.output, options.name):
        tell(line)
    return 0


def _export(options: argparse.Namespace) -> int:
    from spillway.experiments.cli import machine_file

    for line in machine_file.exported(options.platform, options.jgf):
        tell(line)
    return 0


def _show(options: argparse.Namespace) -> int:
    from spillway.experiments.cli.machine_file import show

    for line in show(options.platform):
        tell(line)
    return 0
