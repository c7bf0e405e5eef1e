"""Factors of fair share and of associations, from the usage of users and accounts.

Usage is in node-seconds of jobs (or as billed), times the usage factor of their QOS, decayed
(:mod:`~spillway.schedulers.policykit.periodic`), and charged by :mod:`spillway.schedulers.model.charging`. Where the
site has no associations, all users seen so far are equal siblings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from spillway.schedulers.model.charging import Charging
from spillway.schedulers.model.fair_tree import FairTree
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.site import Association, Site
from spillway.schedulers.policykit.history import FinishedJob
from spillway.schedulers.policykit.periodic import PeriodicUsage
from spillway.schedulers.policykit.slurm.terms import relative
from spillway.schedulers.policykit.view import View

_GIGABYTE = 1e9
_DECIMALS = 3
"""Decimals of node-seconds: smaller differences come from rounding, and must not break ties."""


class Sharers:
    """Users that share the machine: those of the site's associations, or all users alike.

    Attributes
    ----------
    factors
        Factors of fair share at the last calculation, by place; the last one, 0, is for jobs of unknown users. Users
        added since then have used nothing: 1.
    """

    def __init__(self, site: Site) -> None:
        users = [association for association in site.associations if association.user]
        self._alike = not site.associations
        self._tree = FairTree(site.associations)
        self._places = dict(self._tree.users)
        self._charging = Charging(site)
        part = relative(site, "ASSOC", (association.priority for association in site.associations))
        self._priorities = {(user.account, user.user): part(user.priority) for user in users}
        self._weights = site.weights
        self._usage_factors = {qos.name: qos.usage_factor for qos in site.qos}
        billing = site.weights.billing
        self._billing = np.array([billing.get("node", 0.0 if billing else 1.0), billing.get("bb", 0.0) / _GIGABYTE])
        ends = site.scheduler.enforces_limits  # then Slurm processes them
        self._usage = PeriodicUsage(site.weights.half_life_s, site.weights.period_s, _charged, ends=ends)
        self._charged_to, self._counting = np.zeros(0, np.intp), np.zeros(0)
        self.factors = np.append(np.ones(len(self._places)), 0.0)

    def calculate(self, view: View, time_s: float, arrived: Iterable[Job]) -> None:
        """Calculate the factors at a time up to the view's; ``arrived``: jobs not seen before."""
        used = self._usage.at(view, time_s)
        if self._alike:
            for job in arrived:
                if job.submit_time_s <= time_s:
                    self.place(job.account, job.user)
        if len(self._charged_to) < len(used):
            new = tuple(islice(self._usage.places, len(self._charged_to), None))
            factors = [self._usage_factors.get(self._charging.qos(*charged), 1.0) for charged in new]
            places = [self.place(account, user) for account, user, _ in new]
            self._charged_to = np.append(self._charged_to, np.array(places, np.intp))
            self._counting = np.append(self._counting, factors)
        if len(self._tree.users) < len(self._places):
            self._tree = FairTree([Association("", f"{place}") for place in range(len(self._places))])
        sums = np.zeros(len(self._places) + 1)
        np.add.at(sums, self._charged_to, used @ self._billing * self._counting)
        self.factors = np.append(self._tree.factors(np.round(sums[:-1], _DECIMALS)), 0.0)

    def place(self, account: str, user: str) -> int:
        """Place among the factors; -1 for an unknown user."""
        if not self._alike:
            return self._places.get(self._association_of(account, user), -1)
        if ("", user) not in self._places:
            self._places["", user] = len(self._places)
            self.factors = np.insert(self.factors, -1, 1.0)
        return self._places["", user]

    def association(self, job: Job) -> float:
        """Factor of a job's association: its priority relative to the largest of all."""
        return self._priorities.get(self._association_of(job.account, job.user), 0.0)

    def qos_of(self, job: Job) -> str:
        """QOS of a job: the stated one, else its association's default, else ``normal``."""
        return self._charging.qos(job.account, job.user, job.qos)

    def assumed(self, job: Job) -> Iterator[str]:
        """Assumptions made for a job, as texts."""
        if not (self._weights.fairshare or self._weights.association):
            return
        if self._alike:
            yield "the site has no associations: all users are equal siblings"
        elif self.place(job.account, job.user) < 0:
            account = f" in account {job.account!r}" if job.account else ""
            yield f"user {job.user!r} has no association{account}: factors of fair share and association are 0"

    def _association_of(self, account: str, user: str) -> tuple[str, str]:
        return self._charging.account(account, user), user


def _charged(job: FinishedJob | Job) -> tuple[str, str, str]:
    """Account, user and QOS of a job, by which its usage is grouped."""
    return job.account, job.user, job.qos
