"""Play of a world by the embedded simulator in this process, with any scheduler that answers its messages."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from spillway.base import durable
from spillway.experiments.trials.world import GB, World
from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import generate
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import JsonObject
from spillway.schedulers.jobmodels.base import Needs
from spillway.simulator.engines.native import FixedEngine, FluidEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.outputs.jobs import Span
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import Link
from spillway.workloads.batsim.batsim5 import to_batsim5
from spillway.workloads.batsim.json_file import format_batsim, parse_batsim


@dataclass
class WorldObservations:
    """Observations of one world.

    Attributes
    ----------
    faults
        Breaches by requirement, in words.
    starts
        Start of each job (s), by its number.
    tables
        The run's tables as bytes, if they are kept.
    """

    faults: dict[str, str]
    starts: Mapping[int, float] = field(default_factory=dict)
    tables: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hash of the tables and the faults."""
        total = hashlib.sha256(json.dumps(sorted(self.faults)).encode())
        for name in sorted(self.tables):
            total.update(self.tables[name])
        return total.hexdigest()


class Subject(Protocol):
    """A tested scheduler, started anew in each world."""

    @property
    def name(self) -> str:
        """Name in reports."""

    def play(self, world: World) -> WorldObservations:
        """Play a world once, watched."""


def simulate(
    world: World,
    link: Link,
    folder: Path | None = None,
    needs: Needs | None = None,
    base: SimulationOptions = SimulationOptions(),  # noqa: B008 - frozen
) -> Mapping[str, Span] | None:
    """Play a world once; return the times of each job's sub-jobs.

    Parameters
    ----------
    link
        Answers messages; the caller closes it.
    folder
        Folder of the simulator's output (``out_jobs.csv``), required for a world with outages or drains; default: no
        output.
    needs
        Features of the simulator that the job model needs; default: those of ``base``.
    base
        Further options: the requests of a scheduler of Batsim 5.
    """
    events = world.events()
    files: tuple[Path, ...] = ()
    if events and folder is not None:
        files = (folder / "events.txt",)
        durable.write_text(files[0], "".join(f"{json.dumps(event)}\n" for event in events), sync=False)
    platform = _platform(world.nodes, world.storages, world.gb)
    options = replace(
        base,
        export=str(folder / "out") if folder is not None else None,
        fail_on_deadlock=True,
        events=files,
        forward_unknown_events=bool(world.drains),
        **(needs.options if needs is not None else {}),
    )
    with (FixedEngine if world.plain else FluidEngine)(platform) as engine:
        workload = workload_from_object(_in_words_of(options, world.workload()), rules=options.rules)
        simulation = Simulation(platform, [workload], engine, link, options)
        simulation.run()
    return simulation.outputs.jobs.spans or None


def _in_words_of(options: SimulationOptions, data: JsonObject) -> JsonObject:
    """A workload of Batsim 4 in the words of the played version."""
    if options.rules.old_words:
        return data
    translated: JsonObject = json.loads(format_batsim(to_batsim5(parse_batsim(json.dumps(data)))))
    return translated


@functools.lru_cache(maxsize=64)
def _platform(nodes: int, storages: int, gb: int) -> Platform:
    """A plain machine, or ``tiny``."""
    if nodes:
        return parse_platform(_plain_xml(nodes, storages, gb), "a world's machine")
    return parse_platform(generate(describe("tiny")), "tiny.xml")


def _plain_xml(nodes: int, storages: int, gb: int) -> str:
    """A SimGrid platform whose network takes no time."""
    hosts = [("master", '<prop id="role" value="master"/>')] + [(f"n{number}", "") for number in range(nodes)]
    stated = f'<prop id="role" value="storage"/><prop id="capacity_bytes" value="{gb * GB}"/>'
    hosts += [(f"bb{number}", stated) for number in range(storages)]
    lines = [f'<host id="{name}" speed="1Gf">{properties}</host>' for name, properties in hosts]
    lines.append('<link id="net" bandwidth="1000GBps" latency="0us" sharing_policy="FATPIPE"/>')
    for place, (host, _) in enumerate(hosts):
        lines += [f'<route src="{host}" dst="{two}"><link_ctn id="net"/></route>' for two, _ in hosts[place + 1 :]]
    document = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    return document + f'<platform version="4.1"><zone id="main" routing="Full">{"".join(lines)}</zone></platform>\n'
