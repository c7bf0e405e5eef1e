"""Run a command whose processes all end with it: make ends only its own children, not those that they start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import FrameType

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def main() -> int:
    """Run the command of the arguments in a process group of its own; pass signals on to the whole group."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child = subprocess.Popen(
        sys.argv[1:],
        process_group=0,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS),
    )
    ended: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        ended.append(number)
        os.killpg(child.pid, signal.SIGTERM)

    for number in SIGNALS:
        signal.signal(number, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    code = child.wait()
    return 128 + ended[0] if ended else code


if __name__ == "__main__":
    sys.exit(main())
