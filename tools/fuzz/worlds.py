"""``python -m tools.fuzz worlds``: small random worlds of burst buffers, played by the embedded simulator, all checked.

Policy x life x kind of buffer x rule of placement: each world is checked after every message, as
``tests/properties/test_product.py`` checks a few; granules, limits of users, outages of storage nodes and nodes,
drains, machines, job models and the way in which the conversation is played are drawn too. The events of a world must
be the same, and at the same instants, in every way of playing it.

Batsim 5 has events for neither outages nor drains, so worlds are played over its protocol without them. It calls at
whole milliseconds, prints twelve decimals and has no metadata: events must be the same, up to :data:`EXACT_S`, as in
this process under these rules. If two events are at one instant, messages that only one protocol has may decide their
order, and whether the session receives both at once; such worlds are compared up to that instant, and counted.
"""

from __future__ import annotations

import argparse
import signal
import time
import traceback
from collections import Counter
from itertools import zip_longest
from random import Random
from types import FrameType
from typing import NoReturn

from spillway.base.errors import OptionError
from tests.properties.buffer_cases import BATSIM_5, BY_ITS_CLOCK, WAYS, Case, random_case, refused
from tests.properties.buffer_world import Played, play

LONGEST_S = 60.0
"""CPU time that a world may take (s)."""


EXACT_S = 2e-3
"""Largest difference of times over Batsim 5's protocol (s): a nanosecond more may be the next millisecond."""


class LateWorld(AssertionError):
    """A world did not end within :data:`LONGEST_S`."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz worlds", description=__doc__.split("\n")[0])
    parser.add_argument("--worlds", type=int, default=300, metavar="N", help="number of worlds (300)")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="N", help="stop after so long")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of all that is drawn (1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first world (0)")
    parser.add_argument("--crowded", action="store_true", help="lives, persistent buffers, outages and drains in each")
    parser.add_argument(
        "--twice", action="store_true", help="play each world in a second way and over Batsim 5, and compare"
    )
    options = parser.parse_args(arguments)
    until_s = time.monotonic() + options.seconds
    counts, findings, seen = Counter[str](), Counter[str](), set[Case]()
    number = options.first
    while number < options.first + options.worlds and time.monotonic() < until_s:
        case = random_case(Random(f"{options.seed}/{number}"), crowded=options.crowded)
        try:
            played = one(case)
            if played.messages and options.twice:
                _compare(case, played)
                counts += _compare_batsim_5(case)
        except Exception as error:
            findings[f"{type(error).__name__}: {str(error)[:100]}"] += 1
            chosen = "".join(f" --{name}" for name in ("crowded", "twice") if getattr(options, name))
            command = f"python -m tools.fuzz worlds --seed {options.seed} --first {number} --worlds 1{chosen}"
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


def _compare(case: Case, played: Played) -> None:
    """Play a world in another way, which must give the same events at the same instants."""
    other = WAYS[0] if case.way != WAYS[0] else "bytes"
    again = play(case._replace(way=other))
    for mine, theirs in zip_longest(played.story, again.story):
        assert mine == theirs, f"{case.way}: {mine}; {other}: {theirs}"


def _compare_batsim_5(case: Case) -> Counter[str]:
    """Play a world over Batsim 5's protocol, and in this process as Batsim 5 would."""
    calm = case._replace(outage="", drained=False)
    five, four = (one(calm._replace(way=way)).story for way in (BATSIM_5, BY_ITS_CLOCK))
    found = Counter({BATSIM_5: 1, f"{BATSIM_5}, without the outages and drains drawn": int(calm != case)})
    for mine, theirs in zip_longest(five, four, fillvalue=(float("inf"), "nothing more", "")):
        late_s = abs(mine[0] - theirs[0])
        assert round(late_s, 9) <= EXACT_S, f"Batsim 5: {mine}; {BY_ITS_CLOCK}: {theirs}"
        if mine[1:] != theirs[1:]:
            return found + Counter({f"{BATSIM_5}, compared up to an order at one instant": 1})
    return found


def _too_long(number: int, frame: FrameType | None) -> NoReturn:
    raise LateWorld(f"the world did not end within {LONGEST_S:g} s of CPU time")


def _report(worlds: int, seen: set[Case], counts: Counter[str], findings: Counter[str]) -> None:
    combined = {(case.policy, case.life, case.kind, case.rule) for case in seen}
    print(
        f"{worlds} worlds, {len(combined)} combinations of policy, life, kind and rule, {counts['messages']} messages"
    )
    ways = Counter(case.way for case in seen)
    print("ways: " + ", ".join(f"{way} {ways[way]}" for way in WAYS))
    for chosen in (True, False):
        names = [name for name in sorted(counts) if name.startswith(BATSIM_5) is chosen and name != "messages"]
        if names:
            print("; ".join(f"{name} {counts[name]}" for name in names))
    print(f"{sum(findings.values())} findings")
    for kind, count in findings.most_common():
        print(f"{count:>6} x {kind}")
