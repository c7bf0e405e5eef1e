"""One episode: a session and a simulation that stop for each choice, without threads."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from spillway.base.errors import OptionError
from spillway.learning.account import Account
from spillway.learning.chooser import Chooser, Turn
from spillway.platforms.model import Platform
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.lives import parse_life
from spillway.schedulers.model.machine import Machine
from spillway.simulator.engines.by_name import ENGINES
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.registry import Workload
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink


@dataclass(frozen=True)
class World:
    """Settings that all episodes share.

    Attributes
    ----------
    platform, path
        The machine, and its file or name.
    engine
        Name of the engine.
    spec
        The session; its policy is the reference policy.
    window, guard_s
        See :class:`spillway.learning.chooser.Chooser`.
    """

    platform: Platform
    path: Path
    engine: str
    spec: SessionSpec
    window: int
    guard_s: float

    def session(self, observer: Observer) -> tuple[Chooser, Session]:
        """A policy with starts that are chosen from outside, and a session under it.

        Raises
        ------
        OptionError
            A setting is unknown, or settings cannot be combined.
        """
        spec = self.spec
        reference, settings = spec.make_policy(), spec.make_settings()
        spec.check()
        if hasattr(reference, "sharing"):
            raise OptionError(f"policy {spec.policy.policy!r} lets jobs share nodes in time: here each job has its own")
        if parse_life(settings.bb_life).apart:
            raise OptionError(f"bb_life={settings.bb_life}: here a job is given its nodes and its buffer together")
        chooser = Chooser(reference, self.window, self.guard_s)
        return chooser, spec.session(observer, policy=chooser)


class Episode:
    """Play a workload, one choice after another.

    Parameters
    ----------
    world
        Settings shared by all episodes.
    workload
        The workload; its jobs are consumed.
    account
        Observer that adds up the cost.
    export
        Prefix of Batsim's tables; ``None``: no tables are written.
    """

    def __init__(self, world: World, workload: Workload, account: Account, export: str | None = None) -> None:
        self._chooser, self._session = world.session(account)
        self._open = ExitStack()
        engine = ENGINES[world.engine](world.platform, world.path)
        self._open.enter_context(engine)
        self._simulation = Simulation(
            world.platform,
            [workload],
            engine,
            InProcessLink(self._session),
            SimulationOptions(export=export, fail_on_deadlock=True, **world.spec.needs().options),
        )
        self._open.callback(self._simulation.abandon)

    @property
    def machine(self) -> Machine:
        """The machine, once :meth:`begin` has been called."""
        return self._session.machine

    def begin(self) -> Turn | None:
        """Simulate up to the first choice; ``None``: the simulation has ended without one."""
        self._simulation.begin()
        return self._stopped()

    def choose(self, action: int) -> Turn | None:
        """Carry out an action, and simulate up to the next choice; ``None``: the simulation is over."""
        self._chooser.action, self._chooser.turn = action, None
        self._simulation.go_on()
        return self._stopped()

    def _stopped(self) -> Turn | None:
        turn = self._chooser.turn
        if turn is None:
            self._open.close()
        return turn

    def close(self) -> None:
        """Release all resources; closing twice does no harm."""
        self._open.close()
