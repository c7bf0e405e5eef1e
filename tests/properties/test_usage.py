"""A policy's view of finished jobs and users agrees with the run's tables: nothing is missing or counted twice."""

import math
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Timeline
from spillway.protocol.messages import JobState
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.book import STATES, Book
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.policykit.fairness import decayed_usage
from spillway.schedulers.policykit.history import FinishedJob, FinishedJobs, Usage
from spillway.schedulers.policykit.view import Running, View
from tests.kit.specs import session_spec
from tests.kit.tables import csv_rows
from tests.properties.outage_world import Change
from tests.properties.outage_world import play as play_outages
from tests.properties.small_world import JOBS, execute, runs, workload

LATE_S = 1e-3
"""An end is reported to the scheduler up to a network latency later."""

Jobs = list[tuple[int, int, float, int, int, int | None, bool]]


def by_user(
    rows: Iterable[Mapping[str, str]], given_: Mapping[str, Mapping[str, str]]
) -> dict[str, tuple[float, float]]:
    """Node-seconds and byte-seconds of each user, from the rows of jobs and of their allocations."""
    sums: dict[str, tuple[float, float]] = {}
    for row in rows:
        if row["job_id"] not in given_:
            continue  # rejected
        grant = given_[row["job_id"]]
        seconds = float(row["finish_time"]) - float(row["starting_time"])
        held = float(row.get("node_seconds") or int(row["requested_number_of_resources"]) * seconds)
        storages = sum(int(part.split(":")[1]) for part in grant["storages"].split())
        nodes, size = sums.get(grant["user"], (0.0, 0.0))
        sums[grant["user"]] = nodes + held, size + storages * int(grant["bb_bytes"]) * seconds
    return sums


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=6)
@given(jobs=JOBS)
def test_usage_is_what_the_tables_say(model: str, jobs: Jobs) -> None:
    """Per user, at the end, under every job model: from jobs.csv and allocations.csv; also of jobs that were killed."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = Path(folder)
        [run] = runs(root, model, workload(model, jobs), ["easy"])
        session = execute(run, root, patch)
        tables = {}
        for name in ("jobs", "allocations"):
            tables[name] = csv_rows(root / run.id / f"{name}.csv")
        grants = {row["job_id"]: row for row in tables["allocations"]}
        expected = by_user(tables["jobs"], grants)
        usage, finished = session.book.usage((), math.inf), session.book.finished()
        assert usage.keys() == expected.keys()
        for user, (nodes, size) in expected.items():
            assert usage[user].node_seconds == pytest.approx(nodes, abs=LATE_S * 8 * len(jobs))
            if model != "malleable":  # resources given back with nodes are in no table
                assert usage[user].buffer_byte_seconds == pytest.approx(size, abs=LATE_S * 40e9 * len(jobs))
        shown = {job.id.split("!")[1]: job for job in finished}
        assert shown.keys() == grants.keys()
        for row in tables["jobs"]:
            if row["job_id"] in shown:
                job = shown[row["job_id"]]
                assert (job.state, job.user) == (row["final_state"], grants[row["job_id"]]["user"])
                assert job.end_s == pytest.approx(float(row["finish_time"]), abs=1e-3)
                assert job.submit_time_s == pytest.approx(float(row["submission_time"]), abs=1e-6)
        assert [job.end_s for job in finished] == sorted(job.end_s for job in finished)


@pytest.mark.parametrize("rule", ["kill", "requeue"])
def test_attempts_count_for_what_they_held(rule: str, tmp_path: Path) -> None:
    """Ten seconds on eight nodes until the outage, then, where it is requeued, thirty more."""
    jobs: Jobs = [(0, 8, 30.0, 0, 0, 100, False), (3, 8, 10.0, 1, 0, 100, False)]
    changes: list[Change] = [(10.0, False, (2,)), (40.0, True, (2,))]
    spec = session_spec("fcfs", model="rigid", settings={"on_outage": rule})
    played = play_outages(tmp_path, spec, workload("rigid", jobs), changes)
    finished = {job.id: job for job in played.session.book.finished()}
    assert finished["w0!0"].state == "COMPLETED_KILLED"
    assert finished["w0!0"].usage.node_seconds == pytest.approx(80.0)
    again = finished.get("w0!0#2")
    assert (again is None) == (rule == "kill")
    usage = played.session.book.usage((), math.inf)
    assert usage["0"].node_seconds == pytest.approx(80.0 if again is None else 320.0, abs=0.01)
    rows = played.rows.values()
    seconds = sum(float(row["finish_time"]) - float(row["starting_time"]) for row in rows if row["job_id"] != "1")
    assert usage["0"].node_seconds == pytest.approx(8 * seconds, abs=1e-3)
    assert usage["1"].buffer_byte_seconds == pytest.approx(8e9 * finished["w0!1"].usage.node_seconds / 8)


def ended(number: int, user: str, start_s: float, end_s: float, nodes: int) -> Running:
    """A job at its end."""
    job = Job(f"w0!{number}", number, 0.0, 1e9, nodes, extras={"user": user})
    return Running(job, start_s, end_s, Allocation(tuple(range(nodes))))


def test_the_history_is_bounded_and_what_was_seen_stays() -> None:
    """The last ones are shown, all are counted, each is read once; a view of before does not change."""
    machine = simple_machine(4)
    book, seen, before = Book(machine, Timeline(machine), Walltimes()), 0, FinishedJobs()
    book.most_finished, well = 3, STATES.index(JobState.COMPLETED_SUCCESSFULLY)
    read: list[str] = []
    for number in range(20):
        book.account_end(ended(number, "a", number, number + 1, 1), well, number + 1.0)
        now = book.finished()
        assert [job.id for job in now] == [f"w0!{index}" for index in range(max(number - 2, 0), number + 1)]
        assert now.total == number + 1
        if number % 2:
            read += [job.id for job in now.since(seen)]
            seen = now.total
        if number == 9:
            before = now
    assert read == [f"w0!{number}" for number in range(20)]
    assert [job.id for job in before] == ["w0!7", "w0!8", "w0!9"]
    assert before[-1].id == "w0!9"
    assert [job.id for job in before[1:]] == ["w0!8", "w0!9"]
    assert book.usage((), 20.0)["a"].node_seconds == 20.0


@given(
    data=st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 50), st.integers(0, 30), st.integers(1, 4)), max_size=12
    ),
    half_life_s=st.sampled_from([3.0, 20.0, 1e4, math.inf]),
    passes=st.lists(st.integers(1, 90), max_size=6),
)
def test_decayed_usage(data: list[tuple[str, int, int, int]], half_life_s: float, passes: list[int]) -> None:
    """As the integral says, whenever it is read; without decay it is the plain sum."""
    machine, notebook = simple_machine(4), dict[str, object]()
    spans = sorted((start + length, start, user, nodes) for user, start, length, nodes in data)
    for now in [*sorted(set(passes)), 100]:
        items = [
            FinishedJob(f"w0!{i}", user, 0.0, start, end, 1e9, nodes, "", Usage(nodes * float(end - start), 0.0))
            for i, (end, start, user, nodes) in enumerate(spans)
            if end <= now
        ]
        runs_now = [
            ended(i, user, start, 1e9, nodes) for i, (end, start, user, nodes) in enumerate(spans) if start <= now < end
        ]

        class Past:
            def finished(self) -> FinishedJobs:
                return FinishedJobs(items)  # noqa: B023 read at once

            def usage(self, queue: object, now_s: float) -> Mapping[str, Usage]:
                return {}

        view = View(now, machine, (), runs_now, lambda: Timeline(machine), Random(0), notebook, past=Past())
        found = decayed_usage(view, half_life_s)
        for user in "abc":
            rate = math.log(2) / half_life_s
            total = 0.0
            for end, start, name, nodes in spans:
                if name == user and start < now:
                    stop = min(end, now)
                    if rate:
                        total += nodes * (math.exp(-rate * (now - stop)) - math.exp(-rate * (now - start))) / rate
                    else:
                        total += nodes * (stop - start)
            assert found.get(user, Usage()).node_seconds == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_a_half_life_is_above_0() -> None:
    """Zero would divide by it."""
    machine = simple_machine(1)
    with pytest.raises(ValueError, match="above 0 s, got 0"):
        decayed_usage(View(0.0, machine, (), (), lambda: Timeline(machine), Random(0), {}), 0.0)


def test_the_view_of_a_session_has_them(tmp_path: Path) -> None:
    """A policy reads them in its passes: usage grows from pass to pass, and ends with all that was held."""
    seen: list[tuple[float, float, int]] = []

    def look(view: View) -> Iterable[Decision]:
        used = sum(part.node_seconds for part in view.usage.values())
        seen.append((view.now_s, used, len(view.finished)))
        running = sum(len(run.allocation.nodes) * (view.now_s - run.start_s) for run in view.running)
        assert used == pytest.approx(running + sum(job.usage.node_seconds for job in view.finished))
        return base(view)

    spec = session_spec("easy", model="rigid")
    base = spec.make_policy()
    jobs: Jobs = [(0, 4, 30.0, 2, 0, 400, True), (1, 8, 10.0, 1, 0, 300, True), (2, 2, 5.0, 0, 0, 300, True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SessionSpec, "make_policy", lambda _: look)
        play_outages(tmp_path, spec, workload("rigid", jobs), [(500.0, False, (2,))])
    assert seen[-1][2] >= 2
    assert [used for _, used, _ in seen] == sorted(used for _, used, _ in seen)
