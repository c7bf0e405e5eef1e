"""Names of the compiled module, with their documentation; written in C++ in the folders beside this file."""

from collections.abc import Sequence

SOURCE_DIGEST: str
"""SHA-256 over the C++ sources that the module was built from, as hexadecimal digits."""

class Batch:
    """Tasks laid out one behind the other.

    Parameters
    ----------
    hosts, ends
        Hosts of all positions of all tasks; begin of each task in them, then their number.
    work
        flop of every position.
    each
        Bytes of each task's all-to-all.
    pair_ends, sources, destinations, amounts
        Begin of each task in the transfers, then their number; hosts and bytes of the transfers.
    """

    def __init__(
        self,
        hosts: Sequence[int],
        ends: Sequence[int],
        work: Sequence[float],
        each: Sequence[float],
        pair_ends: Sequence[int],
        sources: Sequence[int],
        destinations: Sequence[int],
        amounts: Sequence[float],
    ) -> None: ...

class Engine:
    """A machine on which parallel tasks run, and its clock (``core/engines/engine.hpp``).

    Callers check what they give; methods of unknown handles return -1.

    Attributes
    ----------
    clock_s
        Seconds since the start of the simulation.
    ends_at_once
        Whether a task that has work can end at the instant of its start.
    active
        Number of tasks that have started and neither ended nor been cancelled.
    """

    @property
    def clock_s(self) -> float: ...
    @property
    def ends_at_once(self) -> bool: ...
    @property
    def active(self) -> int: ...
    def start_many(self, tasks: Batch) -> list[int]:
        """Start tasks at the present clock; return their handles."""

    def sleep(self, seconds: float) -> int:
        """Start a task that uses no resource and ends after a time."""

    def cancel(self, handle: int) -> float:
        """Remove a task; return its progress in [0, 1], or -1 if no task of that handle is active."""

    def progress(self, handle: int) -> float:
        """Progress in [0, 1] of a task, or -1 if no task of that handle is active."""

    def next_completion(self) -> float:
        """Instant at which the next task ends if nothing is started or cancelled before; ``inf`` without one."""

    def advance(self, until_s: float) -> list[int]:
        """Move the clock to an instant or to the next end, whichever comes first; return the tasks that ended."""

    def advance_through(
        self, moments: Sequence[float], starts: Sequence[bool], tasks: Batch
    ) -> tuple[int, list[int], list[int]]:
        """Move the clock to one moment after another, and start the next task at each that ``starts`` names.

        Returns the number of moments passed, the handles of the tasks started, and those of the tasks that ended on the
        way to the next moment.
        """

    def change_speed(self, host: int, speed: float) -> None:
        """Change the speed of a host, flop/s of one core."""

class FixedEngine(Engine):
    """A task takes as long as its slowest host computes, without any contention.

    Parameters
    ----------
    speeds
        flop/s of one core, by host.
    """

    def __init__(self, speeds: Sequence[float]) -> None: ...
