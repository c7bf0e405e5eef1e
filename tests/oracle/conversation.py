"""One conversation, played by our simulator and by actors of the real SimGrid (:mod:`tests.oracle.actors`)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import Message, Reply
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.engines.simgrid import find_binding
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from tests.simulator.worlds import Scheduler

ACTORS = Path(__file__).with_name("actors.py")
Handle = Callable[[Message], Reply]


@dataclass(frozen=True)
class Told:
    """Messages to a scheduler, without SIMULATION_BEGINS, and the rows: start, end (s), state, machines by job."""

    messages: list[Any]
    rows: dict[str, tuple[float, float, str, str]]


def _content(message: bytes) -> Any:
    """A message without the progress of killed jobs, which only the real Batsim has."""
    found = json.loads(message)
    for event in found["events"]:
        event["data"].pop("job_progress", None)
    return found


def play_ours(platform: Path, data: dict[str, Any], handle: Handle, folder: Path, **options: Any) -> Told:
    """Our simulator with the fluid engine."""
    found = load_platform(platform)
    scheduler = Scheduler(handle)
    export = str(folder / "ours")
    with FluidEngine(found) as engine:
        chosen = SimulationOptions(export=export, **options)
        Simulation(found, [workload_from_object(data, "w0")], engine, scheduler, chosen).run()
    lines = [line.split(",") for line in Path(export + "_jobs.csv").read_text().splitlines()[1:]]
    rows = {f"w0!{row[0]}": (float(row[8]), float(row[10]), row[7], row[14]) for row in lines if row[8]}
    return Told([_content(batsim4.encode_message(message)) for message in scheduler.messages[1:]], rows)


def play_theirs(platform: Path, data: dict[str, Any], handle: Handle) -> Told:
    """SimGrid's actors; the first event is ours, so that both schedulers begin alike."""
    begins, master, machines = _first_event(platform, data)
    jobs = workload_from_object(data, "w0").jobs
    jobs.sort()
    case = {
        "platform": str(platform),
        "master": master,
        "machines": machines,
        "begins": begins,
        "jobs": [
            {
                "id": job.id,
                "subtime": job.subtime,
                "walltime": job.walltime,
                "source": job.source,
                **{key: job.profile.source[key] for key in ("delay", "cpu", "com") if key in job.profile.source},
            }
            for job in jobs
        ],
    }  # fmt: skip
    binding = find_binding()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(binding.folders)}
    messages: list[Any] = []
    with subprocess.Popen(
        [binding.interpreter, str(ACTORS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env=environment,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(case) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            found = json.loads(line)
            if "rows" in found:
                break
            message = batsim4.decode_message(line.encode())
            messages.append(_content(batsim4.encode_message(message)))
            process.stdin.write(batsim4.encode_reply(handle(message)).decode() + "\n")
            process.stdin.flush()
    texts = {row["id"]: " ".join(map(str, row["alloc"])) for row in found["rows"]}
    rows = {row["id"]: (row["start"], row["end"], row["state"], texts[row["id"]]) for row in found["rows"]}
    return Told(messages[1:], rows)


def _first_event(platform: Path, data: dict[str, Any]) -> tuple[Any, str, list[str]]:
    """Data of our SIMULATION_BEGINS, the master, and the machines by id."""
    found = load_platform(platform)
    scheduler = Scheduler(lambda message: Reply(message.now, ()))
    with FluidEngine(found) as engine:
        simulation = Simulation(found, [workload_from_object(data, "w0")], engine, scheduler, SimulationOptions())
        simulation.run()
    text = json.loads(batsim4.encode_message(scheduler.messages[0]))
    machines = simulation.machines
    return text["events"][0]["data"], found.hosts[machines.master_host].name, [machine.name for machine in machines.all]
