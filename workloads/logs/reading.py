"""Options of reading a log, which every command has."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from spillway.base.arguments import add_declared, given
from spillway.base.options import Form, build, option
from spillway.workloads.logs.book import UNREADABLE
from spillway.workloads.logs.where import WORDS, check

FORMAT_NAMES = ("swf", "sacct", "sacct-json", "jobcomp", "eagle", "pm100", "fdata", "pbs")
"""Names of :data:`spillway.workloads.logs.formats.FORMATS`."""


_TEXTS = "a list, each a text"


def _conditions(given: Any) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"must be {_TEXTS}, got {given!r}")
    return tuple(texts)


CONDITIONS = Form(_conditions, list, _TEXTS, "FIELD=VALUE", repeats=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options of reading a log."""

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
    where: tuple[str, ...] = option(
        (),
        form=CONDITIONS,
        help=f"take the jobs that meet it; may be repeated (the same field: either, other fields: both). Fields: "
        f"{'; '.join(f'{name}: {words}' for name, words in WORDS.items())}, such as time=2024-01-01..2024-02-01",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", check(_conditions(self.where)))


STRICT = Reading()


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of reading logs to a command line."""
    add_declared(parser.add_argument_group("reading logs"), Reading)


def reading_of(options: argparse.Namespace) -> Reading:
    """The reading options of a command line."""
    return build(Reading, given(options, Reading))
