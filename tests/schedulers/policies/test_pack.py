"""Packs and lists: hand-computed schedules under the two constraints, backfilling, arrivals."""

from typing import Any

import pytest

from spillway.schedulers.core.session import Session
from spillway.schedulers.model.explanations import Binding, PassNotes
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.machine import Link, Machine, simple_machine
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.pack import Pack
from tests.kit.story import Story
from tests.properties.mini import MiniJob, MiniMachine, play
from tests.schedulers.policies.scenes import job, numbers, started, view
from tests.schedulers.runtimes import rigid

PFS = (Link("pfs", 100, -1),)


def wide(nodes: int = 10) -> Machine:
    """Nodes below a file system of 100 bytes/s."""
    return simple_machine(nodes, links=PFS, node_link=(0,) * nodes)


def simulate(policy: Pack | str, jobs: list[MiniJob], **fields: Any) -> dict[int, float]:
    """Starts by job number on ten nodes under a file system of 100 bytes/s."""
    shape = MiniMachine(nodes=10, io_paths=("pfs=100",) * 10)
    played = Story()
    built = POLICIES[policy].build() if isinstance(policy, str) else policy
    play(Session(built, rigid(), observer=played, **fields), shape, jobs)
    return {int(name.split("!")[1]): start for name, start in played.starts.items()}


def test_a_pack_is_limited_by_its_average_bandwidth() -> None:
    """Rates of 60, 60 and 30 bytes/s for 10, 10 and 20 s on a file system of 100: 0 and 1 would average 120; 0 and 2
    move 600 + 600 bytes in 20 s: 60. With 2 in the pack 1 fits as well: 1,800 bytes in 20 s are 90."""
    jobs = [job(0, 1, 10.0, io_rate=60), job(1, 1, 10.0, io_rate=60), job(2, 1, 20.0, io_rate=30)]
    assert numbers(started(Pack(order="random"), view(wide(), jobs))) == [0, 2]
    assert numbers(started(Pack(order="longest"), view(wide(), jobs))) == [2, 0, 1]


def test_the_strict_constraint_does_not_average() -> None:
    """The same longest first: 30 + 60 bytes/s fit, 30 + 60 + 60 do not, whatever the average."""
    jobs = [job(0, 1, 10.0, io_rate=60), job(1, 1, 10.0, io_rate=60), job(2, 1, 20.0, io_rate=30)]
    assert numbers(started(Pack(order="longest", constraint="strict"), view(wide(), jobs))) == [2, 0]
    assert numbers(started(Pack(order="longest", constraint="none"), view(wide(), jobs))) == [2, 0, 1]


def test_list_keeps_the_sum_of_average_bandwidths() -> None:
    """60 + 60 > 100: job 1 waits for the end of job 0, and job 2 (30), which would delay it, waits as well."""
    jobs = [MiniJob(0.0, 1, 10.0, 10.0, io_rate=60), MiniJob(0.0, 1, 10.0, 10.0, io_rate=60)]
    jobs += [MiniJob(0.0, 1, 20.0, 20.0, io_rate=50), MiniJob(0.0, 1, 10.0, 10.0, io_rate=30)]
    assert simulate("list", jobs) == {0: 0.0, 1: 10.0, 2: 20.0, 3: 0.0}


def test_orders_of_packs() -> None:
    """Characteristic times 5, 20 and 10 s; durations 40, 60 and 50 s; six of ten nodes each, so one at a time."""

    def one(number: int, count: int, compute_s: float) -> Job:
        made = job(number, 6, count * compute_s)
        periods = {"count": count, "compute_s": compute_s, "io_bytes": 1e-9}
        return replaced(made, profile={"type": "delay", "periods": periods})

    jobs = [one(0, 8, 5.0), one(1, 3, 20.0), one(2, 5, 10.0)]
    first = {
        order: numbers(started(Pack(order=order), view(wide(), jobs)))
        for order in ("random", "longest", "characteristic")
    }
    assert first == {"random": [0], "longest": [1], "characteristic": [0]}
    assert numbers(started(Pack(order="characteristic"), view(wide(), jobs[1:]))) == [2]


