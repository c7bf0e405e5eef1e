"""Power states and energy (batsim4.md 5 and 8; SimGrid's host energy model)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spillway.platforms.model import Host, Platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import (
    EnergyAnswer,
    Message,
    QueryEnergy,
    Reply,
    RequestedCall,
    ResourceStateChanged,
    SetResourceState,
)
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.errors import SchedulerFault, SimulatorInputError
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.world.energy import Watts, read_watts
from spillway.simulator.world.power import Kind, read_power_states
from tests.simulator.worlds import LATENCY, Scheduler, call, execute, jobs, run, scripted, small_platform

# The small world's hosts: state 0 computes (1 Gflop/s, 90/100/200 W), 1 sleeps (10 W), 2 falls asleep (0.1 flop/s:
# 10 s, 125 W), 3 wakes up (0.05 flop/s: 20 s, 101 W).
PTASK = {"p": {"type": "parallel_homogeneous", "cpu": 4e9, "com": 0}}


def powered(data: Any, *replies: Any, **options: Any) -> Any:
    """A run with energy."""
    return run(data, scripted(*replies), platform=small_platform(power=True), energy=True, **options)


def state(pstate: int, *ids: int, at: float = 0.0) -> SetResourceState:
    """A request to change power states."""
    return SetResourceState(at, ids, pstate)


def test_falling_asleep_and_waking_up() -> None:
    """One flop in the virtual states; the acknowledgement comes a latency later, once, with all machines."""
    _, scheduler = powered(None, (state(1, 0, 2),), (state(0, 2, at=10.5), state(0, 0, at=10.5)))
    reported = [(e.timestamp, e.resources, e.state) for e in scheduler.events(ResourceStateChanged)]
    assert reported == [
        (pytest.approx(10 + 2 * LATENCY), (0, 2), 1),
        (pytest.approx(10 + 2 * LATENCY + 20 + LATENCY), (2,), 0),
        (pytest.approx(10 + 2 * LATENCY + 20 + 2 * LATENCY), (0,), 0),
    ]


def test_requests_under_way_at_once_are_told_one_by_one() -> None:
    """To the same state, and to another one: each is reported when the last of its own machines has arrived."""

    def answer(message: Message) -> Any:
        if message.now == 0.0:
            return (state(1, 0), state(1, 2, 3), call(15.0))
        called = any(isinstance(event, RequestedCall) for event in message.events)
        return (state(0, 0, at=15.0), state(1, 1, at=15.0)) if called else ()

    platform = small_platform(power=True)
    _, scheduler = run(None, answer, platform=platform, energy=True, fail_on_deadlock=True)
    reported = [(round(e.timestamp), e.resources, e.state) for e in scheduler.events(ResourceStateChanged)]
    assert reported == [(10, (0,), 1), (12, (2, 3), 1), (26, (1,), 1), (36, (0,), 0)]


def test_a_machine_that_woke_up_computes_again(tmp_path: Path) -> None:
    """It idles at its idle power, then computes; of two machines a row is written when both have arrived."""
    data = jobs({"subtime": 20}, {"subtime": 70}, profiles=PTASK)
    replies = ((state(1, 0, 2),), (), (state(0, 0, 2, at=20.0),), (), (QueryEnergy(70.0), execute("w0!2", 0, at=70.0)))
    result, scheduler = powered(data, *replies, export=str(tmp_path / "x"), trace_machine_states=True)
    assert result.totals.success == 1
    each = 10 * 125 + 10 * 10 + 20 * 101 + 30 * 90
    assert scheduler.events(EnergyAnswer)[0].consumed_energy == pytest.approx(2 * each + 2 * 70 * 90)
    states = (tmp_path / "x_machine_states.csv").read_text().splitlines()
    assert [row.split(",")[1:4] for row in states].count(["2", "0", "0"]) == 1
    figures = result.figures
    assert float(figures["time_sleeping"]) == pytest.approx(20.0)


def metered(
    names: Sequence[str], host: str, properties: str, latency: str, data: Any, *replies: Any
) -> tuple[dict[str, float], Scheduler]:
    """Joules of each job on hosts with these attributes and properties, 1 GB/s and a latency between each two."""
    ends = "".join(f'<host id="{name}" {host}>{properties}</host>' for name in names)
    routes = "".join(
        f'<route src="{one}" dst="{other}"><link_ctn id="wire"/></route>'
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    )
    platform = parse_platform(
        f'<platform version="4.1"><zone id="z" routing="Full">{ends}<link id="wire" bandwidth="1GBps" '
        f'latency="{latency}" sharing_policy="FATPIPE"/>{routes}</zone></platform>'
    )
    scheduler = Scheduler(scripted(*replies))
    with FluidEngine(platform) as engine:
        workload = workload_from_object(data, "w0")
        simulation = Simulation(platform, [workload], engine, scheduler, SimulationOptions(energy=True))
        found = [job for row in data["jobs"] if (job := workload.jobs.find(str(row["id"]))) is not None]
        simulation.run()
    return {job.id: job.energy for job in found}, scheduler


def fluid(data: Any, *replies: Any) -> tuple[dict[str, float], list[Message]]:
    """Joules of each job, and all messages: two machines with SimGrid's model, a network of 0.6 ms between them."""
    watts = '<prop id="wattage_per_state" value="60:70:120,5:5,50:99"/><prop id="sleep_pstates" value="1:2:2"/>'
    joules, scheduler = metered(("a", "b", "master_host"), 'speed="1Gf,1f,0.1f"', watts, "600us", data, *replies)
    return joules, scheduler.messages


