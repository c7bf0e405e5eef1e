"""The environment: gymnasium's interface of an episode."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from spillway.base.errors import OptionError, shown
from spillway.base.options import unknown
from spillway.learning import observation
from spillway.learning.account import Account, Reward
from spillway.learning.chooser import Turn
from spillway.learning.episode import Episode, World
from spillway.learning.observation import Observation, ObservationEncoder
from spillway.platforms.catalogue import platform_from
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.description import ModelSpec, PolicySpec
from spillway.simulator.engines.by_name import ENGINES
from spillway.simulator.reading.registry import Workload as Simulated
from spillway.simulator.reading.workload import workload_from_object
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.conversion.split import part_of
from spillway.workloads.load import load_workload

_OF_SESSION = ("options", "model", "settings", "seed")
"""Parameters of the session."""
_LARGEST_WINDOW = 1024
_IN_VAIN = 100
"""Number of drawn episodes without a choice after which the workload is refused."""


def space(window: int) -> spaces.Dict[Any]:
    """The space of observations."""
    tables = observation.shapes(window)
    return spaces.Dict({name: spaces.Box(0.0, 1.0, shape, np.float32) for name, shape in tables.items()})


class SchedulingEnv(gymnasium.Env[Observation, np.int64]):
    """Schedule jobs on a machine with burst buffers, one start after another.

    An action is a place in the window of the first waiting jobs (start that job), :attr:`reference` (the reference
    policy decides the rest of this pass) or :attr:`wait` (nothing more is started in this pass). One that the mask
    excludes counts as :attr:`wait`, and as :attr:`reference` where that is excluded too; ``info["invalid"]`` says so.

    Parameters
    ----------
    workload
        A Batsim workload, a log or a generator (``kth-like:jobs=2000,seed=1``), as
        :func:`spillway.workloads.load.load_workload` takes it.
    platform
        A built-in machine, a description or a SimGrid file.
    jobs
        Consecutive jobs of an episode, drawn from the workload by the seed of :meth:`reset`; the machine is empty in
        the beginning. ``None``: all jobs, as they are.
    window
        Number of waiting jobs that are observed and can be chosen.
    reference
        The reference policy by name.
    engine
        Engine of the simulation, by name.
    reward
        ``wait`` or ``slowdown``: cost of a waiting job (:data:`spillway.learning.account.RATES`). A reward is minus the
        cost since the last decision, divided by the number of jobs.
    guard_s
        Wait (s) after which choices no longer delay the oldest job; default: infinite.
    folder
        Folder for Batsim's tables of each episode (``out_jobs.csv``); default: no tables are written.
    **session
        ``options`` of the reference policy; job ``model`` by name (default: the one that goes with the policy);
        ``settings`` of the session; ``seed`` of the reference policy's random draws, the same in all episodes.

    Raises
    ------
    OptionError, WorkloadError, PlatformError
        A parameter is unknown or out of range; one line names it.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # as gymnasium declares it

    def __init__(
        self,
        workload: str = "kth-like:jobs=5000,seed=1",
        platform: str = "thesis",
        *,
        jobs: int | None = 256,
        window: int = 32,
        reference: str = "easy",
        engine: str = "fluid",
        reward: str = "wait",
        guard_s: float = float("inf"),
        folder: str | Path | None = None,
        **session: Any,
    ) -> None:
        texts = {"workload": workload, "platform": platform, "reference": reference}
        for name, value in texts.items():
            if not isinstance(value, str | Path):
                raise OptionError(f"{name}: expected a text, got {shown(value)}")
        workload, platform = str(workload), str(platform)
        _check(window, guard_s, engine, reward)
        for name in session.keys() - {*_OF_SESSION}:
            raise OptionError(unknown(name, [*_OF_SESSION]))
        for name in ("options", "settings"):
            if not isinstance(session.get(name) or {}, Mapping):
                raise OptionError(f"{name}: expected values by name, got {shown(session[name])}")
        if not _is_whole(session.get("seed") or 0):
            raise OptionError(f"seed: expected a whole number, got {shown(session['seed'])}")
        policy = PolicySpec(reference, options=session.get("options") or {}, session=session.get("settings") or {})
        spec = SessionSpec(policy, ModelSpec(session.get("model") or ""), seed=session.get("seed") or 0)
        machine = platform_from(platform)
        self._world = World(machine, Path(platform), engine, spec, window, guard_s)
        self._world.session(Observer())  # refuses invalid combinations
        source = load_workload(workload, MachineFacts.from_platform(machine))
        if jobs is not None and not (_is_whole(jobs) and 1 <= jobs <= len(source.jobs)):
            raise OptionError(
                f"jobs={shown(jobs)}: an episode has from 1 to {len(source.jobs)} jobs, those of {workload}"
            )
        self._cases = Cases(source, jobs)
        self._draws = 1 if jobs is None else _IN_VAIN
        self._reward = Reward(reward)
        self._export = None if folder is None else str(Path(folder) / "out")
        self._episode: Episode | None = None
        self._account = Account(self._reward)
        self._turn: Turn | None = None
        self._valid: list[bool] = []
        self._eyes: ObservationEncoder
        self.reference, self.wait = window, window + 1
        self.observation_space: spaces.Dict[Any] = space(window)  # type: ignore[assignment]
        self.action_space = spaces.Discrete(window + 2)
        self._nothing = observation.nothing(window)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: simulate up to the first choice.

        Raises
        ------
        OptionError
            Nothing can be chosen: all jobs are rejected, or fit only when the reference policy has started them.
        """
        super().reset(seed=seed)
        for _ in range(self._draws):
            self.close()
            self._account = Account(self._reward)
            workload = self._cases.draw(self.np_random)
            self._episode = Episode(self._world, workload, self._account, self._export)
            self._turn = self._episode.begin()
            if self._turn is not None:
                self._eyes = ObservationEncoder(self._episode.machine, self._world.window)
                self._account.until(self._turn.view.now_s)
                return self._seen()
        raise OptionError(
            f"in {self._draws} episodes there was nothing to choose: are all jobs larger than the machine?"
        )

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out an action, and simulate up to the next choice or the end.

        Raises
        ------
        OptionError
            The action is out of range, or the episode is over.
        """
        if self._turn is None or self._episode is None:
            raise OptionError("the episode is over, or was not begun: call reset() first")
        if not _is_whole(action) or not 0 <= int(action) <= self.wait:
            raise OptionError(f"action {shown(action)}: expected a whole number from 0 to {self.wait}")
        chosen = int(action)
        invalid = not self._valid[chosen]
        if invalid:
            chosen = self.wait if self._turn.may_wait else self.reference
        before = self._account.cost
        self._turn = self._episode.choose(chosen)
        if self._turn is not None:
            self._account.until(self._turn.view.now_s)
        seen, info = self._seen()
        info["invalid"] = invalid
        return seen, (before - self._account.cost) / len(self._cases), self._turn is None, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Mask of the valid actions, for sb3-contrib's ``MaskablePPO``; all false when the episode is over."""
        mask = np.zeros(self.wait + 1, np.bool_)
        if self._turn is not None:
            mask[: len(self._turn.fits)] = self._turn.fits
            mask[self.reference], mask[self.wait] = True, self._turn.may_wait
        return mask

    def close(self) -> None:
        """Abandon an episode that is under way."""
        if self._episode is not None:
            self._episode.close()
        self._episode = self._turn = None

    def _seen(self) -> tuple[Observation, dict[str, Any]]:
        mask = self.action_masks()
        self._valid = mask.tolist()
        if self._turn is None:
            return self._nothing, {"action_mask": mask} | self._account.result()
        return self._eyes.see(self._turn), {"action_mask": mask, "now_s": self._turn.view.now_s}


