"""The bandwidth that jobs need under a model: bytes by hand, rates in sessions, unknown cases."""

import math
from typing import Any

import pytest

from spillway.base.errors import OptionError, RemoteProtocolError
from spillway.protocol.messages import BatsimConfig, JobSubmitted, Message, ResourceInfo, SimulationBegins
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.core.demand import stream_rate
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.base import JobModel
from spillway.schedulers.jobmodels.io_aware import IoAware, StageStream, staged_bytes
from spillway.schedulers.jobmodels.stream import DeclaredStream, Stream, stream_bytes
from spillway.schedulers.model.job import Job
from spillway.schedulers.policies import POLICIES
from tests.kit.messages import begins_on
from tests.kit.story import Story
from tests.schedulers.core.test_thesis_bandwidth import thesis, unstated

GB = 10**9
HOUR_FLOPS = 3.6e12


def job(hours: float, bb_gb: float, walltime_s: float = 7200.0, io_rate: int = 0) -> Job:
    """A job of so many hours of computing on one node, with a burst buffer."""
    profile = {"type": "parallel_homogeneous", "cpu": hours * HOUR_FLOPS, "com": 0}
    return Job("w0!0", 0, 0.0, walltime_s, 1, int(bb_gb * GB), io_rate, "p", profile)


def submitted(number: int, nodes: int, hours: float, bb_gb: float, **fields: Any) -> JobSubmitted:
    """The same as a message; ``walltime`` 7,200 s."""
    profile = {"type": "parallel_homogeneous", "cpu": hours * HOUR_FLOPS, "com": 0}
    wire = {"id": f"w0!{number}", "subtime": 0.0, "res": nodes, "walltime": 7200.0, "profile": "p"}
    return JobSubmitted(0.0, f"w0!{number}", wire | {"bb": int(bb_gb * GB)} | fields, profile)


def opened(model: JobModel, event: SimulationBegins) -> tuple[Session, Story]:
    """A session of EASY after the first message."""
    played = Story()
    session = assemble(POLICIES["easy"].build(), Settings(), model, observer=played)
    config = BatsimConfig(dynamic_jobs_enabled=True, profile_reuse_enabled=True)
    session.handle(Message(0.0, (SimulationBegins(0.0, event.compute_resources, event.storage_resources, config),)))
    return session, played


@pytest.mark.parametrize(
    ("hours", "bb_gb", "size_gb"),
    [
        (1.0, 10, 20),  # one phase: in and out
        (3.0, 10, 20 + 2 * 5),  # three phases: two checkpoints of half the buffer are drained
        (50.0, 10, 20 + 9 * 5),  # ten phases at most
        (3.0, 0, 0),  # without a buffer nothing is staged
    ],
)
def test_bytes_of_the_stages(hours: float, bb_gb: float, size_gb: float) -> None:
    """Per node, stage-in and drains and stage-out; spread over two hours, rounded up."""
    size = int(size_gb * GB)
    assert staged_bytes(job(hours, bb_gb), IoAware()) == size
    assert StageStream(IoAware())(job(hours, bb_gb), 7200.0, math.inf) == math.ceil(size / 7200)


def test_the_share_of_a_checkpoint() -> None:
    """All of the buffer, or nothing."""
    assert staged_bytes(job(3.0, 10), IoAware(checkpoint_fraction=1.0)) == 40 * GB
    assert staged_bytes(job(3.0, 10), IoAware(checkpoint_fraction=0.0)) == 20 * GB


def test_what_cannot_be_known_is_an_error() -> None:
    """No duration; a rate beside the stages."""
    with pytest.raises(ValueError, match="cannot be known: its expected duration is inf s"):
        StageStream(IoAware())(job(1.0, 10), math.inf, math.inf)
    with pytest.raises(ValueError, match="states 'io_rate', while its stages are booked"):
        StageStream(IoAware())(job(1.0, 10, io_rate=5), 60.0, math.inf)
    assert StageStream(IoAware())(job(1.0, 0), math.inf, math.inf) == 0
    assert stream_rate(10.0, 4.0) == 3


