"""What jobs stage into their burst buffers before they run and out of them afterwards, and how long it takes at least.

No public log records either. The bytes are a share of the buffer, or what a log or Darshan measured. The times are the
pace of the source (an archive, a file system of another site, a throttled mover), which no machine here describes.
Its draws come from streams of their own: a workload with staging has the same jobs and buffers as the one without.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from spillway.workloads.draws import Draws, Floats
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.table import Ints

MEASURED = "measured"
MOST_MINUTES = 60.0

_RANGES = {"share_in": 1.0, "share_out": 1.0, "minutes": MOST_MINUTES, "spread": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """What each job stages: bytes of a request of its buffer, and the least seconds, in and out."""

    in_bytes: Ints
    out_bytes: Ints
    in_s: Floats
    out_s: Floats

    def fields(self, *, moved: bool = True) -> dict[str, Any]:
        """The columns by the names of the jobs' fields; without the bytes where no bytes are moved."""
        size = {"stage_in_bytes": self.in_bytes, "stage_out_bytes": self.out_bytes} if moved else {}
        return size | {"stage_in_s": self.in_s, "stage_out_s": self.out_s}


@dataclass(frozen=True, slots=True, kw_only=True)
class StagingModel:
    """Bytes to stage, and the least time that staging them takes.

    Attributes
    ----------
    share_in, share_out
        Share of a job's buffer that is staged in and out, 0 to 1: the mean over jobs.
    minutes
        Least time of one staging at the source's own pace, 0 to 60 minutes: the mean over jobs. 0: as fast as the
        machine.
    spread
        Each share and each time is uniform between (1 - spread) and (1 + spread) times its mean, and at most the whole
        buffer and 60 minutes; 0 to 1. The default draws nothing.
    volumes
        ``share``, or ``measured``: the bytes that a log recorded of a job, read ones in and written ones out, no more
        than its buffer; the shares where it recorded none.
    """

    share_in: float = 1.0
    share_out: float = 1.0
    minutes: float = 0.0
    spread: float = 0.0
    volumes: str = "share"

    def __post_init__(self) -> None:
        for name, most in _RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise WorkloadError(f"staging option {name!r} must be a number from 0 to {most:g}, got {value!r}")
        if self.volumes not in ("share", MEASURED):
            raise WorkloadError(f"staging option 'volumes' must be one of share, measured; got {self.volumes!r}")

    @classmethod
    def parse(cls, text: str) -> StagingModel:
        """Read ``minutes=30,share_in=0.5,...``.

        Raises
        ------
        WorkloadError
            An option is unknown, given twice, or out of its range.
        """
        known = [field.name for field in fields(cls)]
        given: dict[str, Any] = {}
        for part in filter(None, text.split(",")):
            name, equals, value = part.partition("=")
            if name not in known or not equals:
                raise WorkloadError(f"expected option=value,... with the options {', '.join(known)}; got {part!r}")
            if name in given:
                raise WorkloadError(f"staging option {name!r} is given twice")
            try:
                given[name] = value if name == "volumes" else float(value)
            except ValueError:
                raise WorkloadError(f"staging option {name!r} must be a number, got {value!r}") from None
        return cls(**given)

    def draw(self, request_bytes: Ints, read_bytes: Ints, written_bytes: Ints, seed: int) -> Staged:
        """Draw what each job stages.

        Parameters
        ----------
        request_bytes
            Bytes of a request of each job's buffer; 0: the job has none, and stages nothing.
        read_bytes, written_bytes
            What was recorded of each job, shared out to its requests; below 0 where nothing was.
        seed
            The same seed gives the same to the job at the same place in the list.
        """
        in_bytes = self._bytes(self.share_in, request_bytes, read_bytes, seed, "stage-in bytes")
        out_bytes = self._bytes(self.share_out, request_bytes, written_bytes, seed, "stage-out bytes")
        return Staged(
            in_bytes=in_bytes,
            out_bytes=out_bytes,
            in_s=self._seconds(in_bytes, seed, "stage-in time"),
            out_s=self._seconds(out_bytes, seed, "stage-out time"),
        )

    def _bytes(self, share: float, request_bytes: Ints, recorded: Ints, seed: int, stream: str) -> Ints:
        shares = np.minimum(share * self._factors(len(request_bytes), seed, stream), 1.0)
        size = np.minimum(np.rint(shares * request_bytes).astype(np.int64), request_bytes)
        if self.volumes != MEASURED:
            return size
        return np.where(recorded >= 0, np.minimum(recorded, request_bytes), size)

    def _seconds(self, size: Ints, seed: int, stream: str) -> Floats:
        """Whole milliseconds."""
        minutes = np.minimum(self.minutes * self._factors(len(size), seed, stream), MOST_MINUTES)
        return np.where(size > 0, np.rint(minutes * 60_000.0) / 1000.0, 0.0)

    def _factors(self, count: int, seed: int, stream: str) -> Floats:
        if not self.spread:
            return np.ones(count)
        return 1.0 + self.spread * (2.0 * Draws(seed, stream).uniform(count) - 1.0)
