"""Registration during the simulation: jobs, profiles, garbage collection (batsim4.md section 5)."""

from typing import Any

import pytest

from spillway.protocol import messages as m
from spillway.simulator.errors import Deadlock, SchedulerFault, SimulatorInputError
from tests.simulator.worlds import FINISHED, execute, jobs, run, scripted

DELAY = {"type": "delay", "delay": 2}


def profile(name: str = "q", workload: str = "dyn", data: Any = None, at: float = 0.0) -> m.RegisterProfile:
    """A registration of a profile."""
    return m.RegisterProfile(at, workload, name, data or DELAY)


def job(job_id: str = "dyn!a", at: float = 0.0, **fields: Any) -> m.RegisterJob:
    """A registration of a job."""
    return m.RegisterJob(at, job_id, {"id": job_id, "subtime": 0, "res": 1, "profile": "q", **fields})


def dynamic(*replies: Any, data: Any = None, **options: Any) -> Any:
    """A run with dynamic jobs."""
    return run(data, scripted(*replies), dynamic_jobs=True, **options)


def fault(*replies: Any, data: Any = None, **options: Any) -> str:
    """The message that these replies provoke."""
    with pytest.raises(SchedulerFault) as caught:
        dynamic(*replies, data=data, **options)
    return str(caught.value)


def test_register_and_execute_in_one_reply() -> None:
    """Profile, job, metadata, execution and the end of registration may all be in one reply."""
    result, scheduler = dynamic((profile(), job(), m.SetJobMetadata(0.0, "dyn!a", "x"), execute("dyn!a", 0), FINISHED))
    assert result.totals.success == 1
    assert scheduler.events(m.JobSubmitted) == []
    assert scheduler.events(m.JobCompleted)[0].job_id == "dyn!a"


def test_jobs_stopped_among_others() -> None:
    """Three of one profile, two of which reach their walltime of 1 s."""
    names = ["dyn!0", "dyn!1", "dyn!2"]
    requests = [
        profile(),
        job(names[0]),
        *(job(name, walltime=1.0) for name in names[1:]),
        *(execute(name, host) for host, name in enumerate(names)),
        FINISHED,
    ]
    _, scheduler = dynamic(requests)
    assert [(event.job_id, event.return_code) for event in scheduler.events(m.JobCompleted)] == [
        ("dyn!1", -1),
        ("dyn!2", -1),
        ("dyn!0", 0),
    ]


def test_acknowledgement() -> None:
    """With the option each registration is answered with JOB_SUBMITTED; numbers are as printed."""
    _, scheduler = dynamic(
        (profile(), job(walltime=9.12345678, extra=1 / 3), execute("dyn!a", 0), FINISHED), acknowledge_dynamic_jobs=True
    )
    (event,) = scheduler.events(m.JobSubmitted)
    assert event.job == {
        "id": "dyn!a", "subtime": 0, "res": 1, "profile": "q", "walltime": 9.123457, "extra": 0.333333,
    }  # fmt: skip
    assert event.profile is None


def test_acknowledgement_with_profile() -> None:
    """Both options together send the profile, too."""
    _, scheduler = dynamic(
        (profile(), job(), execute("dyn!a", 0), FINISHED), acknowledge_dynamic_jobs=True, forward_profiles=True
    )
    assert scheduler.events(m.JobSubmitted)[0].profile == DELAY


def test_short_id_gets_the_workload_name() -> None:
    """`id` in the object may leave the workload out."""
    result, _ = dynamic((profile(), m.RegisterJob(0.0, "dyn!7", {"id": 7, "subtime": 0, "res": 1, "profile": "q"}),
                         execute("dyn!7", 0), FINISHED))  # fmt: skip
    assert result.totals.success == 1


def test_future_submission_time() -> None:
    """It is stored as it is and gives a negative waiting time."""
    result, _ = dynamic((profile(), job(subtime=50), execute("dyn!a", 0), FINISHED))
    assert result.totals.waiting == pytest.approx(-50.0)