def energy(watts: str, host: str, data: Any, hosts: int, *replies: Any) -> tuple[float, Scheduler]:
    """Joules of job 1 on hosts with these watts and attributes, 1 GB/s and 200 us from each to each other."""
    names = ["master_host", *(f"h{number}" for number in range(hosts))]
    properties = f'<prop id="wattage_per_state" value="{watts}"/>'
    joules, scheduler = metered(names, host, properties, "200us", data, *replies)
    return joules["w0!1"], scheduler


def test_a_task_without_work_ends_on_all_its_hosts() -> None:
    """Its communication counted with the load of the next task: 3360.960 J. The value is the real Batsim 4.2.1's."""
    profiles = {
        "both": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 1e8},
        "com": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e8},
        "c": {"type": "composed", "repeat": 2, "seq": ["both", "com", "both"]},
    }
    data = {"nb_res": 4, "jobs": [{"id": "1", "subtime": 1.0, "res": 4, "profile": "c"}], "profiles": profiles}
    joules, _ = energy("95:120:200", 'speed="1Gf"', data, 4, (), (execute("w0!1", 0, 1, 2, 3, at=1.0),))
    assert joules == pytest.approx(3276.792, abs=1e-3)


def test_a_host_counts_as_in_state_0_until_its_first_event() -> None:
    """Also if it begins in another one (190 J): so does the real meter."""
    data = {
        "nb_res": 2,
        "jobs": [{"id": "1", "subtime": 1.0, "res": 2, "profile": "p"}],
        "profiles": {"p": {"type": "delay", "delay": 1.0}},
    }
    host = 'speed="1Gf,1Gf" pstate="1"'
    replies = ((), (QueryEnergy(1.0), execute("w0!1", 0, 1, at=1.0)))
    joules, scheduler = energy("9:9:9, 95:120:200", host, data, 2, *replies)
    assert scheduler.events(EnergyAnswer)[0].consumed_energy == pytest.approx(18.0)
    assert joules == pytest.approx(2 * 95.0)


def test_a_switch_ends_as_work_does() -> None:
    """It takes one flop, begun a little after 0 s: a submission at its end, 10 s, is reported before it."""
    _, messages = fluid(jobs({"subtime": 10}), (state(1, 0),), (), (), (), (execute("w0!1", 1, at=10.0006),))
    kinds = [(m.now, {type(e).__name__ for e in m.events}) for m in messages if 9 < m.now < 11]
    assert kinds == [(10.0, {"JobSubmitted"}), (10.0006, {"ResourceStateChanged", "Notify"})]


