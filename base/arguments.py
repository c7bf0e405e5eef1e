"""Command lines: one parser for every program of the project, with errors of one line that states the remedy.

A parser shows examples besides its options, suggests the nearest spelling of an unknown word, and can be filled on
first use, so that a program with many subcommands imports only the modules of the chosen one.
"""

from __future__ import annotations

import argparse
import errno
import itertools
import math
import os
import signal
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TextIO

from spillway.base.errors import SpillwayError, printable, visible
from spillway.base.garbage_collection import collecting_rarely, end_without_search
from spillway.base.near import near
from spillway.base.options import OptionInfo, describe, parse, plain, show, value_of

PROGRAM = "spillway"
WRONG_INPUT = 2
"""Exit code for wrong command lines and files."""

SIGNALLED = 128
"""Exit codes above it: 128 and the number of the signal that stopped the command, as a shell gives them."""


class UsageError(Exception):
    """A command line is wrong; the message states the expected and the actual input, and the remedy."""

    exit_code = WRONG_INPUT


class Parser(argparse.ArgumentParser):
    """A parser with exceptions as errors, near misses, examples and late filling.

    Parameters
    ----------
    examples
        Commands that are shown at the end of the help, one a line.
    fill
        Adds the arguments when they are first needed.
    options
        As for :class:`argparse.ArgumentParser`; abbreviations are not allowed by default.
    """

    def __init__(self, *, examples: str = "", fill: Callable[[Parser], None] | None = None, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)
        self.register("type", int, whole)
        self.register("type", float, number)
        self.examples = examples
        self._late = fill

    def fill(self) -> None:
        """Add the arguments, unless they have been added."""
        late, self._late = self._late, None
        if late is not None:
            late(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Read a command line; leftover arguments are an error here, where the similar options are known."""
        self.fill()
        if self._subparsers is None:  # a misspelt option is named before arguments that are missing because of it
            self._refuse_unknown(sys.argv[1:] if args is None else args)
        options, left = super().parse_known_args(args, namespace)
        if left:
            self.error(self._unknown(left))
        return options, left

    def error(self, message: str) -> NoReturn:
        """Raise the error instead of printing usage and leaving."""
        words = message.removeprefix("argument ").replace("the following arguments are required:", "missing:")
        raise UsageError(f"{words} (see {self.prog} --help)")

    def format_help(self) -> str:
        """The help, with the examples at its end."""
        self.fill()
        text = super().format_help()
        if not self.examples:
            return text
        return f"{text}\nexamples:\n" + "".join(f"  {line}\n" for line in self.examples.strip().splitlines())

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is no choice, with the choices and the nearest one (which argparse does not name)."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        raise argparse.ArgumentError(action, f"expected one of {', '.join(known)}, got {value!r}{near(value, known)}")

    def _refuse_unknown(self, given: Sequence[str]) -> None:
        known = self._option_string_actions
        for text in itertools.takewhile(lambda word: word != "--", given):
            name = text.partition("=")[0] if text.startswith("--") else text[:2]
            if text.startswith("-") and name[1:2] in _OPTION_STARTS and " " not in text and name not in known:
                self.error(self._unknown([text]))

    def _unknown(self, left: Sequence[str]) -> str:
        first = left[0]
        if not first.startswith("-") or first == "-":
            return f"unexpected argument {first!r}: all that is expected has been given"
        name = first.partition("=")[0]
        longer = [option for option, action in self._option_string_actions.items() if _begins(option, name, action)]
        if not longer:
            return f"unknown option {name!r}{near(name, self._option_string_actions)}"
        return f"unknown option {name!r}; did you mean {' or '.join(map(repr, longer))}?"


_OPTION_STARTS = {"-", *string.ascii_letters}
"""Second characters of options: a negative number is no option."""


def _begins(option: str, name: str, action: argparse.Action) -> bool:
    """Whether a visible option begins with the given text; ``-o`` is the beginning of ``--out``, too."""
    start = name if name.startswith("--") else f"-{name}"
    return option.startswith(start) and len(start) > 2 and action.help != argparse.SUPPRESS


def add_declared(group: argparse._ActionsContainer, declared: type, *names: str) -> None:
    """Add the options that a dataclass declares by :func:`spillway.base.options.option`, all or these names.

    Choices are listed, numbers are checked by type and range, and a boolean becomes a flag that inverts the default. A
    unit ``_s`` at the end of a name is omitted. Values remain texts (:func:`given`).
    """
    for info in describe(declared):
        if names and info.name not in names:
            continue
        flag, words = flag_of(info), f"{info.help} (default: {show(info.default)})"
        if info.type is bool:
            text = f"do not {info.help}" if info.default else info.help
            add = partial(group.add_argument, flag, action="store_const", const=show(not info.default))
            add = partial(add, help=text.replace("%", "%%"))
        elif info.choices:
            choices = [show(choice) for choice in info.choices]
            add = partial(group.add_argument, flag, choices=choices, help=words.replace("%", "%%"))
        elif info.form is not None and info.form.repeats:
            add = partial(group.add_argument, flag, action="append", metavar=info.form.example, help=info.help)
        else:
            metavar = _METAVARS.get(info.unit) or ("N" if info.type is int else "X")
            words = f"{info.help}: {info.expected} (default: {show(info.default)})".replace("%", "%%")
            add = partial(group.add_argument, flag, type=partial(_checked, info), metavar=metavar, help=words)
        add(dest=info.name, default=None)


def flag_of(info: OptionInfo) -> str:
    """The spelling of an option on a command line; of a boolean one that inverts its default."""
    name = info.name.removesuffix("_s").replace("_", "-")
    return f"--no-{name}" if info.type is bool and info.default else f"--{name}"


def words_of(declared: type, values: Mapping[str, Any]) -> list[str]:
    """Words of a command line from which :func:`given` reads these values of a dataclass's options.

    Booleans that are as by default, and empty texts, need no words.
    """
    words: list[str] = []
    for info in describe(declared):
        if info.name not in values:
            continue
        value, flag = values[info.name], flag_of(info)
        if info.type is bool:
            words += [flag] * (value != info.default)
        else:
            repeats = info.form is not None and info.form.repeats
            words += [word for part in (value if repeats else [value]) if show(part) for word in (flag, show(part))]
    return words


def given(options: argparse.Namespace, declared: type, *names: str) -> dict[str, Any]:
    """The given ones of a dataclass's options, all or these, by name (for :func:`spillway.base.options.build`)."""
    infos = [info for info in describe(declared) if not names or info.name in names]
    texts = {info: getattr(options, info.name, None) for info in infos}
    return {info.name: plain(parse(info, text)) for info, text in texts.items() if text is not None}


_METAVARS = {"s": "SECONDS", "bytes": "BYTES", "bytes/s": "BYTES/S", "jobs": "JOBS"}


def _checked(info: OptionInfo, text: str) -> str:
    try:
        value_of(info, text)
    except ValueError as error:
        words = str(error) if info.form else f"expected {info.expected}, got {text!r}"
        raise argparse.ArgumentTypeError(words) from None
    return text


def add_out(parser: argparse._ActionsContainer, metavar: str, words: str, *, required: bool = True) -> None:
    """Add ``--out``, the output of a command; it cannot be a file that the command reads (:func:`play`)."""
    parser.add_argument("--out", dest="output", type=place, required=required, metavar=metavar, help=words)


def place(text: str) -> Path:
    """Read the path of a file or folder to write (for ``type=``)."""
    if not text:
        raise argparse.ArgumentTypeError("expected a path, got ''")
    return Path(text)


def _keep_inputs(options: argparse.Namespace) -> None:
    """Refuse to write over a file that the same command line names to be read."""
    output = getattr(options, "output", None)
    if not isinstance(output, Path) or not output.is_file():
        return
    for name, value in vars(options).items():
        for item in value if isinstance(value, list) else [value]:
            if name != "output" and isinstance(item, str | Path) and _is_same(output, item):
                raise UsageError(f"--out {output}: it would take the place of a file that is read; name another")


def _is_same(output: Path, name: str | Path) -> bool:
    try:
        return output.samefile(name)
    except (OSError, ValueError):
        return False


def how(number: int) -> str:
    """Text about a signal that stopped a command: its name is omitted for Ctrl-C."""
    return "stopped" if number == signal.SIGINT else f"stopped by {signal.Signals(number).name}"


def complain(error: object, *, is_error: bool = True) -> None:
    """Print one line on the standard error stream, as all programs of the package do."""
    text = printable(" ".join(str(error).split("\n")))
    tell(f"{PROGRAM}: {'error: ' if is_error else ''}{text}", to=sys.stderr)


def tell(*texts: object, to: TextIO | None = None) -> None:
    """Print texts, a line or more each, without what a terminal would obey: names in them are of the input.

    Parameters
    ----------
    to
        The standard error stream, for what goes beside the output of a command; default: the standard output.
    """
    for text in texts:
        print(visible(str(text)), file=to, flush=to is not None)


def play(parser: Parser, arguments: Sequence[str] | None) -> int:
    """Read a command line, call its handler (``set_defaults(handler=...)``) and return the exit code.

    Every error that has an ``exit_code`` is one line on the standard error stream; any other is a defect, and raised.
    An ``--out`` at a place that cannot be written is an error of the command line, even if it is detected later.
    """
    end_without_search()
    options = argparse.Namespace()
    try:
        with collecting_rarely():
            options = parser.parse_args(arguments)
            _keep_inputs(options)
            ended = int(options.handler(options) or 0)
            if sys.stdout is not None:
                sys.stdout.flush()  # a full disk behind it is an error of this command
            return ended
    except KeyboardInterrupt as stop:
        number = getattr(stop, "number", signal.SIGINT)
        complain(how(number), is_error=False)
        return SIGNALLED + int(number)
    except Exception as found:
        error = _of_place(found, options) or _of_output(found) or _of_system(found) or found
        code = getattr(error, "exit_code", None)
        if code is None:
            raise
        complain(error, is_error=code < SIGNALLED)
        return int(code)


def _of_place(error: Exception, options: argparse.Namespace) -> UsageError | None:
    """The error of an ``--out`` whose place the system refuses; ``None`` for any other error."""
    out = getattr(options, "output", None) or getattr(options, "out", None)
    if not isinstance(out, Path) or not isinstance(error, OSError) or not isinstance(error.filename, str | os.PathLike):
        return None
    from spillway.base.durable import WRONG_PLACE

    place, why = Path(os.fspath(error.filename)), WRONG_PLACE.get(error.errno or 0)
    # a file that is missing below a folder was removed by others, or should not have been opened
    if why is None or not place.is_relative_to(out) or (error.errno == errno.ENOENT and place != out):
        return None
    which = "" if place == out else f" at {place}"
    return UsageError(f"--out {out}: expected a place that can be written, but {why}{which}; name another place")


def _of_output(error: Exception) -> SpillwayError | None:
    """The error of a standard output that cannot be written; ``None`` for any other error."""
    if not isinstance(error, OSError) or error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT) or error.filename:
        return None
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # what is left is not written when the process ends
    return SpillwayError(f"the output cannot be written: {error.strerror}")


