"""Counted pools: how much a job requests of each, and why it can never have it.

A pool is a count for the whole machine, such as a site's licenses; a job holds its amounts from its start to its end.

References
----------
SchedMD, *Licenses Guide*: local licenses, ``--licenses=NAME:COUNT,...``.
"""

from __future__ import annotations

import re

import msgspec

from spillway.base.errors import shown
from spillway.schedulers.model.job import LICENSES_FIELD, Job
from spillway.schedulers.model.machine import CountedPool
from spillway.schedulers.model.site import Site

_REQUEST = re.compile(r"\s*([^\s,:]+)\s*(?::\s*(\d{1,10}))?\s*", re.ASCII)


def counted_pools(site: Site) -> tuple[CountedPool, ...]:
    """The counted pools of a site: its licenses."""
    return tuple(CountedPool(license.name, license.count) for license in site.licenses)


def with_pools(job: Job, pools: tuple[CountedPool, ...]) -> tuple[Job, str | None]:
    """The job with the amounts that it requests, and why it can never have them (``None`` where it can).

    Where a site has no pools, what a job names of them counts for nothing.
    """
    text = job.extras.get(LICENSES_FIELD)
    if not pools or not text or not job.nodes:
        return job, None
    amounts = [0] * len(pools)
    places = {pool.name: place for place, pool in enumerate(pools)}
    for part in str(text).split(","):
        found = _REQUEST.fullmatch(part)
        if found is None:
            return (
                job,
                f"its field {LICENSES_FIELD!r} must be name:count, several separated by commas; got {shown(text)}",
            )
        if found[1] not in places:
            return job, f"license {shown(found[1])} is unknown; the site has {', '.join(places)}"
        amounts[places[found[1]]] += int(found[2] or 1)
    for pool, amount in zip(pools, amounts, strict=True):
        if amount > pool.count:
            return job, f"{amount} of license {pool.name} > {pool.count}"
    return msgspec.structs.replace(job, pools=tuple(amounts) if any(amounts) else ()), None
