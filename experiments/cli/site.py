"""``spillway site ACTION``: a site's partitions, shares, weights and pools."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser, add_out, complain, tell

HELP = "a site as its scheduler needs it: import, show"
EXAMPLES = """
spillway site import partitions.txt nodes.txt assoc.txt qos.txt slurm.conf --out site.toml
spillway site show site.toml
"""
_IMPORT_EXAMPLES = """
spillway site import partitions.txt nodes.txt assoc.txt /etc/slurm/slurm.conf --out site.toml
spillway site import *.txt slurm.conf --cluster small > site.toml
"""


def add_arguments(parser: Parser) -> None:
    """Add the actions."""
    from spillway.experiments.site.site_import import COMMANDS

    commands = parser.add_subparsers(required=True, metavar="ACTION", parser_class=Parser)
    text = "make a description (TOML, with comments) from the listings and the configuration of a site's Slurm"
    words = (
        f"{text}: {', '.join(COMMANDS)}. Files are recognised by their contents; missing ones are replaced by "
        "assumptions, which are printed."
    )
    read = commands.add_parser("import", help=text, description=words, examples=_IMPORT_EXAMPLES)
    add = read.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="files about one site, in any order")
    add_out(read, "FILE.toml", "file to write (default: standard output)", required=False)
    add("--cluster", default="", metavar="NAME", help="cluster of the associations, if there are several")
    read.set_defaults(run=_import)
    text = "print partitions, shares, weights and pools, and those parts that are not played yet"
    show = commands.add_parser("show", help=text, description=text, examples=f"{parser.prog} show site.toml")
    show.add_argument("file", type=Path, metavar="FILE.toml", help="description of a site")
    show.set_defaults(run=_show)


def command(options: argparse.Namespace) -> int:
    """Run the action that was chosen."""
    return int(options.run(options))


def _import(options: argparse.Namespace) -> int:
    from spillway.base import durable
    from spillway.experiments.run.errors import SpecError
    from spillway.experiments.site.site_import import imported

    out: Path | None = options.output
    if out is not None and out.exists():
        raise SpecError(f"{out} is there already, and may have been edited: name another file, or delete it")
    found = imported(options.files, options.cluster)
    if out is not None:
        durable.write_text(out, found.text)
    for line in found.said:
        complain(line, is_error=False)
    if out is None:
        tell(found.text.removesuffix("\n"))
    return 0


def _show(options: argparse.Namespace) -> int:
    from spillway.analysis.document.terminal import terminal, write
    from spillway.experiments.site.shown import document
    from spillway.schedulers.site_file import read_site

    write(terminal(), document(read_site(options.file)))
    return 0
