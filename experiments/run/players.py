"""Players of the machine: our simulator in this process, or a Batsim (the real one or ours) in a separate process."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator
from pathlib import Path

from spillway.base import durable
from spillway.base.garbage_collection import collecting_rarely
from spillway.core import Stopwatch
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.player_files import PREFIX, PlayerResult
from spillway.experiments.run.prepared_input import checked
from spillway.experiments.run.sessions import session_of
from spillway.experiments.run.spec import RunSpec, Task, Transport
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.simulator.engines.by_name import ENGINES
from spillway.simulator.errors import Deadlock
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.events import drains
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink, WireLink


def play(task: Task, folder: Path, session: Stopwatch) -> PlayerResult:
    """Play a run; afterwards ``jobs.csv`` and Batsim's further files are in its folder.

    Raises
    ------
    SpillwayError, SimulatorInputError, RunFailed
        The simulation could not be finished; the message is the cause.
    """
    if task.simulator:
        from spillway.experiments.run.batsim import play_over_zmq

        played = play_over_zmq(task, folder, session)
    else:
        with collecting_rarely(), _thawing():
            played = _play_here(task.run, task.root, folder, session)
    for path in folder.glob(f"{PREFIX}_*"):
        durable.rename(path, folder / path.name.removeprefix(f"{PREFIX}_"), sync=False)
    return played


def _play_here(run: RunSpec, root: Path, folder: Path, session: Stopwatch) -> PlayerResult:
    if run.engine.value not in ENGINES:
        raise SpecError("Batsim is a program of its own and is reached over ZeroMQ")
    begin = time.process_time()
    path = checked(root, run.platform)
    platform = load_platform(path)
    events = (checked(root, run.events),) if run.events is not None else ()
    workload = load_workload(checked(root, run.workload))
    with ENGINES[run.engine.value](platform, path) as engine:
        simulation = Simulation(
            platform,
            [workload],
            engine,
            WireLink(session.handle) if run.transport is Transport.BYTES else InProcessLink(session),
            SimulationOptions(
                export=str(folder / PREFIX),
                events=events,
                forward_unknown_events=any(map(drains, events)),
                fail_on_deadlock=not events,
                **session_of(run).needs().options,
            ),
        )
        gc.freeze()  # loaded inputs stay until the end: the collector need not scan them again and again
        result = simulation.run()
    if result.deadlocked and simulation.loop.running:
        raise Deadlock(f"deadlock at {result.end_s:.6f} s: {simulation.loop.running} running jobs will never end")
    stranded = simulation.loop.waiting_jobs() if result.deadlocked else []
    if result.deadlocked and not stranded:
        raise Deadlock(f"deadlock at {result.end_s:.6f} s: nothing can happen any more")
    if stranded:
        table = folder / f"{PREFIX}_jobs.csv"
        rows = map(simulation.outputs.jobs.native.rejected_row, stranded)
        durable.write_text(table, table.read_text() + "".join(rows), sync=False)
    spent_s = time.process_time() - begin - session.cpu_s
    spans = simulation.outputs.jobs.spans or None
    return PlayerResult(
        spent_s,
        spans=spans,
        own_places=simulation.outputs.jobs.own_places if spans and not stranded else None,
        stranded=[job.name for job in stranded],
        end_s=result.end_s,
    )


@contextlib.contextmanager
def _thawing() -> Iterator[None]:
    """Unfreeze the objects that the block froze, when it ends."""
    try:
        yield
    finally:
        gc.unfreeze()
