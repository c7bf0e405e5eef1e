"""One world played with a scheduler, by the embedded simulator, and watched."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from spillway.base.errors import DecisionRefused, PeerLost, ProtocolError
from spillway.experiments.run.errors import RunFailed
from spillway.experiments.trials.conformance.disciplines import SAFETY
from spillway.experiments.trials.conformance.observer import EXACT_S, Broken, Observer
from spillway.experiments.trials.conformance.subject import Subject
from spillway.experiments.trials.conformance.world import World, platform_xml
from spillway.platforms.model import Platform
from spillway.platforms.xml_reader import parse_platform
from spillway.protocol.messages import Message, Reply
from spillway.simulator.engines.fixed import FixedEngine
from spillway.simulator.errors import Deadlock, Refused
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import Link


@dataclass(frozen=True)
class Played:
    """What was seen: faults by requirement, and when each job was started (s), by its number from 1."""

    faults: Mapping[str, str]
    starts: Mapping[int, float]


@dataclass(frozen=True)
class _Watched:
    """A link whose two directions an observer sees."""

    link: Link
    observer: Observer

    def exchange(self, message: Message) -> Reply | None:
        """Pass a message on, and its reply back."""
        self.observer.message(message)
        reply = self.link.exchange(message)
        if reply is not None:
            self.observer.reply(reply)
        return reply

    def close(self) -> None:
        """The link is closed by who opened it."""


def play(subject: Subject, world: World) -> Played:
    """Play a world once."""
    observer = Observer()
    faults = observer.faults
    platform = _platform(world.nodes, world.storages, world.gb)
    options = SimulationOptions(fail_on_deadlock=True)
    try:
        with subject.talk() as link, FixedEngine(platform) as engine:
            workload = workload_from_object(world.workload())
            Simulation(platform, [workload], engine, _Watched(link, observer), options).run()
    except Broken:
        pass
    except Deadlock:
        observer.stuck()
    except (ProtocolError, Refused, DecisionRefused, PeerLost, RunFailed) as error:
        faults.setdefault("protocol", " ".join(str(error).split()))
    return Played(faults, {int(job_id.partition("!")[2]): at_s for job_id, at_s in observer.starts.items()})


def judged(subject: Subject, world: World, requirements: frozenset[str]) -> dict[str, str]:
    """Which of these requirements are broken in a world, in words."""
    played = play(subject, world)
    faults = {name: words for name, words in played.faults.items() if name in requirements}
    if "promises" in requirements and not played.faults.keys() & set(SAFETY):
        words = _promises(subject, world, played)
        faults |= {"promises": words} if words else {}
    return faults


def _promises(subject: Subject, world: World, played: Played) -> str:
    """Whether a job starts later than it was promised, in words.

    What was promised is seen by playing the world as it looked when the job was submitted: without later jobs, and with
    whole walltimes for what had not ended by then. A scheduler that decides alike on equal messages is presumed.
    """
    for number, job in enumerate(world.jobs, 1):
        start_s = played.starts.get(number)
        if start_s is None:
            continue
        known = tuple(
            other if _ended(other.run_s, played.starts.get(place), job.submit_s) else other._replace(run_s=0)
            for place, other in enumerate(world.jobs[:number], 1)
        )
        promised_s = play(subject, msgspec.structs.replace(world, jobs=known)).starts.get(number, start_s)
        if start_s > promised_s + EXACT_S:
            return (
                f"job {number} starts at {start_s:g} s; when it was submitted, at {job.submit_s} s, it would have "
                f"started at {promised_s:g} s had no further job come and all runs taken their walltimes"
            )
    return ""


def _ended(run_s: int, start_s: float | None, now_s: int) -> bool:
    """Whether a job had ended by itself."""
    return bool(run_s) and start_s is not None and start_s + run_s < now_s - EXACT_S


@functools.lru_cache(maxsize=64)
def _platform(nodes: int, storages: int, gb: int) -> Platform:
    return parse_platform(platform_xml(nodes, storages, gb), "a world's machine")