@pytest.mark.parametrize(("requests", "expected"), [
    ((job(),), "there is no workload 'dyn'"),
    ((profile(), job(profile="other")), "has no profile 'other'"),
    ((profile(), job(), job()), "a job 'dyn!a' exists already"),
    ((profile(), profile()), "has, or had, a profile 'q' already"),
    ((profile(), m.RegisterJob(0.0, "dyn!a", {"id": "dyn!b", "subtime": 0, "res": 1, "profile": "q"})), "another"),
    ((profile(), m.RegisterJob(0.0, "dyn!a", {"id": "a", "res": 1, "profile": "q"})), "no field 'subtime'"),
    ((profile(), m.RegisterJob(0.0, "dyn!a", {"subtime": 0, "res": 1, "profile": "q"})), "no field 'id'"),
    ((profile(), job(res=1.0)), "field 'res' must be a whole number"),
    ((profile(), job(walltime=0)), "field 'walltime' must be a number above 0, or -1"),
    ((profile(), job(walltime=4e-7)), "field 'walltime' must be a number above 0, or -1"),
    ((profile(data={"type": "delay", "delay": 1e-7}),), "field 'delay' must be a number above 0, got 0.0"),
    ((profile(data={"type": "smpi", "trace": "x"}),), "unknown type 'smpi' (SMPI replay is not part"),
    ((profile(data={"type": "usage_trace", "trace": "x"}),), "is only allowed in a workload file"),
    ((profile(data={"type": "nonsense"}),), "unknown type 'nonsense'"),
    ((profile(data={"type": "parallel_homogeneous", "cpu": 1e25, "com": 0}),), "too many digits to be printed"),
    ((profile(data={"type": "parallel", "cpu": [1, 2], "com": [0, 0, 0, 0]}), job()), "must be 2, the size of its"),
])  # fmt: skip
def test_illegal_registrations(requests: tuple[m.Request, ...], expected: str) -> None:
    """Each is refused with its reason."""
    assert expected in fault(requests)


def test_registration_needs_the_option() -> None:
    """Without --enable-dynamic-jobs nothing can be registered."""
    with pytest.raises(SchedulerFault, match=r"needs --enable-dynamic-jobs \(at \$\.events\[0\]\)"):
        run(None, scripted((profile(),)))


def test_composed_profiles_can_be_registered_but_not_run() -> None:
    """Batsim accepts them and crashes when they are executed (batsim4.md 5)."""
    composed = profile("c", data={"type": "composed", "seq": ["q"]})
    result, _ = dynamic((profile(), composed, FINISHED))
    assert result.totals.jobs == 0
    message = fault((profile(), composed, job(profile="c"), execute("dyn!a", 0)))
    assert "job 'dyn!a'" in message
    assert "makes Batsim 4 crash" in message


def test_after_the_end_of_registration() -> None:
    """In a later message, or later in the same reply, nothing can be registered any more."""
    assert "after the notification registration_finished" in fault(
        (profile(), job(), execute("dyn!a", 0), FINISHED), (profile("r", at=2.5),)
    )
    assert "after the notification" in fault((FINISHED, FINISHED, profile()))


def test_the_end_of_registration_takes_a_moment() -> None:
    """The next event of the same reply is still accepted, as in Batsim."""
    result, _ = dynamic((FINISHED, profile()))
    assert result.totals.jobs == 0


def test_continue_registration() -> None:
    """It works for later messages; for the next event of the same instant it comes too late."""
    again = m.NotifyRegistration(2.5, False)
    first = (profile(), job(), execute("dyn!a", 0), FINISHED)
    assert "continue_registration does not help the next event" in fault(first, (again, profile("r", at=2.5)))
    third = (profile("r", at=3.0), m.NotifyRegistration(3.0, True))
    result, _ = dynamic(first, (again, m.CallMeLater(2.5, 3.0)), third)
    assert result.totals.success == 1


def test_forgotten_end_of_registration_is_a_deadlock() -> None:
    """Without an end of registration the simulation cannot end, and the error says why."""
    with pytest.raises(Deadlock, match="never sent the notification registration_finished"):
        dynamic((profile(),), fail_on_deadlock=True)


def test_names_are_never_free_again() -> None:
    """Neither of ended jobs nor of collected or unused profiles."""
    first = (profile(), job(), execute("dyn!a", 0))
    assert "a job 'dyn!a' exists already, or did" in fault(first, (job(at=2.5),), profile_reuse=True)
    assert "has, or had, a profile 'q' already" in fault(first, (profile(at=2.5),))
    unused = jobs({}, profiles={"p": DELAY, "unused": DELAY})
    message = fault((), (m.RegisterProfile(0.0, "w0", "unused", DELAY),), data=unused)
    assert "has, or had, a profile 'unused'" in message


