"""``python -m tools.specification``: the product beside the specification that executes, and what was compared.

Three kinds of worlds are drawn (plain ones, rich ones, those of the fuzzers), and all small ones are enumerated: see
:mod:`tests.reference.compared_worlds` and :mod:`tests.reference.enumeration`. A pass that differs ends the run with its
world, which the same command with ``--kind`` and ``--first`` plays again.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from tests.reference import placement_rules, specification, windows
from tests.reference.compared_worlds import WORLDS, play_all
from tests.reference.enumeration import EVERY, POLICY_NAMES, SOME, Enumeration, Kind

QUICK = {"plain": 1000, "rich": 300, "fuzzed": 300}
"""Worlds drawn of each kind."""

FULL = {"plain": 20_000, "rich": 5_000, "fuzzed": 5_000}
"""The same with ``--all``."""

ENUMERATED = ((SOME, 4), (EVERY, 2))
"""Kinds of jobs, and the most jobs of a world: 66,969 and 13,969 worlds for each policy."""

ALL_ENUMERATED = ((EVERY[::3], 4), (EVERY, 3))
"""The same with ``--all``: 1,025,313 and 1,119,889 worlds for each policy."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if a pass differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.specification", description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="many more worlds: about an hour")
    parser.add_argument("--kind", choices=[*WORLDS, "enumerated"], help="only these worlds")
    parser.add_argument("--worlds", type=int, metavar="N", help="number of worlds drawn of each kind")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first world drawn (0)")
    options = parser.parse_args(arguments)
    for module in (specification, placement_rules, windows):
        path = Path(module.__file__ or "")
        print(f"{path.name}: {len(path.read_text(encoding='utf-8').splitlines())} lines")
    try:
        for kind, worlds in (FULL if options.all else QUICK).items():
            if options.kind in (None, kind):
                _drawn(kind, options.worlds or worlds, options.first)
        if options.kind in (None, "enumerated"):
            for kinds, jobs in ALL_ENUMERATED if options.all else ENUMERATED:
                for policy in POLICY_NAMES:
                    _enumerated(policy, kinds, jobs)
    except AssertionError as difference:
        print(f"differs: {difference}")
        return 1
    return 0


def _drawn(kind: str, worlds: int, first: int) -> None:
    begin_s = time.process_time()
    found = play_all(kind, worlds, first)
    passes = ", ".join(f"{name} {count}" for name, count in found.passes.most_common())
    print(
        f"{kind}: {worlds} worlds, {found.passes.total()} passes compared ({passes}), {found.starts} starts, "
        f"{time.process_time() - begin_s:.1f} s"
    )
    _left_out(found.outside)


def _enumerated(policy: str, kinds: tuple[Kind, ...], jobs: int) -> None:
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
