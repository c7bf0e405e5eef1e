"""``spillway check-policy`` finds planted faults, each in its words, and lets sound policies pass."""

import gc
import shlex
import signal
import time
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.experiments.trials.checks import SMALLER, TRIES_ENDLESS, Findings, check, check_one, worlds_of
from spillway.experiments.trials.disciplines import CHECKS
from spillway.experiments.trials.drawing import LEAST_S
from spillway.experiments.trials.examination import ExaminedPolicy
from spillway.experiments.trials.verdict import NOT_SEEN, Extent, Failure
from spillway.experiments.trials.world import CASE, PLAIN, Drain, Notation, TrialJob, World, world_from
from spillway.schedulers.core.book import Book

FAULTS = Path(__file__).parent / "faults.py"


def failures_of(found: Findings) -> dict[str, Failure]:
    """Failures by check."""
    return {verdict.name: failure for verdict in found.verdicts for failure in verdict.failures}


def first_fault(policy: str) -> dict[str, Failure]:
    """The failures of the first failing world, of the rigid model, which every policy has."""
    worlds = worlds_of(policy, Extent(6, models=("rigid",)), {})
    every = (failures_of(check_one(policy, world)) for world in worlds)
    return next(failures for failures in every if failures)


@pytest.mark.parametrize(("name", "what", "words"), [
    ("Twice", "decisions", "it is not waiting (unknown, already started, or rejected)"),
    ("Clock", "clock and chance", "it calls time.time() (line "),
    ("Chance", "clock and chance", "it draws from the module random; view.rng is seeded"),
    ("Narrow", "ends", "(8 nodes, submitted at "),
    ("Overbooked", "decisions", "GB left, the allocation takes"),
    ("Meddler", "view", "it changes a job; only view.notebook and view.timeline are its own"),
    ("Restless", "stops", "more than 1,000 passes (WakeAt)"),
    ("Crash", "decisions", "it fails with IndexError: queue index out of range (line "),
])  # fmt: skip
def test_planted_faults_are_found(name: str, what: str, words: str) -> None:
    """Each by the check that is meant for it."""
    failures = first_fault(f"{FAULTS}:{name}")
    assert what in failures
    assert words in failures[what].words


def test_a_sound_policy_passes_and_a_set_is_found() -> None:
    """The whole check, with the process of another hash seed."""
    found = check(f"{FAULTS}:Good", Extent(1))
    assert failures_of(found) == {}
    assert not any(verdict.result == NOT_SEEN for verdict in found.verdicts)
    assert found.worlds >= 20
    assert "cannot be combined" in found.refused["timeshared"] if "timeshared" in found.refused else True
    failures = failures_of(check(f"{FAULTS}:Unordered", Extent(2, models=("rigid",))))
    assert list(failures) == ["same again"]
    assert "another hash seed" in failures["same again"].words


def test_a_pass_without_end_is_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    """In words, with the line of the policy; the first world is enough, and few are tried to find a smaller one."""
    assert main(["check-policy", f"{FAULTS}:Hang", "--cpu", "0.1"]) == 1
    out = capsys.readouterr().out
    assert "Hang: 1 worlds" in out
    assert "FAILED  stops: the world has not ended after 0.1 s of CPU time (--cpu) (line " in out
    assert " of faults.py)" in out
    assert f"a check failed: looking for a smaller world: {TRIES_ENDLESS} of {TRIES_ENDLESS}" in out
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0.0


