"""One point of the experiment: a workload, played under several strategies, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from experiments import kept, provenance
from experiments.codehash import code_of
from experiments.jeannot.direct import Direct, Traces, play
from experiments.jeannot.measures import Outcome, measure
from experiments.kept import Found
from platforms.catalogue import platform_from
from platforms.model import Platform
from schedulers.core.session import Session
from schedulers.jobmodels.gates import IoControl, IoOrder, make_gate
from schedulers.jobmodels.operations import Sequenced
from schedulers.jobmodels.record import JobRecord
from schedulers.jobmodels.runtime import ProgramRuntime
from schedulers.options import Value, show, split_assignments
from schedulers.policies import POLICIES
from schedulers.policykit.estimates import Requested
from schedulers.policykit.view import Policy
from schedulers.wire.messages import BatsimConfig, SimulationBegins
from simulator.broker import Simulation
from simulator.links import InProcessLink
from simulator.machines import Machines
from simulator.options import SimulationOptions
from simulator.workload import workload_from_object
from workloads.jeannot import PROTOCOLS, Drawn, JeannotOptions, JobProtocol, draw_jeannot
from workloads.workload import Workload


@dataclass(frozen=True, slots=True)
class Strategy:
    """A policy with its options, and how its name is printed."""

    policy: str
    options: Mapping[str, Value]
    label: str


STRATEGIES: Mapping[str, Strategy] = {
    "LS": Strategy("list", {}, "list (LS)"),
    "Random": Strategy("pack", {"order": "random"}, "packs, unsorted (Random)"),
    "Max": Strategy("pack", {"order": "longest"}, "packs, longest first (Max)"),
    "Char": Strategy("pack", {"order": "characteristic"}, "packs, characteristic time (Char)"),
}
"""The paper's four strategies."""

PACKS = ("Random", "Max", "Char")


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A workload and the way it is run.

    Attributes
    ----------
    family, alpha, seed, jobs, volume, sizes, kinds, literal, mean_gap_s
        See :class:`workloads.jeannot.JeannotOptions`.
    io_control, io_order
        See :mod:`schedulers.jobmodels.gates`.
    list_options, pack_options
        Further options of the policies, as ``key=value``.
    """

    family: str
    alpha: float
    seed: int = 0
    jobs: int = 100
    volume: str = ""
    sizes: str = "formula"
    kinds: str = "independent"
    literal: bool = False
    mean_gap_s: float = 0.0
    io_control: str = "exclusive"
    io_order: str = "fifo"
    list_options: tuple[str, ...] = ()
    pack_options: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Stable name of its file: family, load and draw, then what differs from the paper's settings."""
        parts = [self.family, f"a{show(self.alpha)}", f"s{self.seed}", f"n{self.jobs}"]
        parts += ["literal"] * self.literal + [value for value in (self.volume,) if value]
        usual = ((self.sizes, "formula"), (self.kinds, "independent"), (self.io_control, "exclusive"))
        parts += [value for value, common in usual if value != common]
        parts += [self.io_order] if self.io_order != "fifo" else []
        parts += [f"gap{show(self.mean_gap_s)}"] if self.mean_gap_s else []
        parts += [f"list-{text}" for text in self.list_options] + [f"pack-{text}" for text in self.pack_options]
        return "_".join(parts)

    @property
    def protocol(self) -> JobProtocol:
        """Machine of its family."""
        return PROTOCOLS[self.family[0]]

    def draw(self) -> Drawn:
        """Its workload."""
        return draw_jeannot(
            JeannotOptions(
                family=self.family,
                alpha=self.alpha,
                seed=self.seed,
                jobs=self.jobs,
                volume=self.volume,
                sizes=self.sizes,
                kinds=self.kinds,
                literal=self.literal,
                mean_gap_s=self.mean_gap_s,
            )
        )


