"""Kept results of earlier commands, and whether they are valid for this one: one rule for all commands.

A result is kept with a digest of its request (inputs and settings), a hash of the code that made it
(:mod:`spillway.experiments.run.codehash`), that code's commit, and the checksums of its contents. Next time it is

* *current* if all are as they would be now;
* *of other code* if only the code differs: it is named, kept and marked, and repeated with ``--rerun``;
* *no result* if it answers another question or its contents are not as they were written: it is named and repeated.
"""

from __future__ import annotations

import enum
import hashlib
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from rich.console import Console

from spillway.analysis.document.terminal import say
from spillway.base.files import read_file
from spillway.base.limits import InputError
from spillway.experiments.run import manifest
from spillway.experiments.run.folders import FINISHED, RUN_FILE, read_json, write_text
from spillway.experiments.run.spec import RunSpec
from spillway.experiments.run.version import commit

Item = TypeVar("Item", bound=Hashable)
T = TypeVar("T")

NAMED = 3
"""Most results that a line of the console names."""


class Validity(enum.Enum):
    """Validity of a kept result for the command that finds it."""

    MISSING = "missing"
    CURRENT = "current"
    OTHER_CODE = "of other code"
    NO_RESULT = "no result"


@dataclass(frozen=True)
class KeptResult:
    """A kept result.

    Attributes
    ----------
    standing
        Whether it may be taken for a result of this command.
    name
        Displayed name.
    commit
        Commit of the code that made it ("": not known).
    why
        Fault of its files ("": no fault, or it is one file).
    """

    standing: Validity
    name: str
    commit: str = ""
    why: str = ""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """A result in one file, with its request and its code.

    Attributes
    ----------
    asked
        Digest of inputs and settings.
    code, commit
        Code that made it.
    sha256
        Checksum of the bytes of ``result``.
    result
        The result itself.
    """

    asked: str
    code: str
    commit: str
    sha256: str
    result: msgspec.Raw


class _Code(msgspec.Struct, frozen=True):
    code: str


class _Record(msgspec.Struct, frozen=True):
    """Fields of a run's ``run.json`` on its origin."""

    id: str
    configuration: _Code
    commit: str


def digest(asked: Any) -> str:
    """Digest of inputs and settings: plain data, structs and dataclasses; numbers count with all their bits."""
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()


def judge(*, asked: bool, code: bool, contents: bool) -> Validity:
    """Classify a result by whether its request, its code and its contents are as they should be."""
    if not (asked and contents):
        return Validity.NO_RESULT
    return Validity.CURRENT if code else Validity.OTHER_CODE


def keep(path: Path, asked: Any, code: str, result: Any) -> None:
    """Write a result into a file; it appears when it is complete.

    Parameters
    ----------
    path
        The file.
    asked
        Inputs (their contents or checksums) and settings.
    code
        Hash of the code that made it.
    result
        A value that :func:`msgspec.json.encode` can write.
    """
    raw = msgspec.json.encode(result)
    envelope = Envelope(
        asked=digest(asked),
        code=code,
        commit=commit(),
        sha256=hashlib.sha256(raw).hexdigest(),
        result=msgspec.Raw(raw),
    )
    write_text(path, msgspec.json.encode(envelope).decode())


def look(path: Path, asked: Any, code: str) -> KeptResult:
    """Classify a file for a command that requests this with this code."""
    if not path.exists():
        return KeptResult(Validity.MISSING, path.stem)
    envelope = _open(path)
    if envelope is None:
        return KeptResult(Validity.NO_RESULT, path.stem)
    whole = hashlib.sha256(bytes(envelope.result)).hexdigest() == envelope.sha256
    standing = judge(asked=envelope.asked == digest(asked), code=envelope.code == code, contents=whole)
    return KeptResult(standing, path.stem, envelope.commit)


def damage(path: Path) -> list[str]:
    """Faults of a kept result, whatever its request; empty if it is whole."""
    envelope = _open(path)
    if envelope is None:
        return ["it is not a result that was written here, or it was cut"]
    return [] if hashlib.sha256(bytes(envelope.result)).hexdigest() == envelope.sha256 else ["it was changed"]


