"""The built-in policies by name; installed packages add theirs (:mod:`spillway.base.entry_points`).

An entry is a policy class with presets, which options can change (``-o key=value``). ``literal`` has the changes that
``--thesis-literal`` makes to reproduce the published numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from spillway.base.entry_points import find, late_class
from spillway.base.options import OptionInfo, build, describe
from spillway.core import StorageOrder
from spillway.schedulers.policykit.view import Policy
from spillway.schedulers.timesharing.rules import PlacementColumns


@dataclass(frozen=True)
class PolicyEntry:
    """One named policy.

    Attributes
    ----------
    place
        The class, a frozen dataclass, callable with a :class:`spillway.schedulers.policykit.view.View`; or its place,
        ``FILE:CLASS`` in this package. A command loads only the policies that it uses.
    summary
        One line for lists and tables.
    preset
        Fields that differ from the class's defaults.
    literal
        Further changes under ``--thesis-literal``.
    source
        Paper and section; empty: those of the class.
    settings
        Default settings of the session under this policy (:mod:`spillway.schedulers.assembly`); not under
        ``--thesis-literal``.
    """

    place: type | str
    summary: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    literal: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def cls(self) -> type:
        """The class."""
        return late_class(__name__, self.place) if isinstance(self.place, str) else self.place

    @property
    def reference(self) -> str:
        """Paper and section that describe the policy."""
        return self.source or str(getattr(self.cls, "source", ""))

    def options(self) -> list[OptionInfo]:
        """The policy's options with the presets as their defaults."""
        return describe(self.cls, self.preset)

    def build(
        self,
        options: Mapping[str, Any] | None = None,
        *,
        literal: bool = False,
        of_site: Mapping[str, Any] | None = None,
    ) -> Policy:
        """Make the policy from ``options``, then options ``of_site``, then presets; the first that states a value wins.

        Raise :class:`spillway.base.errors.OptionError` for wrong options.
        """
        preset = {**self.preset, **(self.literal if literal else {}), **(of_site or {})}
        policy: Policy = build(self.cls, options or {}, preset)
        return policy


_LITERAL_DEPTH = {"literal_depth": True}
_LITERAL_PLAN = {"literal_depth": True, "search": "thesis"}


def _plan(summary: str, **preset: Any) -> PolicyEntry:
    return PolicyEntry("plan:Plan", summary, preset, _LITERAL_PLAN)


def _plan_for_means(summary: str, **preset: Any) -> PolicyEntry:
    entry = _plan(summary, alpha=1.3, beta=0.3, expected=0.875, **preset)
    return replace(entry, settings={"storage_order": StorageOrder.FULLEST_AT_END})