def _is_whole(value: Any) -> bool:
    """Whether a value is a whole number, also one of NumPy, perhaps as an array without dimensions."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def _check(window: int, guard_s: float, engine: str, reward: str) -> None:
    if not _is_whole(window) or not 1 <= window <= _LARGEST_WINDOW:
        raise OptionError(f"window={shown(window)}: expected from 1 to {_LARGEST_WINDOW} jobs")
    if not isinstance(guard_s, int | float) or not guard_s >= 0:
        raise OptionError(f"guard_s={shown(guard_s)}: expected a number of seconds of at least 0")
    known_names = {"engine": (engine, tuple(ENGINES)), "reward": (reward, tuple(kind.value for kind in Reward))}
    for name, (value, known) in known_names.items():
        if value not in known:
            raise OptionError(f"{name}={value!r}: expected one of {', '.join(known)}")


_FIRST_SUBMIT_S = 1
"""Submission of the first job of a window (s)."""


class Cases:
    """Workloads for episodes.

    Parameters
    ----------
    workload
        Source of the jobs.
    jobs
        Jobs of an episode; ``None``: all, as they are.
    """

    def __init__(self, workload: Workload, jobs: int | None) -> None:
        self._workload, self._jobs = workload, jobs
        self._order = sorted(range(len(workload.jobs)), key=lambda index: workload.jobs[index].subtime)

    def __len__(self) -> int:
        """Jobs of an episode."""
        return self._jobs if self._jobs is not None else len(self._order)

    def draw(self, rng: np.random.Generator) -> Simulated:
        """Make the next episode's workload; draw its first job unless all jobs are taken."""
        chosen = self._workload
        if self._jobs is not None:
            first = int(rng.integers(len(self._order) - self._jobs + 1))
            chosen = part_of(chosen, first, self._order[first : first + self._jobs], _FIRST_SUBMIT_S)
        jobs = [job.to_object() for job in chosen.jobs]
        return workload_from_object({"nb_res": chosen.nb_res, "jobs": jobs, "profiles": chosen.profiles})