def test_a_switch_draws_the_power_of_work() -> None:
    """10 s at 99 W, not at the 50 W of the idle virtual state, then 5 s asleep; the other machine idles."""
    _, messages = fluid(jobs({"subtime": 15}), (state(1, 0),), (), (QueryEnergy(15.0),), (execute("w0!1", 1, at=15.0),))
    (energy,) = (event for m in messages for event in m.events if isinstance(event, EnergyAnswer))
    assert energy.consumed_energy == pytest.approx(10 * 99 + 5 * 5 + 15 * 60, abs=0.1)


def two_states(virtual: str) -> Platform:
    """Two machines that compute at two speeds, sleep, and have a virtual state of some speed."""
    more = '<prop id="wattage_per_state" value="9:9,9:9,9:9,9:9"/><prop id="sleep_pstates" value="2:3:3"/>'
    machines = "".join(f'<host id="{name}" speed="1Gf,2Gf,1f,{virtual}">{more}</host>' for name in "ab")
    routes = "".join(f'<route src="{name}" dst="master_host"><link_ctn id="wire"/></route>' for name in "ab")
    return parse_platform(
        f'<platform version="4.1"><zone id="z" routing="Full"><host id="master_host" speed="1Gf"><prop '
        f'id="wattage_per_state" value="1:1"/></host>{machines}<link id="wire" bandwidth="1GBps" latency="500ms"/>'
        f"{routes}</zone></platform>"
    )


def test_a_machine_at_work_changes_between_computation_states() -> None:
    """Only sleep is refused there."""
    platform = two_states("0.1f")

    def answer(message: Message) -> Any:
        for event in message.events:
            if type(event).__name__ == "JobSubmitted":
                yield execute(event.job_id, 0, at=message.now)
                yield call(2.5, at=message.now)
            if isinstance(event, RequestedCall):
                yield state(1, 0, at=message.now)

    _, scheduler = run(jobs({}, profiles=PTASK), answer, platform=platform, energy=True)
    (changed,) = scheduler.events(ResourceStateChanged)
    assert (changed.timestamp, changed.state) == (2.5, 1)


def test_a_change_without_speed_would_never_end() -> None:
    """It is refused with the virtual state."""
    platform = two_states("0f")
    with pytest.raises(SchedulerFault, match="its virtual power state 3 has no speed"):
        run(None, scripted((state(2, 0),)), platform=platform, energy=True)


def test_a_change_at_once_beside_one_under_way() -> None:
    """A machine that wakes up for 20 s, and one that computes already: each has its own report, to the same state."""

    def answer(message: Message) -> Any:
        if message.now == 0.0:
            return (state(1, 0), call(15.0))
        called = any(isinstance(event, RequestedCall) for event in message.events)
        return (state(0, 0, at=15.0), state(0, 1, at=15.0)) if called else ()

    platform = small_platform(power=True)
    _, scheduler = run(None, answer, platform=platform, energy=True, fail_on_deadlock=True)
    reported = [(round(e.timestamp), e.resources, e.state) for e in scheduler.events(ResourceStateChanged)]
    assert reported == [(10, (0,), 1), (15, (1,), 0), (36, (0,), 0)]


def test_a_request_for_a_machine_whose_arrival_is_not_told_yet() -> None:
    """Both wake up at 30 s, which reaches the server at 30.5 s; a request of 30.2 s is handled after that."""

    def answer(message: Message) -> Any:
        if message.now == 0.0:
            return Reply(0.0, (state(2, 0, 1), call(20.0)))
        called = any(isinstance(event, RequestedCall) for event in message.events)
        requests = (state(0, 0, 1, at=20.0), state(1, 0, at=30.2)) if called else ()
        return Reply(30.2 if called else message.now, requests)

    _, scheduler = run(None, answer, platform=two_states("0.1f"), energy=True, fail_on_deadlock=True)
    reported = [(e.resources, e.state) for e in scheduler.events(ResourceStateChanged)]
    assert reported == [((0, 1), 2), ((0, 1), 0), ((0,), 1)]


