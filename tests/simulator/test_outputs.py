"""Output files: columns, formats, order (batsim4.md section 8)."""

from pathlib import Path
from typing import Any

import pytest

from spillway.protocol.messages import JobSubmitted, Message, RejectJob, SetJobMetadata
from spillway.simulator.errors import SchedulerFault, SimulatorInputError
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from tests.simulator.worlds import (
    GivenDurations,
    Scheduler,
    call,
    execute,
    greedy,
    jobs,
    kill,
    run,
    scripted,
    small_platform,
)

PTASK = {"type": "parallel_homogeneous", "cpu": 3e9, "com": 0}
JOBS_HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata"
)
SCHEDULE_HEADER = (
    "batsim_version,consumed_joules,makespan,max_slowdown,max_turnaround_time,max_waiting_time,mean_slowdown,"
    "mean_turnaround_time,mean_waiting_time,nb_computing_machines,nb_grouped_switches,nb_jobs,nb_jobs_finished,"
    "nb_jobs_killed,nb_jobs_rejected,nb_jobs_success,nb_machine_switches,scheduling_time,simulation_time,success_rate,"
    "time_computing,time_idle,time_sleeping,time_switching_off,time_switching_on,time_unavailable"
)


def written(folder: Path, answer: Any, data: Any = None, **options: Any) -> Any:
    """A run that writes its files."""
    return run(data or DATA, answer, export=str(folder / "x"), **options)


DATA = jobs(
    {"id": "a", "res": 2, "subtime": 1.5},
    {"id": "b", "walltime": 2, "subtime": 2},
    {"id": "c", "subtime": 3},
    {"id": "d", "subtime": 4.75, "profile": "q"},
    profiles={"p": PTASK, "q": {"type": "delay", "delay": 2, "ret": 9}},
)


def standard(message: Message) -> Any:
    """Run a, b and d, reject c."""
    for event in message.events:
        if isinstance(event, JobSubmitted):
            name = event.job_id[-1]
            if name == "c":
                yield SetJobMetadata(message.now, event.job_id, "too, late")
                yield RejectJob(message.now, event.job_id)
            else:
                yield execute(event.job_id, *{"a": (3, 1), "b": (0,), "d": (2,)}[name], at=message.now)


def test_jobs_table(tmp_path: Path) -> None:
    """Rows in the order in which the ends become known; rejected jobs have no times."""
    written(tmp_path, standard)
    lines = (tmp_path / "x_jobs.csv").read_text().splitlines()
    assert lines == [
        JOBS_HEADER,
        'c,w0,p,3.000000,1,-1.000000,0,REJECTED,,,,,,,,,"too, late"',
        "b,w0,p,2.000000,1,2.000000,0,COMPLETED_WALLTIME_REACHED,2.000000,2.000000,4.000000,0.000000,2.000000,1.000000,0,"
        '-1.000000,""',
        "a,w0,p,1.500000,2,-1.000000,1,COMPLETED_SUCCESSFULLY,1.500000,3.000000,4.500000,0.000000,3.000000,1.000000,"
        '1 3,-1.000000,""',
        "d,w0,q,4.750000,1,-1.000000,0,COMPLETED_FAILED,5.000000,2.000000,7.000000,0.250000,2.250000,1.125000,2,"
        '-1.000000,""',
    ]


def test_schedule_table(tmp_path: Path) -> None:
    """One row, columns in alphabetical order; means over all jobs, the rejected included."""
    result, _ = written(tmp_path, standard)
    header, row = (tmp_path / "x_schedule.csv").read_text().splitlines()
    assert header == SCHEDULE_HEADER
    figures = dict(zip(header.split(","), row.split(","), strict=True))
    assert figures == result.figures
    assert figures["batsim_version"] == "v4.2.1"  # as the real one writes it
    assert figures["makespan"] == "7.000000"
    assert [figures[f"nb_jobs{key}"] for key in ("", "_finished", "_success", "_killed", "_rejected")] == [
        "4", "3", "1", "2", "1",
    ]  # fmt: skip
    assert figures["mean_waiting_time"] == "0.062500"
    assert figures["mean_turnaround_time"] == f"{(2 + 3 + 2.25) / 4:.6f}"
    assert figures["max_slowdown"] == "1.125000"
    assert figures["success_rate"] == "0.250000"
    assert figures["nb_computing_machines"] == "6"
    assert figures["time_computing"] == f"{2 * 3 + 2 + 2:.6f}"
    assert figures["time_idle"] == f"{1.5 + 1.5 + 2 + 5:.6f}"
    assert figures["scheduling_time"] == figures["simulation_time"] == "0.000000"


def test_real_times_on_request(tmp_path: Path) -> None:
    """As Batsim, the simulator writes the duration of the run, but only when requested."""
    result, _ = written(tmp_path, standard, wall_clock=True)
    assert float(result.figures["simulation_time"]) > 0
    assert float(result.figures["scheduling_time"]) > 0


def test_no_jobs(tmp_path: Path) -> None:
    """Means of nothing are printed as Batsim does."""
    result, _ = run(None, scripted(), export=str(tmp_path / "x"))
    assert result.figures["mean_waiting_time"] == "-nan"
    assert (tmp_path / "x_jobs.csv").read_text() == JOBS_HEADER + "\n"


def test_machine_states(tmp_path: Path) -> None:
    """A row after each start and end, six significant digits, counters of compute hosts."""
    written(tmp_path, standard, trace_machine_states=True)
    assert (tmp_path / "x_machine_states.csv").read_text().splitlines() == [
        "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing",
        "1.5,0,0,0,2,2",
        "2,0,0,0,1,3",
        "4,0,0,0,2,2",
        "4.5,0,0,0,4,0",
        "5,0,0,0,3,1",
        "7,0,0,0,4,0",
    ]


