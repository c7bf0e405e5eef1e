"""Oracle: messages between Batsim's parts take as long, in the same order, as among actors of the real SimGrid."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spillway.protocol.messages import JobSubmitted, Message, Reply, Request, RequestedCall
from spillway.schedulers.service.command import build_session, session_parser
from tests.oracle.conversation import Told, play_ours, play_theirs
from tests.simulator.worlds import call, execute, jobs, kill

pytestmark = pytest.mark.usefixtures("binding")

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
PTASK = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}
DELAY = {"type": "delay", "delay": 10}


def in_turn(*extra: Request, on_call: tuple[Request, ...] = ()) -> Callable[[Message], Reply]:
    """Start each job on the next of two machines in turn; send ``extra`` with the first start."""
    count = 0

    def handle(message: Message) -> Reply:
        nonlocal count
        requests: list[Request] = []
        for event in message.events:
            if isinstance(event, JobSubmitted):
                requests.append(execute(event.job_id, count % 2, at=message.now))
                requests.extend(extra if count == 0 else ())
                count += 1
            if isinstance(event, RequestedCall):
                requests.extend(on_call)
        return Reply(message.now, tuple(requests))

    return handle


def loop(tmp_path: Path, bandwidth: str, latency: str) -> Path:
    """The machine of upstream's kind with another loopback."""
    text = (UPSTREAM / "loopback.xml").read_text()
    path = tmp_path / "platform.xml"
    path.write_text(text.replace('bandwidth="500MBps" latency="15us"', f'bandwidth="{bandwidth}" latency="{latency}"'))
    return path


def compare(ours: Told, theirs: Told) -> None:
    """The same messages, and jobs' times as they are printed."""
    assert ours.messages == theirs.messages
    assert ours.rows.keys() == theirs.rows.keys()
    for name, (start, end, state, alloc) in theirs.rows.items():
        found = ours.rows[name]
        assert found[2] == state
        assert found[0] == pytest.approx(start, abs=5.1e-7), name
        assert found[1] == pytest.approx(end, abs=5.1e-7), name
        if " " not in alloc:
            assert found[3] == alloc


SUBMISSIONS = {
    "one": jobs({}, profiles={"p": PTASK}),
    "two at once": jobs({}, {}, profiles={"p": PTASK}),
    "one later": jobs({}, {"subtime": 3}, profiles={"p": PTASK}),
    "at the end of another": jobs({}, {"subtime": 10}, profiles={"p": PTASK}),
    "walltime as long as the work": jobs({"walltime": 10}, profiles={"p": PTASK}),
    "such a walltime, and a submission at its end": jobs({"walltime": 10}, {"subtime": 10}, profiles={"p": PTASK}),
    "a delay's walltime, and a submission": jobs({"walltime": 10}, {"subtime": 10}, profiles={"p": DELAY}),
    "walltimes of earlier jobs, each at a submission": jobs(
        *({"subtime": 2 * number, "walltime": 8} for number in range(9)), profiles={"p": PTASK}
    ),
    "two at once, others after their ends": jobs(
        {"subtime": 1}, {"subtime": 1}, {"subtime": 11.25}, {"subtime": 11.25, "walltime": 9}, {"subtime": 21.5},
        {"subtime": 30},
        profiles={"p": PTASK},
    ),
}  # fmt: skip
LOOPS = {"15 us": ("500MBps", "15us"), "1 ns": ("1000MBps", "0us"), "0.1 ns": ("10000MBps", "0us")}


@pytest.mark.parametrize("loopback", LOOPS)
@pytest.mark.parametrize("name", SUBMISSIONS)
def test_submissions_starts_and_ends(name: str, loopback: str, tmp_path: Path) -> None:
    """Every message and every time, whatever a message from the master to itself takes."""
    platform, data = loop(tmp_path, *LOOPS[loopback]), SUBMISSIONS[name]
    compare(
        play_ours(platform, data, in_turn(), tmp_path, compute_sharing=True), play_theirs(platform, data, in_turn())
    )


@pytest.mark.parametrize("loopback", LOOPS)
@pytest.mark.parametrize("profile", [PTASK, DELAY], ids=["task", "delay"])
@pytest.mark.parametrize("walltime", [8, 8.5, 7.75])
def test_calls_at_the_end_of_a_walltime(loopback: str, profile: Any, walltime: float, tmp_path: Path) -> None:
    """A call at 8 s: where messages take less than a quarter of a nanosecond, the walltime ends with it."""
    platform, data = loop(tmp_path, *LOOPS[loopback]), jobs({"walltime": walltime}, profiles={"p": profile})
    compare(play_ours(platform, data, in_turn(call(8.0)), tmp_path), play_theirs(platform, data, in_turn(call(8.0))))


