"""``python -m tools.faults writes|damage|kills``: a table fault x count x outcome x lost data.

Exit code 1: a fault had another outcome than a whole run or no run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tools.faults import damage, kills, writes
from tools.faults.campaign import play


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=str(__doc__).splitlines()[0])
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument(
        "--count", type=int, default=20, metavar="N", help="faults of each kind, or kills (%(default)s)"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        return COMMANDS[options.what](Path(folder), options.count)


def _writes(work: Path, count: int) -> int:
    start = work / "start"
    writes.begin(start)
    calls = writes.count_calls(start, work)
    seen = [writes.suffer(case, start, work / "whole", work) for case in writes.cases(calls, count)]
    rows = []
    for call, fault in dict.fromkeys((one.case.call, one.case.fault) for one in seen):
        group = [one for one in seen if (one.case.call, one.case.fault) == (call, fault)]
        codes = Counter(one.exit_code for one in group)
        good = sum(not one.wrong for one in group)
        outcome = ", ".join(f"exit code {code}: {number}" for code, number in sorted(codes.items()))
        name = f"{call.removeprefix('_')} (of {calls[call]}): {fault}"
        rows.append((name, len(group), f"{good} whole or absent, then finished by the next command ({outcome})", group))
    for name, number, outcome, group in rows:
        print(f"{name:45} {number:5}  {outcome}; finished runs lost: {sum(one.lost for one in group)}")
    bad = [one for one in seen if one.wrong or one.lost]
    for one in bad:
        print(f"WRONG {one.case}: {one.wrong}")
    print(f"{len(seen)} faults, {len(bad)} wrong, {sum(one.lost for one in seen)} finished runs lost")
    return int(bool(bad))


def _damage(work: Path, count: int) -> int:
    whole = work / "whole"
    play(whole)
    seen = [damage.inflict(whole, kind, work, repeat=True) for kind in damage.KINDS]
    for one in seen:
        said = one.said[0].removeprefix("damaged: ") if one.said else "nothing"
        print(f"{one.kind:38} {'noticed' if one.noticed else 'MISSED':8} {'mended' if one.mended else 'LEFT':7} {said}")
    noticed, mended = sum(one.noticed for one in seen), sum(bool(one.mended) for one in seen)
    print(f"{len(seen)} kinds of damage, {noticed} noticed, {mended} mended by the next command with the same bytes")
    return int(noticed < len(seen) or mended < len(seen))


def _kills(work: Path, count: int) -> int:
    seen = []
    for one in kills.series(count, work):
        seen.append(one)
        print(f"{one.way:7} {one.target:12} exit code {one.exit_code:4} orphans {one.orphans} {one.wrong}", flush=True)
    print()
    for way, target in dict.fromkeys((one.way, one.target) for one in seen):
        group = [one for one in seen if (one.way, one.target) == (way, target)]
        codes = Counter(one.exit_code for one in group)
        outcome = ", ".join(f"exit code {code}: {number}" for code, number in sorted(codes.items()))
        good, orphans = sum(not one.wrong for one in group), sum(one.orphans for one in group)
        name = f"{way}: {target} killed"
        print(
            f"{name:30} {len(group):4}  {good} whole or absent, same bytes when resumed ({outcome}); orphans: {orphans}"
        )
    bad = [one for one in seen if one.wrong or one.orphans]
    print(f"{len(seen)} kills, {len(bad)} wrong, {sum(one.orphans for one in seen)} orphans")
    return int(bool(bad))


COMMANDS = {"kills": _kills, "writes": _writes, "damage": _damage}

if __name__ == "__main__":
    sys.exit(main())
