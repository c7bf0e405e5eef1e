"""External events: machines that come and go, and the user's own events (batsim4.md 4.6 and 6.3)."""

import json
from pathlib import Path
from typing import Any

import pytest

from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import JobCompleted, Message, Notify
from spillway.simulator.errors import SchedulerFault, SimulatorInputError
from spillway.simulator.reading.events import load_events
from tests.kit.cases import cases
from tests.simulator.worlds import LATENCY, execute, greedy, jobs, run, scripted


def events(tmp_path: Path, *rows: Any) -> tuple[Path]:
    """An event file."""
    path = tmp_path / "events.txt"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return (path,)


def change(time: float, kind: str, resources: str) -> dict[str, Any]:
    """An availability event."""
    return {"timestamp": time, "type": f"machine_{kind}", "resources": resources}


def test_machines_come_and_go(tmp_path: Path) -> None:
    """Notifications at their times, ordered by (time, kind), those of one time together; then the end of events."""
    file = events(
        tmp_path,
        change(3, "unavailable", "2"),
        "",
        change(1, "unavailable", "3 0-1"),
        change(3, "available", "0-1"),
    )
    _, scheduler = run(jobs({"subtime": 2}), scripted(), events=file, fail_on_deadlock=False)
    reported = [(e.timestamp, e.kind, e.resources) for e in scheduler.events(Notify)]
    assert reported == [
        (1.0, "event_machine_unavailable", (0, 1, 3)),
        (2.0, "no_more_static_job_to_submit", ()),
        (3.0, "event_machine_available", (0, 1)),
        (3.0, "event_machine_unavailable", (2,)),
        (3.0, "no_more_external_event_to_occur", ()),
    ]


def test_running_jobs_go_on(tmp_path: Path) -> None:
    """A job ends as planned on a machine that became unavailable; a new one cannot start there."""
    file = events(tmp_path, change(5, "unavailable", "0"))
    result, scheduler = run(jobs({}), events=file)
    assert result.totals.success == 1
    assert scheduler.events(JobCompleted)[0].timestamp == pytest.approx(10 + LATENCY)
    assert result.figures["time_unavailable"] == "0.000000"
    with pytest.raises(SchedulerFault, match=r"machine 0 \('node_1'\) cannot compute now, it is unavailable"):
        run(jobs({"subtime": 20}), events=file)


def test_the_trace_goes_on_to_show_a_job_that_ended_on_a_machine_that_is_out(tmp_path: Path) -> None:
    """Batsim makes only machines that are not unavailable wait; a machine that returns first is made so."""
    file = events(tmp_path, change(1, "unavailable", "0-1"), change(2, "available", "1"))
    run(jobs({"res": 2}), greedy, events=file, export=str(tmp_path / "x"), trace_schedule=True)
    lines = (tmp_path / "x_schedule.trace").read_text().splitlines()
    ends = [line for line in lines if line.startswith("6 10.0")]
    assert ends == ["6 10.000000 machine_state m1 w"]


def test_available_while_a_job_runs(tmp_path: Path) -> None:
    """Batsim sets such a machine computing, and idle when the job has ended: a later job starts there."""
    file = events(tmp_path, change(1, "unavailable", "0"), change(2, "available", "0"))
    result, _ = run(jobs({}, {"subtime": 20}), greedy, events=file)
    assert result.totals.success == 2
    # out from 1 to 2; computing from 0 to 1, from 2 to 10 and from 20 to 30
    assert (result.figures["time_unavailable"], result.figures["time_computing"]) == ("1.000000", "19.000000")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((change(1, "unavailable", "0"), change(2, "unavailable", "0")), "made unavailable but it is so already"),
        ((change(1, "available", "0"),), "made available but it is so already"),
    ],
)
def test_twice(tmp_path: Path, rows: tuple[Any, ...], expected: str) -> None:
    """Making a machine unavailable or available twice ends the simulation."""
    with pytest.raises(SimulatorInputError, match=expected):
        run(jobs({}), events=events(tmp_path, *rows))


def test_own_events(tmp_path: Path) -> None:
    """Events of unknown type are passed on whole, with the option; on the wire `data` is the object itself."""
    own = {"timestamp": 4.25, "type": "coffee", "cups": [1 / 3]}
    _, scheduler = run(jobs({}), events=events(tmp_path, own), forward_unknown_events=True)
    event = next(e for e in scheduler.events(Notify) if e.kind == "coffee")
    assert (event.timestamp, event.data) == (4.25, {"timestamp": 4.25, "type": "coffee", "cups": [0.333333]})
    wire = json.loads(batsim4.encode_message(Message(4.25, (event,))))
    assert wire["events"][0]["data"] == event.data
    with pytest.raises(SimulatorInputError, match=r"line 1: unknown event type 'coffee'.*--forward-unknown-events"):
        run(jobs({}), events=events(tmp_path, own))


@pytest.mark.parametrize(("row", "expected"), cases("simulator-events"))
def test_bad_events(tmp_path: Path, row: Any, expected: str) -> None:
    """The message names the file, the line and the field."""
    (path,) = events(tmp_path, change(1, "unavailable", "0"), row)
    with pytest.raises(SimulatorInputError, match=r"event file .*events\.txt', line 2: ") as caught:
        load_events(path, 6, False)
    assert expected in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    """A file that cannot be read is named."""
    with pytest.raises(SimulatorInputError, match="cannot be read"):
        load_events(tmp_path / "none", 6, False)


def test_executions_are_unaffected_elsewhere(tmp_path: Path) -> None:
    """Other machines can be used."""
    file = events(tmp_path, change(0, "unavailable", "0"))
    result, _ = run(jobs({"subtime": 1}), lambda m: [execute(e.job_id, 1, at=m.now) for e in m.events
                                                    if type(e).__name__ == "JobSubmitted"], events=file)  # fmt: skip
    assert result.totals.success == 1
