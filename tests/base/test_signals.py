"""Signals that stop a program: raised once, never printed, also while the compiled module is loaded."""

import signal
import subprocess
import sys
import textwrap

import pytest

PATIENCE_S = 600.0

BEGINNING = """
import os, signal, sys, time
from spillway.base.signals import raising
from spillway.base.errors import ServiceStop

def come():
    signal.raise_signal(signal.{name})

def wait():
    while True:
        time.sleep(0.05)

"""


def _stopped(rest: str, name: str = "SIGTERM") -> subprocess.CompletedProcess[str]:
    script = BEGINNING.format(name=name) + textwrap.dedent(rest)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_in_a_finaliser_is_raised_a_moment_later(name: str) -> None:
    """Python can only print an exception of a finaliser: it was printed, and the signal lost."""
    done = _stopped(
        """
        class Kept:
            def __del__(self):
                come()

        try:
            with raising(ServiceStop, [signal.SIGTERM]) as heard:
                kept = Kept()
                del kept
                wait()
        except (ServiceStop, KeyboardInterrupt) as stop:
            print(type(stop).__name__, list(heard))
        """,
        name,
    )
    number = int(signal.SIGTERM)
    expected = f"ServiceStop [{number}, {number}]" if name == "SIGTERM" else "KeyboardInterrupt []"
    assert (done.stdout.strip(), done.stderr, done.returncode) == (expected, "", 0)


def test_other_exceptions_of_finalisers_are_still_printed() -> None:
    """Only signals that stop are silent."""
    done = _stopped(
        """
        class Kept:
            def __del__(self):
                raise ValueError("seen")

        with raising(ServiceStop, [signal.SIGTERM]):
            Kept()
        print(sys.unraisablehook is sys.__unraisablehook__)
        """
    )
    assert "ValueError: seen" in done.stderr
    assert done.stdout.strip() == "True"


def test_a_process_that_is_being_started_does_not_raise_its_parents_signals() -> None:
    """Failed before: a signal to the group was raised in the after-fork handlers, between fork and exec.

    The parent raises its own signal as soon as the process exists, and ends it.
    """
    done = _stopped(
        """
        from spillway.experiments.run.offspring import running

        def group():
            come()
            os.kill(os.getppid(), signal.SIGTERM)

        os.register_at_fork(after_in_child=group)
        try:
            with raising(ServiceStop, [signal.SIGTERM]):
                with running(["sleep", "600"], 1) as process:
                    wait()
        except ServiceStop as stop:
            print(stop.number)
        """
    )
    assert (done.stdout.strip(), done.stderr, done.returncode) == (str(int(signal.SIGTERM)), "", 0)


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