def test_power_states_do_not_count_without_energy() -> None:
    """Nor need hosts have any."""
    assert run(jobs({}, profiles=PTASK))[0].totals.success == 1


def test_between_computation_states_at_once() -> None:
    """The acknowledgement has the time of the request."""
    platform = small_platform(power=True)
    _, scheduler = run(None, scripted((state(0, 0, 1),)), platform=platform, energy=True)
    (event,) = scheduler.events(ResourceStateChanged)
    assert (event.timestamp, event.resources, event.state) == (0.0, (0, 1), 0)


@pytest.mark.parametrize(("requests", "expected"), [
    ((state(7, 0),), "has no power state 7"),
    ((state(2, 0),), "has no power state 2 to be switched to"),
    ((state(1, 9),), "'resources' must lie in 0..5"),
    ((state(1, 6),), "'resources' must lie in 0..5"),
    ((state(1, -1, 0),), "'resources' must lie in 0..5, got -1..0"),
    ((state(-1, 0),), "has no power state -1"),
    ((state(4, 0),), "has no power state 4"),
    ((SetResourceState(0.0, (), 1),), "must name at least one machine"),
    ((state(1, 0), state(0, 0)), "is still switching_off"),
    ((execute("w0!1", 0), state(1, 0)), "is computing and cannot be put to sleep"),
    ((state(1, 0), execute("w0!1", 0)), "cannot compute now, it is switching_off"),
])  # fmt: skip
def test_illegal_changes(requests: Any, expected: str) -> None:
    """Each is refused with its reason."""
    with pytest.raises(SchedulerFault) as caught:
        powered(jobs({}, profiles=PTASK), (), requests)
    assert expected in str(caught.value)


def test_sleeping_machines_cannot_compute_nor_change_sleep() -> None:
    """Asleep, a machine can only be woken up."""
    later = [(), (state(1, 0),), (), (execute("w0!2", 0, at=50.0),)]
    data = jobs({}, {"subtime": 50}, profiles=PTASK)
    with pytest.raises(SchedulerFault, match="cannot compute now, it is sleeping"):
        powered(data, *later)
    later[-1] = (state(1, 0, at=50.0),)
    with pytest.raises(SchedulerFault, match="it cannot be switched to another sleep state"):
        powered(data, *later)


def test_energy_of_a_job() -> None:
    """Idle power before and after, full power while it computes; a job's energy is that of its hosts only."""

    def answer(message: Message) -> Any:
        for event in message.events:
            if type(event).__name__ == "JobSubmitted":
                yield execute(event.job_id, 0, 1, at=message.now)
                yield call(20.0, at=message.now)
            if isinstance(event, RequestedCall):
                yield QueryEnergy(message.now)

    data = jobs({"subtime": 6, "res": 2}, profiles=PTASK)
    result, scheduler = run(data, answer, platform=small_platform(power=True), energy=True)
    # 4 hosts, 20 s: idle 90 W, but two of them compute for 4 s at 200 W; storage hosts take 0 W
    expected = 4 * 20 * 90 + 2 * 4 * (200 - 90)
    assert scheduler.events(EnergyAnswer)[0].consumed_energy == pytest.approx(expected)
    # from the first submission (6 s) to the last end (10 s)
    assert float(result.figures["consumed_joules"]) == pytest.approx(2 * 4 * 200 + 2 * 4 * 90)


def test_a_latency_counts_with_the_load_that_follows() -> None:
    """600 s of work on two hosts after 0.6 ms of latency: SimGrid counts 72,000.072 J for each of them."""
    data = jobs({"res": 2}, profiles={"p": {"type": "parallel_homogeneous", "cpu": 6e11, "com": 1}})
    found, _ = fluid(data, (), (execute("w0!1", 0, 1),))
    assert found["w0!1"] == pytest.approx(2 * 72000.072, abs=1e-4)