def look_at_run(folder: Path, run: RunSpec) -> KeptResult:
    """Classify a run's folder for a command that requests this run; its ``run.json`` and manifest are the envelope."""
    if not os.path.lexists(folder):
        return KeptResult(Validity.MISSING, run.id)
    if faults := manifest.damage(folder):
        return KeptResult(Validity.NO_RESULT, run.id, why=faults[0])
    record = read_json(folder / RUN_FILE)
    if record.get("status") != FINISHED:
        return KeptResult(Validity.MISSING, run.id)
    try:
        made = msgspec.convert(record, _Record)
    except msgspec.ValidationError:
        return KeptResult(Validity.NO_RESULT, run.id)
    standing = judge(asked=made.id == run.id, code=made.configuration.code == run.code, contents=True)
    return KeptResult(standing, run.id, made.commit)


def read(path: Path, kind: type[T]) -> T:
    """Read the result in a file that has been looked at."""
    envelope = _open(path)
    assert envelope is not None, f"{path} has been looked at"
    return msgspec.json.decode(envelope.result, type=kind)


def choose(found: Mapping[Item, KeptResult], console: Console, *, rerun: bool, what: str = "runs") -> list[Item]:
    """Report the kept results, and choose the items that are to be done.

    Parameters
    ----------
    found
        State of every requested item.
    console
        Prints the numbers of kept results and of results that are not current.
    rerun
        Whether results of other code are done again.
    what
        Noun for the items.
    """
    commit()  # of the code that begins now; worker processes have it from here
    counts = Counter(kept_result.standing for kept_result in found.values())
    again = {Validity.MISSING, Validity.NO_RESULT} | ({Validity.OTHER_CODE} if rerun else set())
    if there := sum(counts[standing] for standing in Validity if standing not in again):
        say(console, f"{there} of {len(found)} {what} are already there")
    wrong = [
        f"{kept_result.name}: {kept_result.why}".removesuffix(": ")
        for kept_result in found.values()
        if kept_result.standing is Validity.NO_RESULT
    ]
    if wrong:
        say(
            console,
            f"{len(wrong)} of {len(found)} kept {what} are damaged, or answer another question: "
            f"done again ({_several(wrong)})",
        )
    if rerun and counts[Validity.OTHER_CODE]:
        say(console, f"{_of_other_code(found.values(), what)}: done again")
    elif counts[Validity.OTHER_CODE]:
        say(console, f"{_of_other_code(found.values(), what)}: kept as they are; repeat them with --rerun")
    return [item for item, kept_result in found.items() if kept_result.standing in again]


def left(found: Mapping[Item, KeptResult], todo: Iterable[Item]) -> list[KeptResult]:
    """List the results of other code that are not done again."""
    again = set(todo)
    return [kept for item, kept in found.items() if kept.standing is Validity.OTHER_CODE and item not in again]


def remind(old: Sequence[KeptResult], console: Console, *, what: str = "runs") -> None:
    """Print below the results the number of those that were made by other code (:func:`left`)."""
    if old:
        say(console, f"note: {_of_other_code(old, what)}; --rerun does them again")


def _of_other_code(found: Iterable[KeptResult], what: str) -> str:
    old = [kept_result for kept_result in found if kept_result.standing is Validity.OTHER_CODE]
    commits = dict.fromkeys(_short(kept_result.commit) for kept_result in old)
    return f"{len(old)} {what} were made by other code (commit {_several(commits)})"


def _short(commit: str) -> str:
    name, plus, changes = commit.partition("+")
    return f"{name[:10]}{plus}{changes}" or "not known"


def _several(names: Iterable[str]) -> str:
    texts = list(names)
    return ", ".join(texts[:NAMED]) + (f" and {len(texts) - NAMED} more" if len(texts) > NAMED else "")


def _open(path: Path) -> Envelope | None:
    try:
        return msgspec.json.decode(read_file(path), type=Envelope)
    except (InputError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