POLICIES: dict[str, PolicyEntry] = {
    "fcfs": PolicyEntry(
        "backfill:Backfill",
        "first come, first served: no job overtakes another",
        {"backfilling": False, "depth": 0},
        source="Kopanski 2020, Algorithm 1",
    ),
    "filler": PolicyEntry(
        "backfill:Backfill",
        "greedy filling: every job that fits starts, in order of submission",
        {"depth": 0},
        source="Kopanski 2020, Algorithm 2",
    ),
    "filler-sjf": PolicyEntry(
        "backfill:Backfill",
        "greedy filling, shortest walltime first",
        {"depth": 0, "fill_order": "sjf"},
        source="Kopanski 2020, Algorithm 2",
    ),
    "easy-no-bb": PolicyEntry(
        "backfill:Backfill",
        "EASY backfilling with reservations of compute nodes only",
        {"covered": "nodes"},
        _LITERAL_DEPTH,
        source="Kopanski 2020, Algorithm 3",
    ),
    "easy": PolicyEntry(
        "backfill:Backfill",
        "EASY backfilling with reservations of nodes and burst buffers",
        {},
        _LITERAL_DEPTH,
        source="Kopanski 2020, Algorithm 4",
    ),
    "sjf-easy": PolicyEntry(
        "backfill:Backfill",
        "EASY backfilling, gaps filled shortest walltime first",
        {"fill_order": "sjf"},
        _LITERAL_DEPTH,
        source="Kopanski 2020, Algorithm 5",
    ),
    "maxutil": PolicyEntry(
        "maxutil:MaxUtil", "utilisation maximising: the order that fills the machine best now", {}, _LITERAL_DEPTH
    ),
    "window": PolicyEntry(
        "window:Window",
        "window-based: the best set of the first jobs that can start together",
        {},
        {**_LITERAL_DEPTH, "size": 10, "method": "largest-first", "placement": "solver"},
    ),
    "bbsched": PolicyEntry(
        "window:Window",
        "BBSched: nodes and burst buffers of the first jobs weighed by a genetic search, then EASY backfilling",
        {"size": 20, "method": "pareto", "reserve": "always", "fill_order": "fcfs"},
        source="Fan et al. 2019 (HPDC), sections 3 and 4",
    ),
    "plan": _plan_for_means(
        "plan-based, for the means: waits to the power 1.3, short jobs weighing more, 7/8 of walltimes planned",
        search="delayed+easy",
        placements=200_000,
    ),
    "plan-mean": _plan_for_means("plan-based: as plan, without EASY's schedule among its orders, and unbounded"),
    "plan-sum": _plan("plan-based: sum of waiting times", alpha=1.0),
    "plan-square": _plan("plan-based: sum of squared waiting times", alpha=2.0),
    "plan-cube": _plan("plan-based: sum of cubed waiting times", alpha=3.0),
    "plan-start": PolicyEntry(
        "plan:Plan",
        "plan-based: latest start of the plan (literally: the sum of starts, as the thesis's code does)",
        {"latest": True},
        {**_LITERAL_PLAN, "latest": False, "alpha": 1.0},
    ),
    "conservative": PolicyEntry(
        "conservative:Conservative", "conservative backfilling: every job has a promise, and it is kept"
    ),
    "list": PolicyEntry(
        "backfill:Backfill",
        "list scheduling: in order as nodes and average I/O bandwidth allow, gaps filled without delaying the first",
        source="Jeannot, Pallez, Vidal 2023, I/O-aware List-scheduling",
    ),
    "slurm-backfill": PolicyEntry(
        "slurm_backfill:SlurmBackfill",
        "Slurm's two schedulers, pass by pass: the main one in order of priority, and sched/backfill",
    ),
    "pack": PolicyEntry(
        "pack:Pack", "packs of jobs that start together, within the average I/O bandwidth over the pack"
    ),
    "gang": PolicyEntry(
        "gang:Gang",
        "gang scheduling: jobs take turns in time slices, on any nodes",
        {},
        source="Zhang et al. 2003, section 3.2",
    ),
    "gang-io": PolicyEntry(
        "gang:Gang",
        "gang scheduling that puts jobs on their file's nodes, or lets them wait",
        {"where": PlacementColumns.FILES},
        source="Zhang et al. 2003, section 3.3",
    ),
    "gang-io-adaptive": PolicyEntry(
        "gang:Gang",
        "gang scheduling that puts jobs on their file's nodes where these are free, else on any",
        {"where": PlacementColumns.FILES_FIRST},
        source="Zhang et al. 2003, section 3.5",
    ),
    "gang-io-migrate": PolicyEntry(
        "gang:Gang",
        "the adaptive kind, which also moves running jobs to their file's nodes",
        {"where": PlacementColumns.FILES_FIRST, "migrate": True},
        source="Zhang et al. 2003, section 3.6",
    ),
    "replay": PolicyEntry("replay:Replay", "the log's own schedule: each job starts at its start time in the log"),
}
"""Every policy by its name on the command line."""


def find_policy(name: str) -> PolicyEntry:
    """Find the entry of a policy by its name.

    Parameters
    ----------
    name
        A name of :data:`POLICIES`, one that an installed package registers in the group ``spillway.policies``,
        ``FILE.py:CLASS``, ``MODULE:CLASS``, or ``FILE.py`` where the file has just one policy.

    Raises
    ------
    OptionError
        The name is unknown (the message lists the known names), or its class cannot be loaded.
    """
    found = find(name, "policy", POLICIES, ("__call__",))
    if isinstance(found, PolicyEntry):
        return found
    return PolicyEntry(found, (found.__doc__ or name).strip().splitlines()[0])
