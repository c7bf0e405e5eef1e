"""Records of one conversation, and the requests of the present answer: all parts of a session work on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from spillway.base.errors import OptionError
from spillway.core import DemandRow
from spillway.protocol.messages import Request, SimulationBegins
from spillway.schedulers.core.admission import Admission
from spillway.schedulers.core.arrivals import Arrivals
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.counted_pools import Counted
from spillway.schedulers.core.dependents import Dependents
from spillway.schedulers.core.execution import Runtime
from spillway.schedulers.core.layers import layer_pools
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.outages import Outages, require_restarts
from spillway.schedulers.core.partitions import node_sets
from spillway.schedulers.core.preemption import Notices
from spillway.schedulers.core.queue import Queue
from spillway.schedulers.core.terms import Ground, JobTerms, SiteTerms
from spillway.schedulers.core.wire_guard import WireGuard
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import Pool
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.estimates import Estimator


class Records:
    """The records of one conversation. Those after :attr:`machine` are set when it begins.

    Parameters
    ----------
    runtime, observer, ground, jobs, site, estimator
        See :class:`spillway.schedulers.core.session.Session`.

    Attributes
    ----------
    now_s
        Time of the present message (s).
    requests
        Requests of its answer so far.
    dirty
        Whether anything that the policy sees has changed since its last pass.
    static_done
        Whether the simulator has submitted all its static jobs.
    arrivals, dependents, queue, outages, notices
        Checks of messages; jobs held by dependencies; waiting jobs; outages; preempted jobs.
    filled_s
        Ends of the stage-ins of waiting jobs (s), by job.
    notebook
        Data of the policy's own.
    machine
        The machine; ``None`` before the conversation has begun.
    book, counted, admission, pool, wire
        Held resources; counted pools; admission of jobs; persistent buffers; Batsim's records.
    """

    def __init__(
        self,
        runtime: Runtime,
        observer: Observer,
        ground: Ground,
        jobs: JobTerms,
        site: SiteTerms,
        estimator: Estimator,
    ) -> None:
        if jobs.lives is not None and ground.timeline.holds_nodes_longer:
            raise OptionError(
                "holdings with lives of their own and the published timeline exclude each other: the published "
                "scheduler held burst buffers as long as nodes"
            )
        self.runtime, self.observer = runtime, observer
        self.site = site.site
        self._ground, self._jobs, self._estimator = ground, jobs, estimator
        self.now_s = 0.0
        self.requests: list[Request] = []
        self.dirty = self.static_done = False
        self.arrivals, self.dependents = Arrivals(), Dependents()
        self.queue = Queue(self._demand_row)
        self.outages = Outages(site.on_outage)
        self.notices = Notices(site.site or Site(), site.suspend, site.rest)
        self.filled_s: dict[str, float] = {}
        self.notebook: dict[str, Any] = {}
        self.machine: Machine | None = None
        self.book: Book
        self.counted: Counted
        self.admission: Admission
        self.pool: Pool
        self.wire: WireGuard

    def begin(self, event: SimulationBegins) -> None:
        """Begin the conversation, with the machine and the simulator's settings.

        Raises
        ------
        RemoteProtocolError
            The machine cannot be read, or a needed setting of the simulator is off.
        """
        ground, jobs, site = self._ground, self._jobs, self.site or Site()
        self.arrivals.begin(event)
        machine = Machine.from_simulation_begins(event, ground.defaults)
        if jobs.demand is not None and jobs.demand.from_storages:
            machine = machine.trunk()
        sets, layers = node_sets(site, len(machine.nodes)), layer_pools(site, len(machine.nodes))
        self.counted = Counted(site, layers, sets, self._alive)
        machine = dataclasses.replace(machine, partitions=sets, pools=self.counted.pools)
        self.machine = machine.stacked(self.runtime.rows)
        timeline = ground.timeline(self.machine, self.now_s, ground.placement)
        self.book = Book(self.machine, timeline, self._estimator)
        unplayable = jobs.unplayable or self.runtime.refuses
        self.admission = Admission(
            self.machine, event.profiles, ground.placement, ground.timeline, self._estimator, unplayable, jobs.demand,
            jobs.lives, site, self.counted,
        )  # fmt: skip
        self.pool = Pool(self.book.kept, self.book)
        self.wire = WireGuard(event.config, event.profiles)
        rule, preempts = self.outages.rule, self.notices.rules.requeues
        if rule.requeues or preempts:
            setting = f"setting on_outage={rule.value}" if rule.requeues else "site, which requeues preempted jobs,"
            require_restarts(event.config, f"the {setting}")
            self.outages.acknowledged = event.config.dynamic_jobs_acknowledged
        self.runtime.begin(machine, event.config)

    def send(self, requests: Iterable[Request]) -> None:
        """Check requests and add them to the answer; DecisionRefused for one that would make Batsim abort."""
        self.wire.check(requests)
        self.requests.extend(requests)

    def check(self) -> None:
        """Assert that queue, book and runtime agree with each other."""
        self.book.check()
        self.runtime.check()
        self.queue.check()
        assert self.queue.jobs.keys().isdisjoint(self.book.running), "a job waits and runs at once"
        elsewhere = self.queue.jobs.keys() | self.book.running.keys()
        assert elsewhere.isdisjoint(self.dependents.held), "a job is held by others, and waits or runs at once"

    def _demand_row(self, job: Job) -> DemandRow:
        return self.book.timeline.demand_of(job)

    def _alive(self, job_id: str) -> bool:
        """Whether a job waits, is held by others, or holds anything."""
        return job_id in self.queue.jobs or job_id in self.dependents.held or self.book.parts_of(job_id) is not None
