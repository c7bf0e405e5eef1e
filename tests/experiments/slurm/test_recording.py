"""Contents of the log of Slurm's controller."""

from pathlib import Path

import pytest

from spillway.experiments.run.errors import RunFailed, SpecError
from spillway.experiments.slurm.configuration import (
    Settings,
    Submission,
)
from spillway.experiments.slurm.recording import SlurmOutput, read, recorded, write
from spillway.experiments.slurm.validate import generated

LOG = """[2026-01-01T10:00:59.500] slurmctld version 22.05.8 started on cluster spillway
[2026-01-01T10:01:00.900] debug:  sched: Running job scheduler for default depth.
[2026-01-01T10:01:02.000] _slurm_rpc_submit_batch_job: JobId=1 InitPrio=4294901759 usec=1
#BB_LUA pool=bb capacity=4
[2026-01-01T10:01:02.100] sched/backfill: _attempt_backfill: beginning
[2026-01-01T10:01:02.200] burst_buffer/lua: _alloc_job_bb: BURST_BUF: start job allocate JobId=1
[2026-01-01T10:01:03.300] burst_buffer/lua: _start_stage_in: BURST_BUF: Setup/stage-in complete for JobId=1
[2026-01-01T10:01:04.400] sched/backfill: _start_job: Started JobId=1 in p on n[1,3-4]
[2026-01-01T10:01:04.500] debug2: node_did_resp n3
[2026-01-01T10:01:06.500] _job_complete: JobId=1 done
[2026-01-01T10:01:06.510] debug2: node_did_resp n2
[2026-01-01T10:01:06.520] debug2: node_did_resp n4
[2026-01-01T10:01:06.530] debug2: node_did_resp n1
[2026-01-01T10:01:06.540] debug2: node_did_resp n3
[2026-01-01T10:01:06.900] debug2: node_did_resp n3
[2026-01-01T10:01:08.600] x: Modify JobId=1 burst buffer state from staging-out to teardown
[2026-01-01T10:01:08.700] x: Modify JobId=1 burst buffer state from teardown to complete
"""
SETTINGS = Settings(nodes=4, pool_units=10)
JOB = Submission(at_s=0.0, nodes=3, units=4, runtime_s=2, limit_min=1, stage_in_s=1, stage_out_s=2)


def test_steps_are_read_in_seconds_after_a_whole_minute() -> None:
    """Each step of a job, when its last node was idle, and the passes of both schedulers."""
    found = recorded(LOG, SETTINGS, [JOB], SlurmOutput(states=[(1767261662.5, 1, "PENDING", "BurstBufferStageIn")]))
    (job,) = found.jobs
    assert (job.submitted, job.allocated, job.staged, job.started) == (2.0, 2.2, 3.3, 4.4)
    assert (job.ended, job.idle, job.staged_out, job.freed) == (6.5, 6.54, 8.6, 8.7)
    assert job.backfilled
    assert (found.slurm, found.main, found.backfill) == ("22.05.8", [0.9], [2.1])


def test_nodes_are_idle_when_all_have_answered_in_the_order_of_the_log() -> None:
    """All three answer at 6.530, before a pass in the same ms or after it: nodes are idle 0.4 ms before or after."""
    answered, passed = (
        "[2026-01-01T10:01:06.530] debug2: Tree head got back 3\n",
        "debug:  sched: Running job scheduler.",
    )
    pass_line = f"[2026-01-01T10:01:06.530] {passed}\n"
    at = LOG.index("[2026-01-01T10:01:06.530]")
    for lines, idle in ((answered + pass_line, 6.5296), (pass_line + answered, 6.5304)):
        (job,) = recorded(LOG[:at] + lines + LOG[at:], SETTINGS, [JOB], SlurmOutput()).jobs
        assert job.idle == idle


def test_a_pool_is_free_before_or_after_a_pass_in_the_same_ms() -> None:
    """The buffer is given back at 8.700, before a pass in the same ms or after it: 0.4 ms before or after."""
    pass_line = "[2026-01-01T10:01:08.700] debug:  sched: Running job scheduler.\n"
    at = LOG.index("[2026-01-01T10:01:08.700]")
    for log, freed in ((LOG + pass_line, 8.6996), (LOG[:at] + pass_line + LOG[at:], 8.7004)):
        (job,) = recorded(log, SETTINGS, [JOB], SlurmOutput()).jobs
        assert job.freed == freed