class Result(msgspec.Struct, frozen=True):
    """What came of a point.

    Attributes
    ----------
    load
        The workload's I/O load, equation (2).
    rejected
        Loads of the draws rejected before.
    outcomes
        By strategy.
    """

    load: float
    rejected: list[float]
    outcomes: dict[str, Outcome]


def run(point: Point, strategies: Mapping[str, Strategy] = STRATEGIES) -> Result:
    """Run a point in this process."""
    drawn = point.draw()
    protocol = point.protocol
    outcomes = {
        name: measure(play_direct(point, strategy, drawn.workload), protocol.processors, protocol.bandwidth)
        for name, strategy in strategies.items()
    }
    return Result(drawn.load, list(drawn.rejected), outcomes)


def play_direct(point: Point, strategy: Strategy, workload: Workload) -> Traces:
    """Play one strategy without sub-jobs (:mod:`experiments.jeannot.direct`)."""
    platform = point.protocol.platform
    gate = make_gate(IoControl(point.io_control), IoOrder(point.io_order))
    execution = Direct(gate, point.protocol.bandwidth)
    session = Session(_policy(point, strategy), execution, estimator=Requested())
    play(session, execution, begins(platform), workload)
    return execution.traces


def play_protocol(point: Point, strategy: Strategy, workload: Workload) -> list[JobRecord]:
    """Play one strategy over the protocol: dynamic jobs in the embedded simulator, as with a real Batsim."""
    records: list[JobRecord] = []
    gate = make_gate(IoControl(point.io_control), IoOrder(point.io_order))
    runtime = ProgramRuntime(Sequenced(), gate, 0, records.append)
    session = Session(_policy(point, strategy), runtime, estimator=Requested())
    platform = _platform(point.protocol.platform)
    data = {
        "nb_res": workload.nb_res,
        "jobs": [{**job.to_object(), "id": job.name} for job in workload.jobs],
        "profiles": workload.profiles,
    }
    options = SimulationOptions(dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
    from simulator.engines.fluid import FluidEngine  # loads kernels

    with FluidEngine(platform) as engine:
        Simulation(platform, [workload_from_object(data)], engine, InProcessLink(session.handle), options).run()
    return records


def file_of(point: Point, folder: Path) -> Path:
    """Where a point's result is kept."""
    return folder / f"{point.id}.json"


def look(point: Point, folder: Path, strategies: Mapping[str, Strategy] = STRATEGIES) -> Found:
    """What is kept of a point (:mod:`experiments.kept`)."""
    return kept.look(file_of(point, folder), _requested(point, strategies), code())


def run_to_file(point: Point, folder: Path, strategies: Mapping[str, Strategy] = STRATEGIES) -> None:
    """Run a point and keep its result."""
    kept.keep(file_of(point, folder), _requested(point, strategies), code(), run(point, strategies))


def read(path: Path) -> Result:
    """Read a kept result."""
    return kept.read(path, Result)


def code() -> str:
    """Hash of the code that decides a result."""
    modules = {POLICIES[strategy.policy].cls.__module__ for strategy in STRATEGIES.values()}
    return code_of(__name__, *sorted(modules))


def _requested(point: Point, strategies: Mapping[str, Strategy]) -> dict[str, Any]:
    platform = provenance.platform_checksum(point.protocol.platform)
    return {"point": point, "strategies": strategies, "platform": platform}


def _policy(point: Point, strategy: Strategy) -> Policy:
    given = point.list_options if strategy.policy == "list" else point.pack_options
    return POLICIES[strategy.policy].build({**strategy.options, **split_assignments(list(given))})


@lru_cache(maxsize=2)
def _platform(name: str) -> Platform:
    """A platform never changes: the runs of a process share it."""
    return platform_from(name)


@lru_cache(maxsize=2)
def begins(name: str) -> SimulationBegins:
    """The simulator's first message, which describes a platform."""
    machines = Machines(_platform(name), {})
    return SimulationBegins(0.0, machines.compute_infos, machines.storage_infos, BatsimConfig())
