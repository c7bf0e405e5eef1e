"""A site's limits on burst-buffer bytes per node of a job, by kind of buffer.

References
----------
flux-framework/flux-coral2, ``rabbit.toml``: ``[rabbit.policy.maximums]``, per node, for a striped file system as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spillway.base.errors import OptionError, shown
from spillway.schedulers.model.job import KIND_FIELD, LARGEST_SIZE, Job

PER_NODE, WHOLE = "node", "job"
"""Kinds of buffers of jobs that state no kind: a request per node, or one buffer of the whole job."""


@dataclass(frozen=True)
class _Maxima:
    """Limits of single requests.

    Attributes
    ----------
    most_bytes
        Bytes per node of the job, by kind; other kinds are not limited.
    """

    most_bytes: Mapping[str, int]

    def refuses(self, job: Job) -> str | None:
        """Reason to reject a job: the violated inequality, with sizes in whole granules; else ``None``."""
        kind = _kind_of(job)
        most = self.most_bytes.get(kind)
        size = job.requests * job.bb_bytes
        if most is None or not job.nodes or size <= most * job.nodes:
            return None
        return (
            f"bb {size / job.nodes / 1e9:.10g} GB per node > {most / 1e9:.10g} GB that the site allows for {kind!r} "
            "(bb_maxima)"
        )


def _kind_of(job: Job) -> str:
    """Kind of a job's buffer: the stated kind, else ``WHOLE`` for a striped buffer, else ``PER_NODE``."""
    stated = job.extras.get(KIND_FIELD, job.profile.get(KIND_FIELD))
    if isinstance(stated, str) and stated:
        return stated
    return WHOLE if job.stripes else PER_NODE


def parse_maxima(text: str) -> _Maxima:
    """Make limits from ``KIND=BYTES[,KIND=BYTES...]``.

    Raises
    ------
    OptionError
        The text has another form, a kind twice, or bytes out of range.
    """
    found: dict[str, int] = {}
    for part in text.split(","):
        kind, _, given = part.strip().partition("=")
        try:
            size = float(given)
        except ValueError:
            size = -1.0
        if not kind or kind in found or not 0 <= size < LARGEST_SIZE:
            raise OptionError(
                "setting bb_maxima must be KIND=BYTES[,KIND=BYTES...], each kind once and bytes per node from 0 to "
                f"2^62, such as xfs=5e11,lustre=1e11; got {shown(text)} at {shown(part)}"
            )
        found[kind] = int(size)
    return _Maxima(found)
