"""Options of reading a log, which every command has."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spillway.base.arguments import add_declared, given
from spillway.base.options import build, option
from spillway.workloads.logs.book import UNREADABLE
from spillway.workloads.logs.where import WORDS, check

FORMAT_NAMES = ("swf", "sacct", "sacct-json", "jobcomp", "eagle", "pm100", "fdata", "pbs")
"""Names of :data:`spillway.workloads.logs.formats.FORMATS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options of reading a log.

    Attributes
    ----------
    where
        Conditions on the jobs that are taken (:mod:`spillway.workloads.logs.where`); one may be given as a text.
    """

    format: str | None = option(None, choices=FORMAT_NAMES, help="format of the log; default: as its first lines show")
    lenient: bool = option(
        False,
        help="take values that cannot be read as not known, and lines with more or fewer columns than the Standard "
        "Workload Format's 18 as they are",
    )
    unreadable: float = option(
        UNREADABLE, low=0.0, high=1.0, help="largest share of lines that may be left out because they cannot be read"
    )
    fields: str = option(
        "",
        help="Standard Workload Format: fields of the columns, separated by commas, such as swf,nodes,- (its 18 "
        "fields, the number of nodes, and one that is left out); empty: its 18 fields",
    )
    scripts: str = option(
        "",
        help="folder of job scripts, each named by its job's number: burst buffers are read from #BB, #BB_LUA and #DW "
        "lines",
    )
    darshan: str = option(
        "",
        help="file or folder of Darshan's totals (texts of darshan-parser --total, or .darshan logs with the extra "
        "darshan): bytes moved by the jobs",
    )
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given = (self.where,) if isinstance(self.where, str) else self.where
        object.__setattr__(self, "where", check(given))


STRICT = Reading()


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of reading logs to a command line."""
    group = parser.add_argument_group("reading logs")
    add_declared(group, Reading)
    group.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help=f"take the jobs that meet it; may be repeated (the same field: either, other fields: both). Fields: "
        f"{'; '.join(f'{name}: {words}' for name, words in WORDS.items())}, such as time=2024-01-01..2024-02-01",
    )


def reading_given(options: argparse.Namespace) -> dict[str, Any]:
    """Reading options that a command line gives, by name."""
    return given(options, Reading) | ({"where": tuple(options.where)} if options.where else {})


def make_reading(options: Mapping[str, Any]) -> Reading:
    """Make a reading of values or texts by name; raise :class:`spillway.base.errors.OptionError` for a wrong one."""
    return build(
        Reading, {name: value for name, value in options.items() if name != "where"}, where=options.get("where", ())
    )


def reading_of(options: argparse.Namespace) -> Reading:
    """The reading options of a command line."""
    return make_reading(reading_given(options))
