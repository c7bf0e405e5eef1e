"""Signals that come while the compiled module is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

_SCRIPT = """
import enum, os, signal
import spillway.protocol.messages

signal.signal(signal.SIGTERM, signal.default_int_handler)
make = enum.EnumType.__call__

def interrupted(cls, *given, **more):
    if given and given[0] == "WorkKind":
        os.kill(os.getpid(), signal.{})
    return make(cls, *given, **more)

enum.EnumType.__call__ = interrupted
try:
    import spillway.core
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_while_the_core_is_loaded_interrupts_and_does_not_abort(name: str) -> None:
    """It ended the process by an abort: an exception in the making of an enumeration cannot leave C++."""
    done = subprocess.run([sys.executable, "-c", _SCRIPT.format(name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