def test_ends_that_are_nominally_one(tmp_path: Path) -> None:
    """Recorded from Batsim 4.2.1: the job's submission at 9 s waits for the server when the call of 9 s is received.

    The submitter's pause ends a rounding error before the receipt of the call, so its message is in the mailbox.
    """
    platform = loop(tmp_path, *LOOPS["15 us"])
    data = jobs({}, {"subtime": 8}, {"subtime": 9}, profiles={"p": DELAY})
    ours = play_ours(platform, data, in_turn(call(9.0)), tmp_path, compute_sharing=True)
    told = next(message for message in ours.messages if message["now"] > 9.0)
    assert told["now"] == 9.00003
    assert [event["timestamp"] for event in told["events"]] == [9.000015, 9.00003]
    compare(ours, play_theirs(platform, data, in_turn(call(9.0))))


@pytest.mark.parametrize("seed", range(8))
def test_drawn_conversations(seed: int, tmp_path: Path) -> None:
    """Submissions, calls and walltimes at multiples of one time, so that many ends are nominally one.

    Tasks have no walltime: in SimGrid one that reached it still computes until its job has reported that.
    """
    rng = random.Random(seed)
    step = rng.choice((1, 0.5, 0.25, 0.1, 3))
    some = [{"subtime": round(step * rng.randint(0, 12), 6)} for _ in range(rng.randint(2, 6))]
    profile: dict[str, Any] = {"type": "parallel_homogeneous", "cpu": 1e9 * step * rng.randint(1, 10), "com": 0}
    if rng.random() < 0.5:
        profile = {"type": "delay", "delay": round(step * rng.randint(1, 10), 6)}
        some = [{**job, "walltime": round(step * rng.randint(1, 12), 6)} if rng.random() < 0.5 else job for job in some]
    data = jobs(*some, profiles={"p": profile})
    first = min(job["subtime"] for job in some)
    calls = [call(round(first + step * rng.randint(1, 15), 6)) for _ in range(rng.randint(0, 3))]
    platform = loop(tmp_path, *LOOPS[rng.choice(list(LOOPS))])
    compare(
        play_ours(platform, data, in_turn(*calls), tmp_path, compute_sharing=True),
        play_theirs(platform, data, in_turn(*calls)),
    )


@pytest.mark.parametrize("loopback", LOOPS)
def test_kills(loopback: str, tmp_path: Path) -> None:
    """A kill takes a message to be requested and one to be reported."""
    platform, data = loop(tmp_path, *LOOPS[loopback]), jobs({}, profiles={"p": PTASK})
    handles = [in_turn(call(4.0), on_call=(kill("w0!1", at=4.0),)) for _ in range(2)]
    compare(play_ours(platform, data, handles[0], tmp_path), play_theirs(platform, data, handles[1]))


def test_first_job_of_a_machine_with_a_loopback_of_15_us(tmp_path: Path) -> None:
    """Four messages go before it: hello, ready, its submission, its start."""
    data = jobs({}, {"subtime": 5}, profiles={"p": PTASK})
    told = play_theirs(UPSTREAM / "loopback.xml", data, in_turn())
    assert round(told.rows["w0!1"][0], 6) == 0.00006
    compare(play_ours(UPSTREAM / "loopback.xml", data, in_turn(), tmp_path), told)


def test_cluster_without_loopback(tmp_path: Path) -> None:
    """The master's own route goes through its cable and the backbone, there and back."""
    data = jobs({}, {"subtime": 5}, profiles={"p": PTASK})
    platform = UPSTREAM / "cluster.xml"
    told = play_theirs(platform, data, in_turn())
    assert round(told.rows["w0!1"][0], 6) == 4 * 0.00024
    compare(play_ours(platform, data, in_turn(), tmp_path), told)


VIVALDI = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="plane" routing="Vivaldi">
<host id="master_host" coordinates="{} 0 {}" speed="100Mf"/>
<host id="ant" coordinates="0 0 0" speed="1Gf"/><host id="bee" coordinates="0 0 0" speed="1Gf"/>
</zone></platform>"""
PLACES = {"without latencies": (0, 0), "5 ms away": (5, 0), "0.25 ms above the plane": (0, 0.25)}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SUBMISSIONS)
def test_machine_without_links(name: str, place: str, tmp_path: Path) -> None:
    """Upstream's machines for energy have no links: messages take what the coordinates say, maybe nothing."""
    path = tmp_path / "platform.xml"
    path.write_text(VIVALDI.format(*PLACES[place]))
    data = SUBMISSIONS[name]
    compare(play_ours(path, data, in_turn(), tmp_path, compute_sharing=True), play_theirs(path, data, in_turn()))


@pytest.mark.reference
@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_first_jobs_of_part_4(reference: Path, policy: str, tmp_path: Path) -> None:
    """Alloc-Only jobs of the published log, 96 nodes: every message of the conversation, and every start and end."""
    platform = tmp_path / "dragonfly96.xml"
    platform.write_bytes(lzma.decompress((reference / "simulation" / "dragonfly96-full-routes.xml.xz").read_bytes()))
    data = json.loads((reference / "transcripts" / "tw" / "alloc4-300.json").read_text())
    data["jobs"] = data["jobs"][:80]
    words = [policy, "--burst-buffer-bytes", "40e9", "--location-shape", "3,3,4"]

    def handle() -> Callable[[Message], Reply]:
        return build_session(session_parser().parse_args(words)).handle

    compare(play_ours(platform, data, handle(), tmp_path), play_theirs(platform, data, handle()))