def test_paje_trace(tmp_path: Path) -> None:
    """States of machines, definitions on first use, kill events."""
    written(tmp_path, standard, trace_schedule=True)
    text = (tmp_path / "x_schedule.trace").read_text()
    head, events = text.split("# Begin of events\n")
    assert '2 0.000000 machine_ct m1 "node_10" root\n' in head
    assert head.count("%EventDef") == head.count("%EndEventDef") == 10
    body, tail = events.split("\n# End of events, containers destruction\n")
    assert body.splitlines() == [
        *(f"6 0.000000 machine_state m{number} w" for number in range(6)),
        '5 jw0!a machine_state "w0!a" "1.000000 0.000000 0.000000"',
        "6 1.500000 machine_state m1 jw0!a",
        "6 1.500000 machine_state m3 jw0!a",
        '5 jw0!b machine_state "w0!b" "1.000000 0.093750 0.000000"',
        "6 2.000000 machine_state m0 jw0!b",
        '8 4.000000 kk k "w0!b"',
        '8 4.000000 km m0 "w0!b"',
        "6 4.000000 machine_state m0 w",
        "6 4.500000 machine_state m1 w",
        "6 4.500000 machine_state m3 w",
        '5 jw0!d machine_state "w0!d" "1.000000 0.187500 0.000000"',
        "6 5.000000 machine_state m2 jw0!d",
        "6 7.000000 machine_state m2 w",
    ]
    assert tail.splitlines()[0] == "3 7.500001 m0 machine_ct"
    assert tail.splitlines()[-1] == "3 7.500001 root root_ct"


def test_paje_trace_of_shared_machines(tmp_path: Path) -> None:
    """One job is shown per machine, the one that started first; when it ends, the next."""
    data = jobs({"id": "a"}, {"id": "b", "profile": "q"}, profiles={"p": PTASK, "q": {"type": "delay", "delay": 9}})
    answer = scripted((), (execute("w0!a", 0), execute("w0!b", 0)))
    written(tmp_path, answer, data, compute_sharing=True, trace_schedule=True)
    lines = [line for line in (tmp_path / "x_schedule.trace").read_text().splitlines() if " m0 j" in line]
    assert lines == ["6 0.000000 machine_state m0 jw0!a", "6 3.000000 machine_state m0 jw0!b"]


def test_kill_in_the_traces(tmp_path: Path) -> None:
    """A kill in the middle of a parallel task gives kill events, the kill of a delay does not (as in Batsim)."""
    data = jobs({"id": "a"}, {"id": "b", "profile": "q"}, profiles={"p": PTASK, "q": {"type": "delay", "delay": 9}})
    answer = scripted((), (execute("w0!a", 0), execute("w0!b", 1), call(1.0)), (), (kill("w0!a", "w0!b", at=1.0),))
    written(tmp_path, answer, data, trace_schedule=True)
    text = (tmp_path / "x_schedule.trace").read_text()
    assert '8 1.000000 kk k "w0!a"' in text
    assert '"w0!b"\n8' not in text
    rows = (tmp_path / "x_jobs.csv").read_text().splitlines()[1:]
    assert [row.split(",")[7] for row in rows] == ["COMPLETED_KILLED", "COMPLETED_KILLED"]


def test_deadlock_writes_the_files(tmp_path: Path) -> None:
    """As with Batsim: the data known so far, under the final names."""
    result, _ = written(tmp_path, scripted())
    assert result.deadlocked
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x_jobs.csv", "x_schedule.csv"]
    assert sorted(result.paths) == [str(tmp_path / "x_jobs.csv"), str(tmp_path / "x_schedule.csv")]


def test_fault_leaves_partial_files(tmp_path: Path) -> None:
    """Data written before the scheduler's fault stay under a temporary name."""
    answer = scripted((), (RejectJob(0.0, "w0!1"), RejectJob(0.0, "w0!1")))
    with pytest.raises(SchedulerFault):
        written(tmp_path, answer, jobs({}), trace_schedule=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["x_jobs.csv.partial", "x_schedule.trace.partial"]
    assert "REJECTED" in (tmp_path / "x_jobs.csv.partial").read_text()


def test_export_folder_must_exist(tmp_path: Path) -> None:
    """A missing or unwritable folder is found before anything is simulated."""
    with pytest.raises(SimulatorInputError, match="does not exist; create it"):
        run(jobs({}), export=str(tmp_path / "none" / "x"))
    (tmp_path / "file").write_text("")
    with pytest.raises(SimulatorInputError, match="does not exist"):
        run(jobs({}), export=str(tmp_path / "file" / "x"))
    (tmp_path / "y_jobs.csv.partial").mkdir()
    with pytest.raises(SimulatorInputError, match="cannot write files with the export prefix"):
        run(jobs({}), export=str(tmp_path / "y"))


def test_equal_runs_give_equal_files(tmp_path: Path) -> None:
    """Same inputs, same bytes."""
    contents = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        written(folder, standard, trace_schedule=True, trace_machine_states=True)
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert contents[0] == contents[1]
    assert len(contents[0]) == 4


def test_progress_hook() -> None:
    """It is called with the simulated time and the number of ended jobs."""
    seen: list[tuple[float, int]] = []
    data = jobs({}, {"subtime": 20}, {"subtime": 40}, {"subtime": 60})
    simulation = Simulation(
        small_platform(),
        [workload_from_object(data)],
        GivenDurations(),
        Scheduler(greedy),
        SimulationOptions(progress_every=2),
        lambda time, count: seen.append((round(time, 3), count)),
    )
    simulation.run()
    assert [count for _, count in seen] == [2]
