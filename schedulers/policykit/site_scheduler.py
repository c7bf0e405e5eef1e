"""How a site's schedulers are set, as options of a policy that has Slurm's names for them.

References
----------
SchedMD, *slurm.conf*: ``SchedulerParameters``, ``SchedulerType``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from spillway.base.errors import OptionError
from spillway.base.options import OptionInfo, parse, show
from spillway.schedulers.model.preemption import YOUNGEST_FIRST
from spillway.schedulers.model.site import Site, Weights
from spillway.schedulers.model.site_parts import Scheduler
from spillway.schedulers.policykit.ordering import MULTIFACTOR

_NO_PARAMETERS = frozenset({"backfill", "preempt", "preempts", "exempt_s", "enforce", "others"})
"""Fields of a site's scheduler that are none of ``SchedulerParameters`` by name."""

_LEAST = "bf_min_prio_reserve"
"""Means nothing where jobs have no priorities."""


class SiteOptions(NamedTuple):
    """What a site states of a policy's schedulers.

    Attributes
    ----------
    options
        Values of the policy's options, by name.
    without
        Parameters of the site's that the policy has no option for, as Slurm names them.
    """

    options: Mapping[str, Any]
    without: tuple[str, ...]

    @property
    def text(self) -> str:
        """The options as a command line takes them."""
        return ",".join(f"{name}={show(value)}" for name, value in self.options.items())

    def words(self, given: Mapping[str, Any]) -> str:
        """Which options are the site's, which of these are given otherwise, and what is none; "": nothing is stated."""
        taken = SiteOptions({name: value for name, value in self.options.items() if name not in given}, ()).text
        own = ", ".join(name for name in self.options if name in given)
        parts = (("from the site: ", taken), ("given in place of the site's: ", own))
        found = [what + which for what, which in parts if which]
        return "; ".join(found + ([f"not played: {', '.join(self.without)}"] if self.without else []))


def site_options(site: Site, infos: Collection[OptionInfo], given: Mapping[str, Any]) -> SiteOptions:
    """What a site states: its schedulers' parameters, and the order ``multifactor`` where it has weights of priority.

    Parameters
    ----------
    site
        The site.
    infos
        Options of the policy.
    given
        Options that the user chose: in an order without priorities there is no least one.

    Raises
    ------
    OptionError
        A value of the site's is out of the option's range.
    """
    known = {info.name: info for info in infos}
    every = dict(_stated(site.scheduler))
    if site.weights != Weights():
        every = {"order": MULTIFACTOR, **every}
    without = [] if site.scheduler.backfill else ["SchedulerType=sched/builtin"]
    if given.get("order", every.get("order")) != MULTIFACTOR and every.pop(_LEAST, None):
        without.append(f"{_LEAST} (jobs have no priorities)")
    without += [name for name in every if name not in known]
    without += [one for one in site.scheduler.others if one != YOUNGEST_FIRST]
    found = {}
    for name in [name for name in every if name in known]:
        try:
            found[name] = parse(known[name], every[name] / 60 if known[name].unit == "min" else every[name], typed=True)
        except OptionError as error:
            raise OptionError(f"setting site: table scheduler: {error}") from None
    return SiteOptions(found, tuple(without))


def _stated(scheduler: Scheduler) -> Iterator[tuple[str, Any]]:
    """Parameters that are stated, by Slurm's names."""
    for field in scheduler.__struct_fields__:
        value = getattr(scheduler, field)
        if field not in _NO_PARAMETERS and value != getattr(Scheduler(), field):
            yield field.removesuffix("_s"), value
