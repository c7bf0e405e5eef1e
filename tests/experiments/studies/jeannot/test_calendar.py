"""The calendar's starts, ends and waits are those of the product's player."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.studies import Point
from spillway.experiments.studies.jeannot.calendar import Channel, Direct, play
from spillway.experiments.studies.jeannot.play import STRATEGIES, begins, drawn, play_direct, play_product
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Passes
from spillway.schedulers.jobmodels.gates import IoControl, make_gate
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.estimates import Requested
from spillway.schedulers.timesharing.sharing import SharesNodes
from spillway.workloads.jeannot import PROTOCOLS, JeannotOptions, draw_jeannot, periodic_job
from spillway.workloads.workload import Workload
from tests.experiments.studies.jeannot.points import point

CLOSE_S = 1e-3
"""Messages carry microseconds, and their rounding adds up."""


def workload(specs: list[tuple[float, int, int, float, float]], family: str = "M") -> Workload:
    """Jobs given by submission, nodes, periods, seconds of computing and of transfer."""
    protocol = PROTOCOLS[family]
    jobs, profiles = [], {}
    for number, (submit, nodes, periods, compute, transfer) in enumerate(specs):
        volume = transfer * protocol.bandwidth
        job, profile = periodic_job(number + 1, submit, nodes, periods, compute, volume, protocol.bandwidth)
        jobs.append(job)
        profiles[job.profile] = profile
    return Workload("test", protocol.processors, tuple(jobs), profiles)


def compare(one: Point, drawn: Workload) -> None:
    """Both ways, every job."""
    direct = {job.id: (start, end, account.waited_s) for job, start, end, account in play_direct(one, drawn).jobs}
    protocol = {record.job.id: (record.start_s, record.end_s, record.io_wait_s) for record in play_product(one, drawn)}
    assert direct.keys() == protocol.keys() == {f"w0!{job.name}" for job in drawn.jobs}
    for name, times in direct.items():
        assert times == pytest.approx(protocol[name], abs=CLOSE_S), name


@pytest.mark.parametrize("order", ["fifo", "shortest", "starved", "stretch"])
@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_drawn_workloads_with_exclusive_io(strategy: str, order: str) -> None:
    """Twelve jobs of the Mira families at a high load, under each strategy and each order."""
    family = "M-BN" if order == "fifo" else "M-No"
    one = point(family=family, load=0.7, jobs=12, io_order=order, policy=strategy, literal=True)
    compare(one, drawn(one).workload)


def test_the_uniform_protocol_and_arrivals() -> None:
    """Jobs of 2,048 nodes, submitted over time."""
    options = JeannotOptions(family="U-No", load=0.6, jobs=4, literal=True, mean_gap_s=20_000.0)
    compare(point(family="U-No"), draw_jeannot(options).workload)


JOBS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 3.7, 11.3]),
        st.integers(1, 60),
        st.integers(1, 3),
        st.floats(0.3, 9.0).map(lambda value: value + 0.0137),
        st.floats(0.1, 5.0).map(lambda value: value + 0.00731),
    ),
    min_size=1,
    max_size=6,
    unique_by=(lambda item: item[3], lambda item: item[4]),
)


@settings(max_examples=30)
@given(jobs=JOBS, control=st.sampled_from(["shared", "exclusive"]), strategy=st.sampled_from(["LS", "Max"]))
def test_any_few_jobs(jobs: list[tuple[float, int, int, float, float]], control: str, strategy: str) -> None:
    """Shared bandwidth as well; few periods, because there a microsecond grows to seconds within one job's life."""
    distinct = [
        (submit, nodes, periods, compute + 0.0101 * index, transfer + 0.0077 * index)
        for index, (submit, nodes, periods, compute, transfer) in enumerate(jobs)
    ]
    compare(point(family="M-No", io_control=control, policy=strategy), workload(distinct))


def test_a_shared_channel_by_hand() -> None:
    """10 bytes/s: 100 bytes from 0 s, 20 from 2 s: from then on each has 5 bytes/s; they end at 12 and 6 s."""
    channel = Channel(10.0)
    channel.begin("a", 100.0, 0.0)
    assert channel.next_end_s == 10.0
    channel.begin("b", 20.0, 2.0)
    assert channel.next_end_s == 6.0
    assert channel.end() == "b"
    assert channel.next_end_s == 12.0
    assert channel.end() == "a"
    assert not channel.busy


CALLED = {"replay", "slurm-backfill"}
"""Policies that decide at times of their own (WakeAt); the study's player has no such calls."""
RIGID = [name for name, entry in POLICIES.items() if not isinstance(entry.build(), SharesNodes) and name not in CALLED]
"""Policies under which jobs do not share nodes in time."""


@pytest.mark.parametrize("control", list(IoControl))
@pytest.mark.parametrize("name", RIGID)
def test_any_policy_goes_with_any_control(name: str, control: IoControl) -> None:
    """All jobs run to their end, and the file system moves every byte, one application at a time or not."""
    drawn = workload([(7.0 * number, 20 + 7 * number, 2, 9.0 + number, 4.0 + 0.3 * number) for number in range(7)])
    execution = Direct(make_gate(control), PROTOCOLS["M"].bandwidth)
    play(
        Session(POLICIES[name].build(), execution, passes=Passes(estimator=Requested())),
        execution,
        begins("mira"),
        drawn,
    )
    assert {job.name for job, *_ in execution.traces.jobs} == {job.name for job in drawn.jobs}
    busy_s = sum(end - start for start, end in execution.traces.transferring)
    assert busy_s == pytest.approx(sum(2 * (4.0 + 0.3 * number) for number in range(7)))
    waited_s = sum(account.waited_s for *_, account in execution.traces.jobs)
    assert (waited_s > 0) == (control is IoControl.EXCLUSIVE)