def test_profiles_of_ended_jobs_are_collected() -> None:
    """Usable in the reply to the message with the completion, not later; other jobs keep it (batsim4.md 5)."""
    first = (profile(), job(), job("dyn!b"), execute("dyn!a", 0))
    second = (job("dyn!c", at=2.5), execute("dyn!b", 0, at=2.5), execute("dyn!c", 1, at=2.5))
    result, _ = dynamic(first, (*second, FINISHED))
    assert result.totals.success == 3
    assert "has no profile 'q' (it existed, but is dropped" in fault(first, second, (job("dyn!d", at=4.5),))


def test_profile_reuse() -> None:
    """With the option profiles stay."""
    first = (profile(), job(), execute("dyn!a", 0))
    second = (job("dyn!b", at=2.5), execute("dyn!b", 0, at=2.5))
    third = (job("dyn!c", at=5.0), execute("dyn!c", 0, at=5.0), FINISHED)
    result, _ = dynamic(first, second, third, profile_reuse=True)
    assert result.totals.success == 3


def test_rejected_jobs_release_their_profile_too() -> None:
    """A rejection counts as an end once the next message has been sent."""
    data = jobs({}, {"subtime": 5}, {"subtime": 9})
    late = m.RegisterJob(5.0, "w0!x", {"id": "x", "subtime": 5, "res": 1, "profile": "p"})
    message = fault((), (m.RejectJob(0.0, "w0!1"),), (), (late,), data=data)
    assert "has no profile 'p' (it existed, but is dropped" in message


def test_options_that_need_others() -> None:
    """Profile reuse and acknowledgements need dynamic jobs."""
    for option in ("profile_reuse", "acknowledge_dynamic_jobs"):
        with pytest.raises(SimulatorInputError, match="needs --enable-dynamic-jobs"):
            run(None, **{option: True})


def test_parallel_additional_io_job() -> None:
    """I/O of its own machines is merged into the job's task; both end together (batsim4.md 5)."""
    io = m.AdditionalIoJob((0, 4), "io", {"type": "parallel", "cpu": [0, 0], "com": [0, 7e9, 0, 0]})
    data = jobs({}, profiles={"p": {"type": "parallel_homogeneous", "cpu": 2e9, "com": 0}})
    result, _ = run(data, scripted((), (execute("w0!1", 0, additional_io_job=io),)))
    assert result.totals.makespan == pytest.approx(9.0)


@pytest.mark.parametrize(("io", "expected"), [
    (((0, 4), "p", {"type": "delay", "delay": 1}), "the profile 'p' exists already"),
    (((0, 4), "nothing", None), "has no profile 'nothing'"),
    (((0, 4), "io", {"type": "delay", "delay": 1}), "must be a parallel task, it is 'delay'"),
    (((0, 9), "io", {"type": "parallel_homogeneous", "cpu": 0, "com": 1}), "names machine 9"),
    (((0, 4), "io", {"type": "parallel_homogeneous", "cpu": 1, "com": 1}), "storage host 4"),
])  # fmt: skip
def test_illegal_additional_io_jobs(io: tuple[Any, ...], expected: str) -> None:
    """Each is refused with its reason."""
    data = jobs({}, profiles={"p": {"type": "parallel_homogeneous", "cpu": 2e9, "com": 0}})
    with pytest.raises(SchedulerFault) as caught:
        run(data, scripted((), (execute("w0!1", 0, additional_io_job=m.AdditionalIoJob(*io)),)))
    assert expected in str(caught.value)


def test_additional_io_job_needs_a_parallel_task() -> None:
    """A delay cannot be merged with I/O."""
    io = m.AdditionalIoJob((0, 4), "io", {"type": "parallel_homogeneous", "cpu": 0, "com": 1})
    with pytest.raises(SchedulerFault, match="cannot take an additional_io_job"):
        run(jobs({}), scripted((), (execute("w0!1", 0, additional_io_job=io),)))
