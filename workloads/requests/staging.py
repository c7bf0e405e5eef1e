"""Bytes that jobs stage into their burst buffers before they run and out of them afterwards, and the least times.

No public log records either. The bytes are a share of the buffer, or those that a log or Darshan measured. The times
follow the pace of the source (an archive, a file system of another site, a throttled mover), which no machine here
describes. The draws come from streams of their own: a workload with staging has the same jobs and buffers as the one
without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spillway.base.errors import OptionError
from spillway.base.options import Form, build, option, split_assignments
from spillway.workloads.draws import Draws, Floats
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.table import Ints

MEASURED = "measured"
_MOST_MINUTES = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStaging:
    """Staging of each job: bytes per request of its buffer, and the least seconds, in and out."""

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

    The shares and the time are means over jobs. Bytes that a log recorded of a job, read ones in and written ones out,
    are staged up to the size of its buffer.
    """

    share_in: float = option(1.0, low=0, high=1, help="share of a job's buffer that is staged in")
    share_out: float = option(1.0, low=0, high=1, help="share of a job's buffer that is staged out")
    minutes: float = option(
        0.0,
        unit="min",
        low=0,
        high=_MOST_MINUTES,
        help="least time of one staging at the source's own pace; 0: as fast as the machine",
    )
    spread: float = option(
        0.0,
        low=0,
        high=1,
        help="each share and each time is uniform between (1 - spread) and (1 + spread) times its mean, and at most "
        "the whole buffer and 60 minutes; 0 draws nothing",
    )
    volumes: str = option(
        "share", choices=("share", MEASURED), help="bytes by the shares, or those that a log recorded where it did"
    )

    @classmethod
    def parse(cls, text: str) -> StagingModel:
        """Read ``minutes=30,share_in=0.5,...``.

        Raises
        ------
        WorkloadError
            An option is unknown, given twice, or out of its range.
        """
        try:
            return build(cls, split_assignments([part for part in text.split(",") if part]))
        except OptionError as error:
            raise WorkloadError(f"staging: {error}") from None

    def draw(self, request_bytes: Ints, read_bytes: Ints, written_bytes: Ints, seed: int) -> JobStaging:
        """Draw the staging of each job.

        Parameters
        ----------
        request_bytes
            Bytes of a request of each job's buffer; 0: no buffer, nothing is staged.
        read_bytes, written_bytes
            Recorded bytes of each job, divided among its requests; below 0 where not recorded.
        seed
            The same seed gives the same to the job at the same place in the list.
        """
        in_bytes = self._bytes(self.share_in, request_bytes, read_bytes, seed, "stage-in bytes")
        out_bytes = self._bytes(self.share_out, request_bytes, written_bytes, seed, "stage-out bytes")
        return JobStaging(
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
        """Least times (s), in whole milliseconds."""
        minutes = np.minimum(self.minutes * self._factors(len(size), seed, stream), _MOST_MINUTES)
        return np.where(size > 0, np.rint(minutes * 60_000.0) / 1000.0, 0.0)

    def _factors(self, count: int, seed: int, stream: str) -> Floats:
        if not self.spread:
            return np.ones(count)
        return 1.0 + self.spread * (2.0 * Draws(seed, stream).uniform(count) - 1.0)


def _read(text: str) -> str:
    try:
        StagingModel.parse(text)
    except WorkloadError as error:
        raise ValueError(str(error)) from None
    return text


STAGING = Form(_read, str, "KEY=VALUE,...", "minutes=30,spread=0.5")
"""Text of a :class:`StagingModel` as an option."""
