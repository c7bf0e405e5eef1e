"""``python -m tools.hostile [NAME ...]``: every hostile file, every command that reads it, and the outcome."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.hostile.commands import run
from tools.hostile.files import CASES


def main(names: Sequence[str]) -> int:
    """Print the table; return 1 if a command did not end as it must."""
    faults, count = 0, 0
    chosen = [case for case in CASES if not names or case.name in names]
    print("| file | command | exit | MB | s | first line |\n| --- | --- | ---: | ---: | ---: | --- |")
    for case in chosen:
        for command in case.commands:
            with tempfile.TemporaryDirectory() as folder:
                outcome = run(case, command, Path(folder))
                first = (outcome.lines or [""])[0].replace(folder, "").replace("|", "\\|")
            fault = outcome.fault(case)
            count, faults = count + 1, faults + bool(fault)
            mark = f" **{fault}**" if fault else ""
            print(
                f"| {case.name} | {command} | {outcome.code} | {outcome.peak_mb:.0f} | {outcome.seconds:.1f} "
                f"| {first[:110]}{mark} |",
                flush=True,
            )
            if fault:
                print("\n".join(outcome.lines[-3:]), file=sys.stderr)
    print(f"\n{len(chosen)} files, {count} commands, {faults} that did not end as they must")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