def test_jobs_are_taken_before_that_is_logged_and_extended_by_their_configuration() -> None:
    """The controller says at 2.000 that taking the job took 1.5 ms, and that its limit was extended by a second."""
    log = LOG.replace("usec=1\n", "usec=1500\n")
    (job,) = recorded(log, SETTINGS, [JOB], SlurmOutput()).jobs
    assert (job.submitted, job.extended) == (1.9985, 0.0)
    log += "[2026-01-01T10:01:08.800] Extending JobId=1 time limit by 1 secs for configuration\n"
    assert recorded(log, SETTINGS, [JOB], SlurmOutput()).jobs[0].extended == 1.0


def test_a_job_is_submitted_in_the_second_that_squeue_prints() -> None:
    """The controller's clock of whole seconds is up to 4 ms late: at 2.001 it is in the second before."""
    log = LOG.replace("10:01:02.000]", "10:01:02.002]")
    for second, expected in (("2026-01-01T10:01:02", 2.001), ("2026-01-01T10:01:01", 1.9996)):
        (job,) = recorded(
            log.replace("usec=1\n", "usec=1000\n"), SETTINGS, [JOB], SlurmOutput(submitted={1: second})
        ).jobs
        assert job.submitted == expected


def test_backfill_passes_that_were_cut() -> None:
    """Four passes one after another: a whole one; one that ended before it had planned the second pair that it reached,
    one that had planned it, and one that reached no pair.
    """
    one = ("BACKFILL: test for JobId=1 Prio=9 Partition=p Reservation=NONE", "entering _try_sched for JobId=1.")
    two = ("BACKFILL: test for JobId=2 Prio=8 Partition=q Reservation=NONE", "entering _try_sched for JobId=2.")
    planned = ("_dump_job_sched: JobId=1 to start at 10:02:00",)
    passes = (
        (*one, *planned, "BACKFILL: reached end of job queue"),
        (*one, *planned, *two),
        (*one, *planned, *two, "burst_buffer/lua: BURST_BUF: JobId=2"),
        (),
    )
    log = LOG
    for second, lines in enumerate(passes, 10):
        whole = ("_attempt_backfill: beginning", *lines, "_attempt_backfill: completed testing 2(2) jobs, usec=9")
        log += "".join(f"[2026-01-01T10:01:{second}.500] {line}\n" for line in whole)
    assert recorded(log, SETTINGS, [JOB], SlurmOutput()).cut == [(11.5, 1, "p"), (12.5, 2, "q"), (13.5, 0, "")]


def test_a_job_that_did_not_end_is_said() -> None:
    """A log that was cut off is no recording."""
    with pytest.raises(RunFailed, match=r"these jobs started and ended: \[1\]"):
        recorded(LOG[: LOG.index("_job_complete")], SETTINGS, [JOB], SlurmOutput())


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Written and read is the same."""
    before = recorded(LOG, SETTINGS, [JOB], SlurmOutput(states=[(1767261662.5, 1, "PENDING", "None")]))
    write(before, tmp_path / "one.json")
    assert read(tmp_path / "one.json") == before


@pytest.mark.parametrize("text", ["", "[]", '{"slurm": 3}', "{"])
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    """One line that names the file."""
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=r"x\.json: no recording of 'spillway validate slurm --record'"):
        read(tmp_path / "x.json")


def test_jobs_follow_from_the_seed_and_fit_the_machine() -> None:
    """The same seed gives the same jobs; no job requests more than there is; some have no buffer."""
    settings = Settings(nodes=8, pool_units=100)
    jobs = generated(settings, 60, 6.0, 1)
    assert jobs == generated(settings, 60, 6.0, 1) != generated(settings, 60, 6.0, 2)
    assert all(1 <= job.nodes <= 8 and 0 <= job.units <= 100 and 60 * job.limit_min > job.runtime_s for job in jobs)
    assert all(job.stage_in_s <= 6.0 and job.stage_out_s <= 6.0 for job in jobs)
    assert 0 < sum(job.units == 0 for job in jobs) < 60
    assert [job.at_s for job in jobs] == sorted(job.at_s for job in jobs)