def _of_system(error: Exception) -> Exception | None:
    """The error of a process without enough memory, or in a folder that was removed."""
    if isinstance(error, MemoryError):
        return SpillwayError("not enough memory for this process; a limit on it may be set (ulimit -v)")
    if isinstance(error, FileNotFoundError) and error.filename is None:
        try:
            os.getcwd()
        except FileNotFoundError:
            return UsageError("the current folder was removed: change to another one")
    return None


# --------------------------------------------------------------------------- typed values


def whole(text: str, least: int | None = None) -> int:
    """Read a whole number (for ``type=``)."""
    bound = "" if least is None else f" >= {least}"
    try:
        value = int(text) if least is None or (text.isascii() and text.isdecimal() and len(text) <= 18) else -1
    except ValueError:
        value, least = -1, 0
    if least is not None and value < least:
        raise argparse.ArgumentTypeError(f"expected a whole number{bound}, got {text!r}")
    return value


natural, positive = partial(whole, least=0), partial(whole, least=1)
"""Readers of whole numbers of at least 0, and of at least 1."""


def number(text: str, above: float = -math.inf, what: str = "a number") -> float:
    """Read a finite number, above a bound."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not above < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected {what}{'' if above < 0 else f' > {above:g}'}, got {text!r}")
    return value


above_zero = partial(number, above=0.0)
seconds = partial(number, above=0.0, what="a number of seconds")
"""Readers of a number, and of a time in seconds, above 0."""
