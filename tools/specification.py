"""``python -m tools.specification``: the product beside the specification that executes, and what was compared.

Searches in small timelines are compared, fits and bookings there are proven by Z3
(:mod:`tests.reference.small_timelines`); worlds of four kinds are drawn (:mod:`tests.reference.compared_worlds`), and
all small ones are enumerated (:mod:`tests.reference.enumeration`). A pass that differs ends the run with its world,
which the same command with ``--kind``, ``--first`` and ``--worlds 1`` plays again.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.reference import placement_rules, specification, windows
from tests.reference.compared_worlds import WORLDS, play_all
from tests.reference.enumeration import EVERY, POLICY_NAMES, SOME, Enumeration, Kind
from tests.reference.small_timelines import compare_fit, compare_pass, prove_booking, prove_fit


class Effort(NamedTuple):
    """How much is compared: numbers of timelines, and of worlds drawn of each kind, and what is enumerated.

    ``enumerated``: kinds of jobs, and the most jobs of a world.
    """

    searched: int
    proven: int
    drawn: Mapping[str, int]
    enumerated: Sequence[tuple[Sequence[Kind], int]]


BRIEF = Effort(6000, 120, {"plain": 200, "rich": 60, "fuzzed": 60, "logged": 0}, [(SOME, 2)])
"""Some ten seconds, for :mod:`tools.core_mutants`."""

USUAL = Effort(20_000, 300, {"plain": 1000, "rich": 300, "fuzzed": 300, "logged": 10}, [(SOME, 4), (EVERY, 2)])
"""66,969 and 13,969 worlds are enumerated for each policy."""

ALL = Effort(
    500_000, 5000, {"plain": 20_000, "rich": 5_000, "fuzzed": 5_000, "logged": 200}, [(EVERY[::4], 4), (EVERY, 3)]
)
"""329,221 and 1,119,889 worlds are enumerated for each policy."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if a pass differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.specification", description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="many more worlds: half an hour")
    parser.add_argument("--brief", action="store_true", help="few worlds: some ten seconds")
    parser.add_argument("--kind", choices=["searched", "proven", *WORLDS, "enumerated"], help="only these worlds")
    parser.add_argument("--worlds", type=int, metavar="N", help="number of worlds drawn of each kind")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first world drawn (0)")
    options = parser.parse_args(arguments)
    effort = ALL if options.all else BRIEF if options.brief else USUAL
    for module in (specification, placement_rules, windows):
        path = Path(module.__file__ or "")
        print(f"{path.name}: {len(path.read_text(encoding='utf-8').splitlines())} lines")
    try:
        if options.kind in (None, "searched"):
            begin_s, fits = time.process_time(), sum(map(compare_fit, range(effort.searched)))
            starts = sum(map(compare_pass, range(effort.searched)))
            print(
                f"small timelines: {effort.searched} searches compared ({fits} fits), {effort.searched} passes "
                f"({starts} starts), {time.process_time() - begin_s:.1f} s"
            )
        if options.kind in (None, "proven"):
            _proven(effort.proven)
        for kind, worlds in effort.drawn.items():
            if options.kind == kind or (options.kind is None and worlds):
                _drawn(kind, options.worlds or worlds, options.first)
        if options.kind in (None, "enumerated"):
            for kinds, jobs in effort.enumerated:
                for policy in POLICY_NAMES:
                    _enumerated(policy, kinds, jobs)
    except AssertionError as difference:
        print(f"differs: {difference}")
        return 1
    return 0


def _proven(timelines: int) -> None:
    begin_s = time.process_time()
    fits, made = sum(map(prove_fit, range(timelines))), sum(map(prove_booking, range(timelines)))
    print(
        f"proven by Z3: {timelines} searches ({fits} fits), {timelines} bookings ({made} made), "
        f"{time.process_time() - begin_s:.1f} s"
    )


def _drawn(kind: str, worlds: int, first: int) -> None:
    begin_s = time.process_time()
    found = play_all(kind, worlds, first)
    passes = ", ".join(f"{name} {count}" for name, count in found.passes.most_common())
    print(
        f"{kind}: {worlds} worlds, {found.passes.total()} passes compared ({passes}), {found.starts} starts, "
        f"{time.process_time() - begin_s:.1f} s"
    )
    _left_out(found.outside)


def _enumerated(policy: str, kinds: Sequence[Kind], jobs: int) -> None:
    begin_s = time.process_time()
    found = Enumeration(policy, kinds, jobs)
    print(
        f"{policy}: {found.worlds} worlds of up to {jobs} jobs of {len(kinds)} kinds enumerated, {found.passes} "
        f"different passes compared, {found.starts} starts, {time.process_time() - begin_s:.1f} s",
        flush=True,
    )
    _left_out(found.outside)


def _left_out(outside: Counter[str]) -> None:
    if outside:
        print("    left out: " + ", ".join(f"{reason} {count}" for reason, count in outside.most_common()))


if __name__ == "__main__":
    raise SystemExit(main())
