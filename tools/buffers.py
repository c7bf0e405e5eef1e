"""``python -m tools.buffers``: random worlds of policy x life x kind of buffer x rule of placement, all proven right.

Each world is proven after every message, as ``tests/properties/test_product.py`` proves a few; granules, limits of
users, outages of storage nodes and nodes, machines and job models are drawn too. Exit code 1 where something was found.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from collections import Counter
from random import Random
from types import FrameType
from typing import NoReturn

from spillway.base.errors import OptionError
from tests.properties.buffer_cases import Case, random_case, refused
from tests.properties.buffer_world import Played, play

LONGEST_S = 60.0
"""CPU time that a world may take (s)."""


class TookTooLong(AssertionError):
    """A world did not end within :data:`LONGEST_S`."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m tools.buffers", description=__doc__.split("\n")[0])
    parser.add_argument("--worlds", type=int, default=300, metavar="N", help="how many (300)")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="N", help="stop after so long")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of all that is drawn (1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first world (0)")
    options = parser.parse_args(arguments)
    until_s = time.monotonic() + options.seconds
    counts, findings, seen = Counter[str](), Counter[str](), set[Case]()
    number = options.first
    while number < options.first + options.worlds and time.monotonic() < until_s:
        case = random_case(Random(f"{options.seed}/{number}"))
        try:
            played = one(case)
        except Exception as error:
            findings[f"{type(error).__name__}: {str(error)[:100]}"] += 1
            command = f"python -m tools.buffers --seed {options.seed} --first {number} --worlds 1"
            print("".join(traceback.format_exception(error, limit=-4)), f"{case}\nplay again: {command}\n", flush=True)
        else:
            counts += played.counts + Counter(messages=played.messages)
            if played.messages:
                seen.add(case)
        number += 1
    _report(number - options.first, seen, counts, findings)
    return 1 if findings else 0


def one(case: Case) -> Played:
    """Play a case, or make sure that it is refused if it should be."""
    before = signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        played = play(case)
    except OptionError:
        if refused(case):
            return Played(0, Counter({"combinations refused": 1}))
        raise
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    if refused(case):
        raise AssertionError("a combination that cannot be was not refused")
    return played


def _too_long(number: int, frame: FrameType | None) -> NoReturn:
    raise TookTooLong(f"the world did not end within {LONGEST_S:g} s of CPU time")


def _report(worlds: int, seen: set[Case], counts: Counter[str], findings: Counter[str]) -> None:
    combined = {(case.policy, case.life, case.kind, case.rule) for case in seen}
    print(
        f"{worlds} worlds, {len(combined)} combinations of policy, life, kind and rule, {counts['messages']} messages"
    )
    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if name != "messages"))
    print(f"{sum(findings.values())} findings")
    for kind, count in findings.most_common():
        print(f"{count:>6} x {kind}")


if __name__ == "__main__":
    sys.exit(main())