def test_a_policy_that_calls_itself_without_end_ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six smaller worlds of all passes that there may be (here 50), not sixty, and no other world."""
    monkeypatch.setattr("spillway.experiments.trials.watch.MOST_PASSES", 50)
    phases: list[tuple[str, int, int]] = []
    found = check(f"{FAULTS}:Restless", Extent(2), lambda *told: phases.append(told))
    assert list(failures_of(found)) == ["stops"]
    assert found.worlds == 1
    assert phases[-1][0] == SMALLER
    assert len(phases) <= 1 + TRIES_ENDLESS


def test_a_clock_read_in_a_collection_is_not_the_policys() -> None:
    """Hypothesis measures collections in ``gc.callbacks``, and so may any other library of the process."""
    former = gc.get_threshold()

    def measure(_phase: str, _facts: dict[str, int]) -> None:
        time.perf_counter()

    gc.callbacks.append(measure)
    gc.set_threshold(1, 10_000, 10_000)  # nearly every object is followed by a collection of the youngest
    try:
        assert failures_of(check_one("fcfs", worlds_of("fcfs", Extent(1, models=("rigid",)), {})[0])) == {}
        assert gc.isenabled()
    finally:
        gc.callbacks.remove(measure)
        gc.set_threshold(*former)


def test_options_that_make_a_world_long_are_left_out() -> None:
    """A slice of 1 ms made one world of the gang policies take 15 s; every other has ended in a tenth of one."""
    values = {
        policy: {
            world.options[name]
            for world in worlds_of(policy, Extent(), {})
            for name in world.options.keys() & {"quantum", "slice_s"}
        }
        for policy in ("gang", f"{FAULTS}:Slow")
    }
    assert {min(some) for some in values.values()} == {LEAST_S}


def test_the_smallest_world_is_printed_with_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    """One wide job is enough; the command printed plays it again, with the same answer; nothing is called passed that
    was not looked at."""
    assert main(["check-policy", f"{FAULTS}:Narrow", "--cases", "1"]) == 1
    out = capsys.readouterr().out
    assert "job 0: at 0 s, 8 nodes, runs 1 s, walltime 200 s" in out
    assert "job 1:" not in out
    (line,) = [line for line in out.splitlines() if "again: " in line and "spillway" in line]
    words = shlex.split(line.partition("again: ")[2])
    assert main(words[1:]) == 1
    again = capsys.readouterr().out
    assert "FAILED  ends: no job runs or arrives any more, and job 0 (8 nodes" in again
    assert "passed" not in again
    assert again.count("not seen") == len(CHECKS) - 1


@pytest.mark.parametrize(("text", "notation", "words"), [
    ('{"jobs":[]}', CASE, "--case: expected a world as a failed check prints it, with model and jobs"),
    ('{"model":"rigid","jobs":[[0,1,2.0]]}', CASE, "--case: expected jobs as rows of submit_s, nodes, run_s, gb"),
    ('{"model":"rigid","jobs":[[0,1,2.0,0,0,"9",true]]}', CASE, "Expected `int | null`, got `str`"),
    ('{"model":"rigid","jobs":[],"storages":1}', CASE, "--case: expected nothing but changes, drains, jobs, model"),
    ('{"nodes":2,"jobs":[[1,1]]}', PLAIN, "--world: expected jobs as rows of submit_s, nodes, walltime_s, gb"),
    ('{"nodes":2,"jobs":[[1,1,9,0,0.5]]}', PLAIN, "--world: expected jobs of 1 node .* times in whole seconds"),
    ('{"nodes":0,"jobs":[[1,1,9]]}', PLAIN, "--world: expected 1 to 64 nodes"),
    ('{"nodes":2,"jobs":[[1,1,9]],"model":"io"}', PLAIN, "--world: expected nothing but gb, jobs, nodes, storages"),
])  # fmt: skip
def test_texts_that_are_no_world(text: str, notation: Notation, words: str) -> None:
    """Each command takes worlds in its own notation and no other."""
    with pytest.raises(SpecError, match=words.replace("|", r"\|")):
        world_from(text, notation)


def test_a_start_on_drained_bytes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if ledger and timeline agree with each other, and both miss the event."""
    job = TrialJob(5, 1, 1.0, 5, 0, 200, False)
    drains = (Drain(1.0, 8, 6), Drain(1.0, 9, 6), Drain(900.0, 8, 0), Drain(900.0, 9, 0))
    world = World((job,), drains=drains)
    assert ExaminedPolicy("fcfs").play(world).faults == {}
    monkeypatch.setattr(Book, "drain", lambda *_: None)
    words = "bb0 holds 5,000,000,000 of 4,000,000,000 bytes"
    assert ExaminedPolicy("fcfs").play(world).faults == {"nothing over-committed": words}