def test_backfilling_into_a_pack() -> None:
    """Pack {0, 1} lasts 20 s; six nodes are free from 10 s on. Job 2 (7 nodes) waits for the next pack, job 3 (4 nodes,
    10 s) is backfilled at 10 s, job 4 (2 nodes, 15 s) would end after the pack and starts with job 2."""
    jobs = [MiniJob(0.0, 4, 20.0, 20.0), MiniJob(0.0, 6, 10.0, 10.0), MiniJob(0.0, 7, 10.0, 10.0)]
    jobs += [MiniJob(0.0, 4, 10.0, 10.0), MiniJob(0.0, 2, 15.0, 15.0)]
    assert simulate(Pack(order="random"), jobs) == {0: 0.0, 1: 0.0, 2: 20.0, 3: 10.0, 4: 20.0}
    without = simulate(Pack(order="random", backfilling=False), jobs)
    assert without == {0: 0.0, 1: 0.0, 2: 20.0, 3: 35.0, 4: 20.0}


def test_backfilling_keeps_the_average() -> None:
    """The pack's 20 s carry 2,000 bytes, and 1,800 are taken: a backfilled job of 10 s may move 20 bytes/s, not 30."""
    jobs = [MiniJob(0.0, 4, 20.0, 20.0, io_rate=20), MiniJob(0.0, 4, 10.0, 10.0, io_rate=5)]
    small, large = MiniJob(1.0, 2, 10.0, 10.0, io_rate=10), MiniJob(1.0, 2, 10.0, 10.0, io_rate=15)
    assert simulate(Pack(order="random"), [*jobs, small])[2] == 1.0
    assert simulate(Pack(order="random"), [*jobs, large])[2] == 20.0


@pytest.mark.parametrize(("nodes", "rate", "binding"), [(6, 0, Binding.NODES), (1, 95, Binding.BANDWIDTH)])
def test_a_pack_says_why_a_job_waits(nodes: int, rate: int, binding: Binding) -> None:
    """The nodes are taken, or the average would be too high."""
    notes = PassNotes()
    jobs = [job(0, 5, 20.0, io_rate=10), job(1, nodes, 20.0, io_rate=rate)]
    assert numbers(started(Pack(order="random"), view(wide(), jobs, notes=notes))) == [0]
    assert notes.notes["w0!1"].binding is binding


def racks(per_rack: int = 4) -> Machine:
    """Two racks with links of 100 bytes/s below a file system of 200."""
    links = (Link("pfs", 200, -1), Link("rack0", 100, 0), Link("rack1", 100, 0))
    return simple_machine(2 * per_rack, links=links, node_link=(1,) * per_rack + (2,) * per_rack)


def places(jobs: list[Job], policy: Pack, notes: PassNotes | None = None) -> dict[int, tuple[int, ...]]:
    """Nodes of the jobs that a pack starts on two racks, by number."""
    return {start.job.number: start.allocation.nodes for start in started(policy, view(racks(), jobs, notes=notes))}


def test_the_average_of_every_link_is_kept() -> None:
    """Two jobs that average 60 bytes/s do not share a rack of 100; a third finds 40 left on each and waits, one of 40
    joins the first rack."""
    notes = PassNotes()
    jobs = [job(number, 1, 10.0, io_rate=60) for number in range(3)]
    found = places([*jobs, job(3, 1, 10.0, io_rate=40)], Pack(order="random"), notes)
    assert found == {0: (0,), 1: (4,), 3: (1,)}
    assert notes.notes["w0!2"].binding is Binding.BANDWIDTH
    assert places(jobs, Pack(order="random", constraint="none")) == {0: (0,), 1: (1,), 2: (2,)}
