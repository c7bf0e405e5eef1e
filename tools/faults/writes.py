"""A disk that fails, or a process that is killed, at the n-th write, sync or rename of a campaign.

The campaign holds one finished run and is to do two more; each fault hits a process of its own, forked from this one.
"""

from __future__ import annotations

import errno
import os
import shutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.base import durable
from spillway.experiments.campaign.folder.verify import verify
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.manifest import damage
from tools.faults.campaign import ARGUMENTS, SMALL, play, run_of, schedules

CALLS = ("_write", "_fsync", "_rename")
"""The only calls that write to disk (:mod:`spillway.base.durable`)."""

KILL, FULL = "kill", "disk full from then on"
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, FULL: errno.ENOSPC}
FAULTS = (*ERRORS, KILL)
KILLED = 137
TRACEBACK = 70
FIRST = [*SMALL, "--policy", "fcfs"]
ALL = [*ARGUMENTS, "--policy", "filler"]


@dataclass(frozen=True)
class Case:
    """One fault: kind of call, number of the call, and fault."""

    call: str
    number: int
    fault: str


@dataclass(frozen=True)
class FaultOutcome:
    """Outcome of a fault.

    Attributes
    ----------
    case
        The fault.
    exit_code
        Of the command that it hit.
    wrong
        Description of the error, "" without one.
    lost
        Finished runs that are not whole any more.
    """

    case: Case
    exit_code: int
    wrong: str
    lost: int


class Disk:
    """Counts the calls of one kind, and fails at one of them."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.count = 0
        self._real: Callable[..., Any] = getattr(durable, case.call)

    def __call__(self, *given: Any) -> Any:
        """Make the call, or fail."""
        self.count += 1
        hit = self.count == self.case.number or (self.case.fault == FULL and self.count > self.case.number > 0)
        if not hit:
            return self._real(*given)
        if self.case.call == "_write" and self.count == self.case.number:
            descriptor, data = given
            self._real(descriptor, bytes(data)[: len(data) // 2])  # half of it is written
        if self.case.fault == KILL:
            os._exit(KILLED)
        number = ERRORS[self.case.fault]
        raise OSError(number, os.strerror(number))


def begin(root: Path) -> None:
    """Make the campaign with its first run."""
    assert play(root, FIRST)[0] == 0


def count_calls(start: Path, work: Path) -> dict[str, int]:
    """Count the calls of the campaign that begins at ``start``; its results are left in ``work/whole``."""
    found = {}
    for call in CALLS:
        root = work / "whole"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(start, root)
        disk = Disk(Case(call, 0, KILL))
        real = getattr(durable, call)
        setattr(durable, call, disk)
        try:
            assert play(root, ALL)[0] == 0
        finally:
            setattr(durable, call, real)
        found[call] = disk.count
    return found


def cases(calls: dict[str, int], count: int) -> Iterator[Case]:
    """For each call and fault ``count`` cases, evenly over all calls, the first and the last among them."""
    for call, total in calls.items():
        for fault in FAULTS:
            if fault == FULL and call != "_write":
                continue
            steps = min(count, total)
            numbers = {1 + round(step * (total - 1) / max(1, steps - 1)) for step in range(steps)}
            yield from (Case(call, number, fault) for number in sorted(numbers))


def suffer(case: Case, start: Path, whole: Path, work: Path) -> FaultOutcome:
    """Play a copy of the campaign with a fault, check the files that are left, and repeat the command."""
    root, said = work / "root", work / "said.txt"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(start, root)
    child = os.fork()
    if child == 0:
        os._exit(_doomed(case, root, said))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    words = said.read_text() if said.exists() else ""
    said.unlink(missing_ok=True)
    wrong = _after(case, code, words, root)
    lost = int(bool(damage(run_of(root, "fcfs"))))
    again, _ = play(root, ALL)
    if not wrong and (again, verify(root, lambda _: None)) != (0, 0):
        wrong = "the next command did not finish it"
    if not wrong and schedules(root) != schedules(whole):
        wrong = "the next command gave other bytes"
    if not wrong and (root / durable.PARTIAL).exists():
        wrong = "something half-written stayed"
    return FaultOutcome(case, code, wrong, lost)


def _after(case: Case, code: int, words: str, root: Path) -> str:
    lines: list[str] = []
    try:
        damaged = verify(root, lines.append)
    except SpecError:
        damaged = 0
    if damaged:
        return f"verify: {lines[0]}"
    if case.fault == KILL:
        return "" if code == KILLED else f"expected a killed process, its exit code is {code}"
    if code == TRACEBACK:
        return f"a traceback: {words.splitlines()[-1]}"
    return "" if code == 1 and os.strerror(ERRORS[case.fault]) in words else f"exit code {code}, said: {words[-200:]!r}"


def _doomed(case: Case, root: Path, said: Path) -> int:
    setattr(durable, case.call, Disk(case))
    try:
        code, words = play(root, ALL)
    except Exception as error:
        code, words = getattr(error, "exit_code", TRACEBACK), traceback.format_exc()
        words = f"{error}" if code != TRACEBACK else words
    said.write_text(words)
    return int(code)