def test_a_wait_before_work_counts_with_it_but_where_it_was_waited() -> None:
    """10 s of waiting, then 5 s of work on two hosts: the wait's end is seen on the first host only."""
    profiles = {
        "p": {"type": "composed", "seq": ["wait", "work"]},
        "wait": {"type": "delay", "delay": 10},
        "work": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0},
    }
    found, _ = fluid(jobs({"res": 2}, profiles=profiles), (), (execute("w0!1", 0, 1),))
    assert found["w0!1"] == pytest.approx(10 * 60 + 5 * 120 + 15 * 120)


def test_energy_of_sleep() -> None:
    """The power of each state counts while it lasts."""
    _, scheduler = powered(None, (state(1, 0), call(30.0)), (), (QueryEnergy(30.0),))
    first = 10 * 125 + 20 * 10
    assert scheduler.events(EnergyAnswer)[0].consumed_energy == pytest.approx(first + 3 * 30 * 90)


def test_a_wait_without_work_draws_idle_power() -> None:
    """A delay job uses no flops."""
    result, _ = powered(jobs({}), (), (execute("w0!1", 0),))
    assert float(result.figures["consumed_joules"]) == pytest.approx(4 * 10 * 90)


def test_files(tmp_path: Path) -> None:
    """Initial rows, -2 and -1 while machines switch, then the state; energy at each event."""
    replies = ((), (state(1, 3), execute("w0!1", 0)), (), (), (state(0, 3, at=10.5),))
    powered(jobs({}, profiles=PTASK), *replies, export=str(tmp_path / "x"))
    assert (tmp_path / "x_pstate_changes.csv").read_text().splitlines() == [
        "time,machine_id,new_pstate",
        "0,0-5,0",
        "5e-10,3,-2",  # hello, ready, submitted, left, then the request: 1e-10 s each
        "10.5,3,1",
        "10.5,3,-1",
        "31,3,0",
    ]
    rows = [row.split(",") for row in (tmp_path / "x_consumed_energy.csv").read_text().splitlines()]
    assert rows[0] == ["time", "energy", "event_type", "wattmin", "epower"]
    assert rows[1] == ["0.000000", "0.000000", "p", "400.000000", "360.000000"]  # working hosts draw 100 W at least
    assert rows[2] == ["0.000000", "0.000000", "s", "425.000000", "395.000000"]
    # 4 s: two hosts idle, one computing, one falling asleep
    watts = 2 * 90 + 200 + 125
    assert rows[3] == ["4.000000", f"{4 * watts:.6f}", "e", "425.000000", f"{watts:.6f}"]
    assert [row[2] for row in rows[4:]] == ["p", "p", "p"]
    table = (tmp_path / "x_jobs.csv").read_text().splitlines()
    assert table[1].split(",")[15] == "800.000000"
    states = (tmp_path / "x_schedule.csv").read_text().splitlines()
    figures = dict(zip(states[0].split(","), states[1].split(","), strict=True))
    assert (figures["nb_grouped_switches"], figures["nb_machine_switches"]) == ("2", "2")
    assert figures["time_switching_off"] == "10.000000"
    assert figures["time_switching_on"] == "20.000000"


def host(speeds: int = 4, **properties: str) -> Host:
    """A host with some properties."""
    return Host("h", (1.0,) * speeds, properties=properties)


def test_reading_power_states() -> None:
    """Triplets sleep:off:on; the rest computes."""
    states = read_power_states(host(sleep_pstates=" 1 : 2:3 "))
    assert states.kinds == (Kind.COMPUTATION, Kind.SLEEP, Kind.TRANSITION, Kind.TRANSITION)
    assert (states.off, states.on) == ({1: 2}, {1: 3})
    assert read_power_states(host()).kinds == (Kind.COMPUTATION,) * 4


def test_the_first_state_may_be_one_of_sleep() -> None:
    """They are counted from 0."""
    assert read_power_states(host(sleep_pstates="0:1:2")).kinds[:2] == (Kind.SLEEP, Kind.TRANSITION)


