"""Forbidden requests of the scheduler: each rule of batsim4.md section 5, and the message that names the broken one."""

from typing import Any

import pytest

from spillway.protocol import messages as m
from spillway.simulator.errors import SchedulerFault
from tests.simulator.worlds import execute, jobs, kill, run, scripted

DISK, PFS = 4, 5
HOMOGENEOUS = {"p": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}}


def fault(data: dict[str, Any], *requests: m.Request, **options: Any) -> str:
    """The message that a reply to the first submissions provokes."""
    with pytest.raises(SchedulerFault) as caught:
        run(data, scripted((), requests), **options)
    assert caught.value.path.startswith("$.events[")
    assert caught.value.exit_code == 1
    return str(caught.value)


@pytest.mark.parametrize(("request_", "expected"), [
    (execute("w0!9", 0), "job 'w0!9': EXECUTE_JOB: it does not exist"),
    (execute("w9!1", 0), "there is no workload 'w9'"),
    (execute("1", 0), "expected a job id WORKLOAD!NAME"),
    (execute("w0!1!1", 0), "expected a job id WORKLOAD!NAME"),
    (execute("w0!1"), "'alloc' must name at least one machine"),
    (execute("w0!1", 6), "names machine 6, the ids are 0..5"),
    (execute("w0!1", 0, 1), "as many places as the job requests, 1, got 2 on '0-1'"),
    (execute("w0!2", 0), "as many places as the job requests, 2, got 1"),
    (execute("w0!2", 0, 1, mapping={0: 0}), "'mapping' must have as many places as the job requests, 2, got 1"),
    (execute("w0!2", 0, 1, mapping={0: 0, 2: 1}), "without a gap"),
    (execute("w0!2", 0, 1, mapping={0: 0, 1: 2}), "place 2 of an allocation of 2"),
    (execute("w0!1", DISK), "compute 1e+09 flop on the storage host 4 ('disk')"),
    (m.RejectJob(0.0, "w0!9"), "REJECT_JOB: it does not exist"),
    (kill("w0!1"), "'w0!1': only a running job can be killed, it is SUBMITTED"),
    (kill("w0!7"), "'w0!7': it does not exist"),
    (m.KillJob(0.0, ()), "'job_ids' must name at least one job"),
    (m.SetJobMetadata(0.0, "w0!9", "x"), "SET_JOB_METADATA: it does not exist"),
    (m.SetJobMetadata(0.0, "w0!1", 'a"b'), "must not contain a double quote"),
    (m.ToJobMsg(0.0, "w0!9", "x"), "TO_JOB_MSG: it does not exist"),
    (m.QueryEnergy(0.0), "QUERY: a request for the consumed energy needs --energy"),
    (m.SetResourceState(0.0, (0,), 1), "SET_RESOURCE_STATE: changing power states needs --energy"),
    (m.ChangeJobState(0.0, "w0!1", m.JobState.REJECTED), "Batsim 4.2.1 can only change SUBMITTED to RUNNING"),
    (m.ChangeJobState(0.0, "w0!1", m.JobState.COMPLETED_FAILED), "'job_state' must be one of"),
    (m.ChangeJobState(0.0, "w0!1", m.JobState.SUBMITTED), "'job_state' must be one of"),
])  # fmt: skip
def test_illegal_requests(request_: m.Request, expected: str) -> None:
    """Each ends the simulation with a message that names the job, the rule and the place."""
    message = fault(jobs({}, {"res": 2}, profiles=HOMOGENEOUS), request_)
    assert expected in message
    assert "(at $.events[0].data)" in message


def test_executed_twice() -> None:
    """A job can only be executed while it is SUBMITTED."""
    message = fault(jobs({}), execute("w0!1", 0), execute("w0!1", 1))
    assert "only a SUBMITTED job can be executed, it is RUNNING (at $.events[1].data)" in message


def test_rejected_then_executed() -> None:
    """A rejected job stays known until the next message, but cannot run."""
    assert "it is REJECTED" in fault(jobs({}), m.RejectJob(0.0, "w0!1"), execute("w0!1", 0))


def test_reported_jobs_are_forgotten() -> None:
    """After the message with its completion, any event that names a job is an error (batsim4.md 4.4)."""
    data = jobs({}, {"subtime": 60})
    requests = scripted((), (execute("w0!1", 0),), (m.SetJobMetadata(0.0, "w0!1", "late"),))
    with pytest.raises(SchedulerFault, match="it does not exist any more: it ended or was rejected"):
        run(data, requests)