def test_streams_by_their_bytes() -> None:
    """The model ``stream``: bytes per node over the job's duration; a stated rate counts."""
    one = Job("w0!0", 0, 0.0, 100.0, 2, extras={"io_bytes": 1001})
    assert DeclaredStream()(one, 100.0, math.inf) == 11
    assert DeclaredStream()(Job("w0!0", 0, 0.0, 100.0, 2, io_rate=7, extras={"io_bytes": 1001}), 100.0, 1.0) == 7
    assert DeclaredStream()(Job("w0!0", 0, 0.0, math.inf, 2), math.inf, 1.0) == 0
    assert DeclaredStream()(Job("w0!0", 0, 0.0, 100.0, 2, io_rate=7), 100.0, 1.0) == 7


@pytest.mark.parametrize(("given", "known"), [
    (0, True),
    (2**62, True),
    (0.5, True),
    (-1, False),
    (-1e-9, False),
    (2**62 + 1, False),
    (True, False),
    ("1", False),
])  # fmt: skip
def test_bytes_of_a_stream(given: Any, known: bool) -> None:
    """A number from 0 to 2^62; anything else is an error that names the field."""
    one = Job("w0!0", 0, 0.0, 100.0, 2, extras={"io_bytes": given})
    if known:
        assert stream_bytes(one) == given
    else:
        with pytest.raises(RemoteProtocolError, match="'io_bytes' must be a number of bytes from 0 to 2\\^62"):
            stream_bytes(one)


@pytest.mark.parametrize("book", [True, False])
def test_stages_are_booked_on_the_file_systems_link(book: bool) -> None:
    """Two hours of 40 nodes, 10 GB each: three phases move 30 GB per node, 4,166,667 bytes/s; all 40 a thirtieth of the
    link. Where stages are not booked, nothing is held."""
    session, played = opened(IoAware(book_stages=float(book)), begins_on(thesis()))
    session.handle(Message(0.0, (submitted(0, 40, 3.0, 10),)))
    assert played.given["w0!0"].io_rate == (4_166_667 if book else 0)
    assert session.book.timeline.free_bandwidth_now() == [5 * GB - (40 * 4_166_667 if book else 0)]
    session.check()


def test_which_links_a_stream_is_booked_on() -> None:
    """Writes of nodes are booked on every link above them, transfers of storage nodes only on the file system's
    link."""
    path = {"io_path": f"pfs={4 * GB}/switch={3 * GB}"}
    nodes = tuple(ResourceInfo(number, f"n{number}", properties=path) for number in range(2))
    beside = {"capacity_bytes": str(10 * GB), "io_path": f"pfs={4 * GB}"}
    storages = (ResourceInfo(2, "s0", properties=beside), ResourceInfo(3, "pfs"))
    event = SimulationBegins(0.0, nodes, storages, BatsimConfig())
    of_nodes, of_storages = (opened(model, event)[0].machine for model in (Stream(), IoAware(book_stages=1.0)))
    assert [link.capacity_bytes_per_s for link in of_nodes.links] == [4 * GB, 3 * GB]
    assert [link.capacity_bytes_per_s for link in of_storages.links] == [4 * GB]


def test_reasons_reach_the_user() -> None:
    """A rate beside the stages, no walltime, a machine that states no links: three rejections."""
    session, played = opened(IoAware(book_stages=1.0), begins_on(thesis()))
    session.handle(Message(0.0, (submitted(0, 1, 1.0, 30, io_rate=5), submitted(1, 1, 1.0, 30, walltime=-1))))
    assert ["leave out one" in played.refused["w0!0"], "is inf s" in played.refused["w0!1"]] == [True, True]
    session, played = opened(IoAware(book_stages=1.0), begins_on(unstated()))
    session.handle(Message(0.0, (submitted(0, 1, 1.0, 30), submitted(1, 1, 1.0, 0))))
    assert "states no links" in played.refused["w0!0"]
    assert list(played.starts) == ["w0!1"]


def test_booking_stages_needs_bandwidth() -> None:
    """Stages that cannot be booked are refused when the options are read."""
    with pytest.raises(OptionError, match=r"book_stages=\.\.\. and setting bandwidth=ignorant cannot be combined"):
        assemble(POLICIES["easy"].build(), Settings(bandwidth="ignorant"), IoAware(book_stages=1.0))
