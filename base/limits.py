"""Limits of input: the constants that enforce them, the option that changes each, and the text of its error.

The table in the documentation (``docs/reference/limits.md``) is generated from here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from spillway.base import errors


class InputError(errors.InputError, ValueError):
    """A file from outside cannot be read; the message states the expected and the actual input, and the remedy."""


@dataclass(frozen=True, slots=True)
class Limit:
    """An upper limit of input.

    Attributes
    ----------
    what
        The limited quantity.
    most
        Largest value accepted, unless the option changes it.
    unit
        Unit of the value, for display.
    option
        Environment variable (or ``--option`` of a command) that changes it; "" for a fixed limit.
    error
        Text of the error, with ``{most}`` and ``{option}`` in braces, and ``{got}`` if it shows the actual value.
    """

    what: str
    most: int
    unit: str
    option: str
    error: str

    @property
    def value(self) -> int:
        """The limit in this process: the environment variable's, else the default.

        Raises
        ------
        InputError
            The variable is set, but is no whole number above 0.
        """
        text = os.environ.get(self.option, "") if self.option and not self.option.startswith("-") else ""
        if not text:
            return self.most
        if not text.isdecimal() or len(text) > 18 or int(text) < 1:
            raise InputError(f"{self.option} must be a whole number above 0 ({self.unit}), got {shown(text)}")
        return int(text)

    def text(self, got: object = "") -> str:
        """The error's text."""
        return self.error.format(most=f"{self.value:,}", option=self.option, got=got)


FILE_BYTES = Limit(
    "one input file, unpacked",
    2**30,
    "bytes",
    "SPILLWAY_MAX_FILE_BYTES",
    "holds more than {most} bytes; split it, or raise {option}",
)
LOG_BYTES = Limit(
    "one log of jobs, unpacked: it is read as a stream",
    2**34,
    "bytes",
    "SPILLWAY_MAX_LOG_BYTES",
    "holds more than {most} bytes; split it, or raise {option}",
)
LINE_BYTES = Limit(
    "one line of a log of jobs",
    2**20,
    "bytes",
    "",
    "is longer than {most} bytes; a log has one job per line",
)
EXPANSION = Limit(
    "growth of a compressed file (.gz, .xz, .bz2, .tar.*) when it is unpacked, beyond its first 64 MB",
    100,
    "times",
    "SPILLWAY_MAX_EXPANSION",
    "unpacks to more than {most} times its size, as decompression bombs do; unpack it yourself, or raise {option}",
)
DESCRIPTION_BYTES = Limit(
    "a description in TOML (campaign, platform)",
    2**20,
    "bytes",
    "SPILLWAY_MAX_TOML_BYTES",
    "holds more than {most} bytes of TOML; a campaign or a machine takes a few kilobytes ({option} changes the limit)",
)
SITE_BYTES = Limit(
    "a site's description (partitions, accounts and users)",
    2**26,
    "bytes",
    "SPILLWAY_MAX_SITE_BYTES",
    "holds more than {most} bytes of TOML; a user takes a hundred ({option} changes the limit)",
)
NESTING = Limit(
    "tables and lists within each other, in TOML and JSON files",
    100,
    "levels",
    "",
    "nests more than {most} levels deep; write it flat",
)
DIGITS = Limit(
    "digits of a whole number in TOML and JSON files",
    4300,
    "digits",
    "",
    "has a whole number of more than {most} digits",
)
NAME = Limit(
    "name of a campaign, workload, platform or policy in the results",
    200,
    "characters",
    "",
    "must be a text of 1 to {most} printable characters on one line, got {got}",
)
RUNS = Limit(
    "runs of one campaign (workloads x platforms x policies x models x seeds)",
    10_000,
    "runs",
    "--max-runs",
    "has {got} runs, more than {most}; make a list shorter, or allow them with {option} {got}",
)
HOSTS = Limit(
    "hosts of one platform",
    1_000_000,
    "hosts",
    "SPILLWAY_MAX_HOSTS",
    "names more than {most} hosts ({option} changes the limit)",
)
ELEMENTS = Limit(
    "elements of a platform's XML within each other",
    100,
    "levels",
    "",
    "elements are nested more than {most} deep",
)

LIMITS = (
    FILE_BYTES,
    LOG_BYTES,
    LINE_BYTES,
    EXPANSION,
    DESCRIPTION_BYTES,
    SITE_BYTES,
    NESTING,
    DIGITS,
    NAME,
    RUNS,
    HOSTS,
    ELEMENTS,
)
"""All limits, in the order of the table."""


def shown(value: object, most: int = 60) -> str:
    """A value of the input for the text of an error: its ``repr``, shortened."""
    text = repr(value[: most + 1] if isinstance(value, str | bytes) else value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def check_name(what: str, name: str) -> str:
    """Return a name if it is fit for tables, charts and file names.

    Raises
    ------
    InputError
        It is empty, longer than :data:`NAME`, or has a character that cannot be printed on one line (a line break, a
        control character); ``what`` is the named thing.
    """
    if not name or len(name) > NAME.value or not name.isprintable():
        raise InputError(f"{what} {NAME.text(shown(name))}")
    return name
