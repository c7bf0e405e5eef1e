"""The guard's checks outside the core: layers of resources, persistent buffers.

The core checks each start and hold once (``core/session/guard.hpp``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import spillway.core as native
from spillway.base.errors import DecisionRefused, shown
from spillway.schedulers.core import layers
from spillway.schedulers.core.book import Book
from spillway.schedulers.model.decisions import Create, Destroy
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.persistent import Creation, Pool, as_request


def check_layers(book: Book, job: Job, allocation: Allocation) -> None:
    """Refuse an allocation with other amounts of hierarchical resources than its nodes demand."""
    if (allocation.pools or job.pools) and any(pool.layer for pool in book.machine.pools):
        wrong = layers.fault(book.machine, job, allocation.nodes, allocation.pools)
        if wrong is not None:
            raise DecisionRefused(job.id, wrong)


def check_create(words: Any, book: Book, pool: Pool, waiting: bool, decision: Create) -> Creation:
    """Refuse to create a persistent buffer unless a waiting job requests just that, and it is free.

    ``words``: the session, which raises the core's refusals in words.
    """
    job = decision.job
    creation = pool.open_creation(job.id, decision.name) if waiting else None
    if creation is None:
        raise DecisionRefused(job.id, f"it waits for no creation of a persistent buffer {shown(decision.name)}")
    name, allocation = creation.name, decision.allocation
    try:
        if name in book.kept:
            raise DecisionRefused(job.id, f"the persistent buffer {shown(name)} exists already")
        if allocation.nodes or allocation.io_rate:
            raise DecisionRefused(job.id, f"a persistent buffer has neither nodes nor bandwidth, got {allocation}")
        native.check_storages(words, book, as_request(job, creation), allocation)
    except DecisionRefused as refused:
        raise DecisionRefused(job.id, f"persistent buffer {name}: {refused.reason}") from None
    return creation


def check_destroy(pool: Pool, decision: Destroy, waiting: bool, running: Iterable[str]) -> None:
    """Refuse to destroy a persistent buffer unless a waiting job requests that, and no running job uses it."""
    job_id, name = decision.job.id, decision.name
    requests = pool.requests.get(job_id) if waiting else None
    if requests is None or name not in requests.destroys_first or (job_id, name) in pool.done:
        raise DecisionRefused(job_id, f"it waits for no end of a persistent buffer {shown(name)}")
    if name not in pool.buffers:
        raise DecisionRefused(job_id, f"the persistent buffer {shown(name)} does not exist")
    users = [job for job in running if job in pool.requests and name in pool.requests[job].uses]
    if users:
        raise DecisionRefused(job_id, f"the persistent buffer {shown(name)} is used by job {shown(users[0])}")
