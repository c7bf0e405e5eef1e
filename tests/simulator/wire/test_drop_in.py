"""The same scheduler with our engines and, if its binary is there, with Batsim itself: the same schedule.

``BATSIM`` names the binary of a Batsim 4.x; without it that part is skipped.
"""

import lzma
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from spillway.protocol import messages as m
from spillway.simulator.errors import EngineUnavailable
from spillway.simulator.wire.command import main
from tests.kit.tables import csv_rows
from tests.simulator.peers import decoded, listening

STORAGE = ",".join(f"node_{number}" for number in range(0, 108, 9))
COMPUTE_COUNT = 96
TEXTS = ("job_id", "workload_name", "profile", "success", "final_state", "allocated_resources", "metadata")
TIMES = ("submission_time", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time")


class FirstFit:
    """Starts all jobs that fit, first come first served; each job is followed by a transfer that it registers."""

    def __init__(self) -> None:
        self._free = set(range(COMPUTE_COUNT))
        self._queue: list[tuple[str, int]] = []
        self._transfers: dict[str, str] = {}
        self._all_here = False

    def handle(self, message: m.Message) -> m.Reply:
        """Answer a message."""
        return m.Reply(message.now, tuple(self._requests(message)))

    def _requests(self, message: m.Message) -> Iterable[m.Request]:
        now = message.now
        for event in message.events:
            if isinstance(event, m.JobSubmitted):
                if event.job["res"] > COMPUTE_COUNT:
                    yield m.RejectJob(now, event.job_id)
                else:
                    self._queue.append((event.job_id, event.job["res"]))
            elif isinstance(event, m.JobCompleted):
                if event.job_id.startswith("w0!"):
                    self._free.update(event.alloc)
                    yield from self._transfer(event.job_id, now)
                else:
                    del self._transfers[event.job_id]
            elif getattr(event, "kind", "") == "no_more_static_job_to_submit":
                self._all_here = True
        while self._queue and self._queue[0][1] <= len(self._free):
            job_id, count = self._queue.pop(0)
            nodes = tuple(sorted(self._free)[:count])
            self._free.difference_update(nodes)
            yield m.ExecuteJob(now, job_id, nodes)
        if self._all_here and not self._queue and not self._transfers and len(self._free) == COMPUTE_COUNT:
            self._all_here = False
            yield m.NotifyRegistration(now, True)

    def _transfer(self, after: str, now: float) -> Iterable[m.Request]:
        name = after.replace("!", "_")
        profile = {"type": "data_staging", "nb_bytes": 3_000_000_000, "from": "a", "to": "b"}
        job_id = f"io!{name}"
        self._transfers[job_id] = after
        yield m.RegisterProfile(now, "io", name, profile)
        yield m.RegisterJob(now, job_id, {"id": job_id, "subtime": now, "res": 2, "profile": name, "walltime": 900})
        yield m.ExecuteJob(now, job_id, (96, 108), storage_mapping={"a": 96, "b": 108})


@pytest.fixture(scope="module")
def files(reference: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The platform, unpacked, and a workload."""
    folder = tmp_path_factory.mktemp("dropin")
    packed = reference / "simulation" / "dragonfly96-full-routes.xml.xz"
    (folder / "platform.xml").write_bytes(lzma.decompress(packed.read_bytes()))
    return folder / "platform.xml", reference / "transcripts" / "tw" / "alloc40.json"


def _arguments(files: tuple[Path, Path], prefix: Path, endpoint: str) -> list[str]:
    return [
        *("-p", str(files[0]), "-w", str(files[1]), "-s", endpoint, "-e", str(prefix), "-q"),
        *("-r", f"{STORAGE}:storage", "--enable-dynamic-jobs", "--disable-schedule-tracing"),
    ]


def _rows(prefix: Path) -> list[dict[str, str]]:
    return csv_rows(f"{prefix}_jobs.csv")


@pytest.fixture(scope="module")
def ours(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """Rows of the fluid engine."""
    prefix = tmp_path_factory.mktemp("fluid") / "x"
    with listening(decoded(FirstFit().handle)) as endpoint:
        assert main(_arguments(files, prefix, endpoint)) == 0
    return _rows(prefix)


def _agree(one: list[dict[str, str]], other: list[dict[str, str]]) -> None:
    assert len(one) == len(other) == 80
    for left, right in zip(one, other, strict=True):
        for column in TEXTS:
            assert left[column] == right[column], (left, right)
        for column in TIMES:
            assert float(left[column]) == pytest.approx(float(right[column]), abs=1e-6), (column, left, right)


def test_simgrid_gives_the_same(files: tuple[Path, Path], ours: list[dict[str, str]], tmp_path: Path) -> None:
    """The same broker over SimGrid."""
    simgrid = pytest.importorskip("spillway.simulator.engines.simgrid", reason="the simgrid engine is not there")
    try:
        simgrid.SimgridEngine(files[0]).close()
    except EngineUnavailable as reason:
        pytest.skip(str(reason))
    with listening(decoded(FirstFit().handle)) as endpoint:
        assert main([*_arguments(files, tmp_path / "x", endpoint), "--engine", "simgrid"]) == 0
    _agree(ours, _rows(tmp_path / "x"))


def test_batsim_gives_the_same(files: tuple[Path, Path], ours: list[dict[str, str]], tmp_path: Path) -> None:
    """The real Batsim with the same command line."""
    binary = os.environ.get("BATSIM", "")
    if not binary:
        pytest.skip("BATSIM does not name the binary of a Batsim 4.x")
    with listening(decoded(FirstFit().handle)) as endpoint:
        command = [binary, *_arguments(files, tmp_path / "x", endpoint)]
        assert subprocess.run(command, timeout=120, check=False).returncode == 0
    _agree(ours, _rows(tmp_path / "x"))


def test_books_of_the_run(ours: list[dict[str, str]]) -> None:
    """Every job ended, and each was followed by its transfer of 3 GB over the 5 GB/s link."""
    transfers = [row for row in ours if row["workload_name"] == "io"]
    assert len(transfers) == 40
    assert all(row["success"] == "1" for row in transfers)
    assert min(float(row["execution_time"]) for row in transfers) == pytest.approx(0.6001, abs=1e-6)