@pytest.mark.parametrize(
    ("speeds", "sleep", "energy", "fault"),
    [
        ("1Gf,0f", "", True, "host 'a': its computation power state 1 needs a speed above 0"),
        ("1Gf,0f", "", False, ""),
        ("1Gf,0.5f", "", True, ""),
        ("1Gf,0f,0.1f", "1:2:2", True, ""),
    ],
)
def test_speeds_of_power_states(speeds: str, sleep: str, energy: bool, fault: str) -> None:
    """A machine computes in its states for computing, if power states count at all."""
    watts = ",".join(["60:70:120"] * len(speeds.split(",")))
    more = f'<prop id="wattage_per_state" value="{watts}"/>' + (
        f'<prop id="sleep_pstates" value="{sleep}"/>' if sleep else ""
    )
    platform = parse_platform(
        f'<platform version="4.1"><zone id="z" routing="Full"><host id="master_host" speed="1Gf">'
        f'<prop id="wattage_per_state" value="1:1"/></host><host id="a" speed="{speeds}">{more}</host>'
        '<link id="wire" bandwidth="1GBps" latency="0"/>'
        '<route src="a" dst="master_host"><link_ctn id="wire"/></route></zone></platform>'
    )
    if fault:
        with pytest.raises(SimulatorInputError) as caught:
            run(jobs({}), platform=platform, energy=energy)
        assert fault in str(caught.value)
    else:
        assert run(jobs({}), platform=platform, energy=energy)[0].totals.success == 1


def test_a_machine_that_begins_asleep_does_not_compute() -> None:
    """Its first power state is the platform's."""
    more = '<prop id="wattage_per_state" value="60:70:120,5:5,9:9"/><prop id="sleep_pstates" value="1:2:2"/>'
    platform = parse_platform(
        f'<platform version="4.1"><zone id="z" routing="Full"><host id="master_host" speed="1Gf">'
        f'<prop id="wattage_per_state" value="1:1"/></host><host id="a" speed="1Gf,1f,1f" pstate="1">{more}</host>'
        '<link id="wire" bandwidth="1GBps" latency="0"/>'
        '<route src="a" dst="master_host"><link_ctn id="wire"/></route></zone></platform>'
    )
    with pytest.raises(SchedulerFault, match=r"machine 0 \('a'\) is not in a computation power state"):
        run(jobs({}), platform=platform, energy=True)


@pytest.mark.parametrize("text", ["-1:1:2", "4:1:2", "1:2", "a:b:c", "1:2:9", "1:1:2", "1:2:3,1:2:3", "1:2:3,2:0:3"])
def test_bad_power_states(text: str) -> None:
    """The message names host and property."""
    with pytest.raises(SimulatorInputError, match="host 'h': property 'sleep_pstates'"):
        read_power_states(host(sleep_pstates=text))


def test_reading_watts() -> None:
    """Two or three numbers per state; nothing stated is 0 W; the older name works, too."""
    assert read_watts(host(2, wattage_per_state="1:2, 3:4:5")) == (Watts(1, 1, 2), Watts(3, 4, 5))
    assert read_watts(host(1, watt_per_state="1:2")) == (Watts(1, 1, 2),)


def test_energy_needs_watts_of_every_host() -> None:
    """SimGrid aborts with this sentence for any host without watts."""
    with pytest.raises(SimulatorInputError, match=r"^No power range properties specified for host h: -E needs"):
        read_watts(host(2))
    with pytest.raises(SimulatorInputError, match=r"No power range properties specified for host node_1: .*\[power\]"):
        run(jobs({}), energy=True)


@pytest.mark.parametrize("text", ["1:2", "1:2,3", "1:2,x:4", "1:2,3:4:5:6", "1:2,-3:4"])
def test_bad_watts(text: str) -> None:
    """The message names host and property."""
    with pytest.raises(SimulatorInputError, match="host 'h': property 'wattage_per_state'"):
        read_watts(host(2, wattage_per_state=text))
