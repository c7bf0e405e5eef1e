"""The shortest delays, calls beyond the end of simulated time, and ends at just the expected end."""

from typing import Any

import pytest

from spillway.protocol.messages import JobState
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.jobmodels import MODELS
from tests.kit.specs import session_spec
from tests.schedulers.lives.story import GB, TINY, job, play

SUCCESS = JobState.COMPLETED_SUCCESSFULLY

NEARLY_S = 8e9

"""Less than a bound of 1e9 s before the latest time, 2^33 s."""


@pytest.mark.parametrize("model", MODELS)
def test_a_delay_that_is_printed_as_0(model: str) -> None:
    """Batsim plays a nanosecond, says 0 s, and refuses delays of 0 s that we would register."""
    profiles: dict[str, Any] = {"d": {"type": "delay", "delay": 1e-9}, "e": {"type": "delay", "delay": 5.0}}
    if model == "operations":
        profiles["e"]["operations"] = [{"compute_s": 1e-9}, {"compute_s": 4e-7}, {"compute_s": 1.0}]
    jobs = [job("0", 5, 1, "d", walltime=15), job("1", 6, 1, "e", walltime=15)]
    story = play(TINY, session_spec("fcfs", model=model), jobs, profiles)
    assert story.states == {"0": SUCCESS, "1": SUCCESS}
    assert not story.refused


STAGED = {"type": "delay", "delay": 10.0, "bb": 9 * GB, "stage_in_s": 1.0}

CALLS: dict[str, tuple[SessionSpec, list[dict[str, Any]]]] = {
    "standby": (session_spec("fcfs", settings={"bb_life": "standby:bound=1e9"}),
     [job("R", NEARLY_S, 8, "p"), *(job(name, NEARLY_S, 1, "q") for name in "ABC")]),
    "stage-in": (session_spec("fcfs", settings={"bb_life": "slurm:stage_in_timeout=1e12"}), [job("A", 0, 1, "q")]),
    "stage-out": (session_spec("fcfs", settings={"bb_life": "slurm:stage_out_timeout=1e12"}), [job("A", 0, 1, "q")]),
    "walltime": (session_spec("fcfs", model="io", settings={"io_control": "exclusive"}),
     [job("A", 5, 1, "q", walltime=2**33), job("B", 5, 1, "q", walltime=2**33)]),
}  # fmt: skip

"""Sessions that would request a call after 2^33 s, and jobs that end without it."""


@pytest.mark.parametrize("case", CALLS)
def test_no_call_is_requested_beyond_the_latest_time(case: str) -> None:
    """It would never come, and the simulator refuses it."""
    spec, jobs = CALLS[case]
    story = play(TINY, spec, jobs, {"p": {"type": "delay", "delay": 10.0}, "q": STAGED})
    assert story.states == {each_job["id"]: SUCCESS for each_job in jobs}


def test_what_the_site_did_after_the_latest_time_never_starts() -> None:
    """Under ``replay``; the others run, and the simulation ends in a deadlock."""
    jobs = [job("A", 10, 1, "p", site_wait_s=1e10), job("B", 10, 1, "p", site_wait_s=0)]
    story = play(TINY, session_spec("replay"), jobs, {"p": {"type": "delay", "delay": 10.0}}, deadlock=True)
    assert story.states == {"B": SUCCESS}
    assert story.waiting == 1


CASES: dict[str, tuple[list[dict[str, Any]], dict[str, Any], tuple[str, float]]] = {
    "stage-in": ([job("15", 18, 1, "p15", walltime=30), job("1", 20, 8, "p1", walltime=100)],
     {"p1": {"type": "delay", "delay": 20}, "p15": {"type": "delay", "delay": 40, "bb": 1, "stage_in_s": 10000}},
     ("1", 48.0)),
    "stage-out": ([job("6", 0, 8, "p6", walltime=30), job("1", 18, 8, "p1", walltime=10)],
     {"p1": {"type": "delay", "delay": 1}, "p6": {"type": "delay", "delay": 20, "bb_total": 2 * GB, "stage_out_s": 11}},
     ("1", 30.0)),
}  # fmt: skip

"""Jobs, profiles, and a job with its start: a requested call ends the previous job, at its walltime."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("policy", ["fcfs", "easy", "filler"])
@pytest.mark.parametrize("options", [{}, {"book_stages": "1"}])
def test_the_next_job_starts_when_a_call_ends_the_one_before(case: str, policy: str, options: dict[str, str]) -> None:
    """Nothing else happens after that call, so the nodes must be free in its pass."""
    jobs, profiles, (name, start_s) = CASES[case]
    spec = session_spec(policy, model="io", model_options=options, literal=True)
    story = play(TINY, spec, jobs, profiles)
    assert story.starts[name] == start_s
