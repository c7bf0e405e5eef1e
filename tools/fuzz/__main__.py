"""Fuzz the scheduler: ``python -m tools.fuzz conversations``, ``worlds`` or ``strangers``; each has a ``--help``.

``conversations`` plays a random Batsim with faults mixed in, ``worlds`` small random worlds in the embedded simulator,
with lives of buffers, persistent ones, outages and drains, and ``strangers`` disturbs a service's socket. Everything is
drawn from seeds, a finding is printed with the command that plays it again, and the exit code is then 1.
"""

from __future__ import annotations

import sys
from importlib import import_module

KINDS = ("conversations", "worlds", "declared", "strangers")


def main(arguments: list[str]) -> int:
    """Run the command line."""
    if not arguments or arguments[0] not in KINDS:
        print(__doc__)
        return 2
    found: int = import_module(f"tools.fuzz.{arguments[0]}").main(arguments[1:])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
