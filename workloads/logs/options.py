"""Options of reading logs, the same on every command line."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from spillway.workloads.logs.formats import FORMATS
from spillway.workloads.logs.reading import STRICT, Reading
from spillway.workloads.logs.where import WORDS


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add how logs are read."""
    add = parser.add_argument_group("reading logs").add_argument
    add("--format", choices=tuple(FORMATS), default="", help="format of the log (recognised from its first lines)")
    add("--lenient", action="store_true", help="SWF: accept more or fewer than 18 columns, and say what is left out")
    add(
        "--fields", default="", metavar="NAME,...", help="SWF: what each column is, such as swf,nodes,- (the 18 of SWF)"
    )
    add(
        "--scripts",
        default="",
        metavar="DIR",
        help="job scripts, each named by its job's number, whose #BB, #BB_LUA and #DW lines state burst buffers",
    )
    add(
        "--darshan",
        default="",
        metavar="FILE|DIR",
        help="bytes moved: texts of darshan-parser --total, or .darshan logs (extra 'darshan')",
    )
    add(
        "--where",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help=f"take the jobs that meet it; may be repeated (the same field: either, other fields: both). Fields: "
        f"{'; '.join(f'{name}: {words}' for name, words in WORDS.items())}, such as time=2024-01-01..2024-02-01",
    )


def reading_of(options: argparse.Namespace) -> Reading:
    """How a command line wants logs to be read."""
    return Reading(**{name: getattr(options, name) for name in asdict(STRICT)})


def given(options: argparse.Namespace) -> dict[str, Any]:
    """The same as options by name, only those that were given."""
    default = asdict(STRICT)
    return {name: value for name, value in asdict(reading_of(options)).items() if value != default[name]}
