"""Parameters of a site's schedulers as options of a policy that has Slurm's names for them.

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

_NO_PARAMETERS = frozenset(
    {"backfill", "preempt", "preempts", "exempt_s", "over_time_limit_s", "kill_wait_s", "enforce", "others"}
)
"""Fields of a site's scheduler that are not names of ``SchedulerParameters``."""

_LEAST = "bf_min_prio_reserve"
"""A parameter without effect where jobs have no priorities."""


class SiteOptions(NamedTuple):
    """Parameters that a site states for a policy's schedulers.

    Attributes
    ----------
    options
        Values of the policy's options, by name.
    without
        Parameters of the site for which the policy has no option, by Slurm's names.
    """

    options: Mapping[str, Any]
    without: tuple[str, ...]

    @property
    def text(self) -> str:
        """The options as on a command line."""
        return ",".join(f"{name}={show(value)}" for name, value in self.options.items())

    def words(self, given: Mapping[str, Any]) -> str:
        """Describe options from the site, those given otherwise, and unplayed parameters; "" without any."""
        taken = SiteOptions({name: value for name, value in self.options.items() if name not in given}, ()).text
        own = ", ".join(name for name in self.options if name in given)
        parts = (("from the site: ", taken), ("given in place of the site's: ", own))
        found = [what + which for what, which in parts if which]
        return "; ".join(found + ([f"not played: {', '.join(self.without)}"] if self.without else []))


def site_options(site: Site, infos: Collection[OptionInfo], given: Mapping[str, Any]) -> SiteOptions:
    """Parameters of a site's schedulers, and the order ``multifactor`` if it has weights of priority.

    Parameters
    ----------
    site
        The site.
    infos
        Options of the policy.
    given
        Options chosen by the user: orders without priorities have no least priority.

    Raises
    ------
    OptionError
        A value of the site is out of the option's range.
    """
    known = {info.name: info for info in infos}
    every = dict(_stated(site.scheduler))
    if site.weights != Weights():
        every = {"order": MULTIFACTOR, **every}
    without = [] if site.scheduler.backfill else ["SchedulerType=sched/builtin"]
    if given.get("order", every.get("order")) != MULTIFACTOR and every.pop(_LEAST, None):
        without.append(f"{_LEAST} (jobs have no priorities)")
    without += [name for name in every if name not in known]
    without += [parameter for parameter in site.scheduler.others if parameter != YOUNGEST_FIRST]
    found = {}
    for name in [name for name in every if name in known]:
        try:
            found[name] = parse(known[name], every[name] / 60 if known[name].unit == "min" else every[name], typed=True)
        except OptionError as error:
            raise OptionError(f"setting site: table scheduler: {error}") from None
    return SiteOptions(found, tuple(without))


def _stated(scheduler: Scheduler) -> Iterator[tuple[str, Any]]:
    """Stated parameters, by Slurm's names."""
    for field in scheduler.__struct_fields__:
        value = getattr(scheduler, field)
        if field not in _NO_PARAMETERS and value != getattr(Scheduler(), field):
            yield field.removesuffix("_s"), value