def test_busy_machine() -> None:
    """Without compute sharing a machine runs one job; the message names it and the option."""
    message = fault(jobs({}, {}), execute("w0!1", 2), execute("w0!2", 2))
    assert "machine 2 ('node_2') is in use by w0!1, and sharing it needs --enable-compute-sharing" in message


def test_compute_sharing() -> None:
    """With the option several jobs run on one machine."""
    result, _ = run(jobs({}, {}), scripted((), (execute("w0!1", 2), execute("w0!2", 2))), compute_sharing=True)
    assert result.totals.success == 2


def test_storage_sharing() -> None:
    """Storage hosts are shared unless that is switched off."""
    requests = (execute("w0!1", PFS), execute("w0!2", PFS))
    result, _ = run(jobs({}, {}), scripted((), requests))
    assert result.totals.success == 2
    assert "--disable-storage-sharing" in fault(jobs({}, {}), *requests, storage_sharing=False)


def test_mapping_puts_executors_on_hosts() -> None:
    """Two executors on one host are one allocated machine, and the job's size counts executors."""
    data = jobs({"res": 2}, profiles=HOMOGENEOUS)
    _, scheduler = run(data, scripted((), (execute("w0!1", 3, mapping={0: 0, 1: 0}),)))
    assert scheduler.events(m.JobCompleted)[0].alloc == (3,)


def test_allocation_is_sorted() -> None:
    """Ids may come in any order and twice; they are reported sorted, each once."""
    _, scheduler = run(jobs({"res": 3}), scripted((), (execute("w0!1", 3, 1, 2, 1),)))
    assert scheduler.events(m.JobCompleted)[0].alloc == (1, 2, 3)


def test_total_profiles_run_anywhere() -> None:
    """parallel_homogeneous_total, and sequences of it, may get any number of machines (batsim4.md 5)."""
    profiles = {
        "p": {"type": "parallel_homogeneous_total", "cpu": 4e9, "com": 0},
        "s": {"type": "composed", "seq": ["p", "p"]},
    }
    data = jobs({"res": 1}, {"res": 9, "profile": "s"}, profiles=profiles)
    result, scheduler = run(data, scripted((), (execute("w0!1", 0, 1), execute("w0!2", 2, 3))))
    assert result.totals.success == 2
    assert [e.timestamp for e in scheduler.events(m.JobCompleted)] == [pytest.approx(2.5), pytest.approx(4.5)]


def test_mixed_sequence_is_not_elastic() -> None:
    """A sequence with any other profile must get the number of hosts that the job requests."""
    profiles = {
        "p": {"type": "parallel_homogeneous_total", "cpu": 4e9, "com": 0},
        "d": {"type": "delay", "delay": 1},
        "s": {"type": "composed", "seq": ["p", "d"]},
    }
    assert "requests, 1, got 2" in fault(jobs({"profile": "s"}, profiles=profiles), execute("w0!1", 0, 1))


def test_declared_running() -> None:
    """SUBMITTED to RUNNING is the one change that works; the job never ends, and cannot be killed."""
    change = m.ChangeJobState(0.0, "w0!1", m.JobState.RUNNING)
    result, _ = run(jobs({}), scripted((), (change,)))
    assert result.deadlocked
    assert "RUNNING by CHANGE_JOB_STATE only" in fault(jobs({}), change, kill("w0!1"))


def test_estimates_are_ignored() -> None:
    """An ANSWER is read and has no effect."""
    result, _ = run(jobs({}), scripted((), (m.AnswerEstimate(0.0, "w0!1", 3.0), execute("w0!1", 0))))
    assert result.totals.success == 1


def test_unknown_request() -> None:
    """Something that is no request at all is refused."""
    with pytest.raises(SchedulerFault, match="unknown request"):
        run(jobs({}), scripted((), (_NoRequest(),)))  # type: ignore[arg-type]


class _NoRequest:
    timestamp = 0.0


def test_return_codes() -> None:
    """`ret` above 0 is a failure, with that return code (batsim4.md 4.4)."""
    _, scheduler = run(jobs({}, profiles={"p": {"type": "delay", "delay": 1, "ret": 3}}))
    (event,) = scheduler.events(m.JobCompleted)
    assert (event.state, event.return_code) == (m.JobState.COMPLETED_FAILED, 3)


def test_ret_minus_one_is_misread() -> None:
    """`ret` -1 is taken for the walltime, as in Batsim."""
    _, scheduler = run(jobs({}, profiles={"p": {"type": "delay", "delay": 1, "ret": -1}}))
    assert scheduler.events(m.JobCompleted)[0].state is m.JobState.COMPLETED_WALLTIME_REACHED
