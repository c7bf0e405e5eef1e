"""How a log is to be read: the options that every command has."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from spillway.base.arguments import add_declared, given
from spillway.base.options import build, option

FORMAT_NAMES = ("swf", "sacct", "jobcomp", "eagle", "parquet")
"""Names of :data:`spillway.workloads.logs.formats.FORMATS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options of reading a log."""

    format: str | None = option(None, choices=FORMAT_NAMES, help="format of the log; none: as its first lines show")
    lenient: bool = option(
        False, help="Standard Workload Format: accept more or fewer columns than 18, and say what is left out"
    )
    fields: str = option(
        "",
        help="Standard Workload Format: what each column is, separated by commas, such as swf,nodes,- (its 18 fields, "
        "the number of nodes, and one that is left out); empty: its 18 fields",
    )
    scripts: str = option(
        "",
        help="folder of job scripts, each named by its job's number, whose #BB, #BB_LUA and #DW lines state "
        "burst buffers",
    )
    darshan: str = option(
        "",
        help="file or folder of Darshan's totals (texts of darshan-parser --total, or .darshan logs with the extra "
        "darshan), whose bytes moved go to the jobs",
    )

    @property
    def strict(self) -> bool:
        """Whether the Standard Workload Format is read to the letter."""
        return not self.lenient and not self.fields


STRICT = Reading()


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add how logs are read to a command line."""
    add_declared(parser.add_argument_group("reading logs"), Reading)


def reading_of(options: argparse.Namespace) -> Reading:
    """How a command line wants logs to be read."""
    return build(Reading, given(options, Reading))
