"""A link with late replies: the simulation stops meanwhile, and continues as if it had had them at once."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.protocol.messages import Message, Reply
from spillway.simulator.errors import SchedulerFault
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation, SimulationResult
from tests.simulator.worlds import GivenDurations, Scheduler, greedy, jobs, run, small_platform

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "subtime": st.sampled_from([0, 0, 1, 2.5, 10]),
            "res": st.integers(1, 3),
            "walltime": st.sampled_from([-1, 3, 50]),
        }
    ),
    min_size=1,
    max_size=6,
)


class Later(Scheduler):
    """Keeps every message until its reply is requested."""

    def exchange(self, message: Message) -> Reply | None:  # type: ignore[override]
        """Keep a message."""
        self.messages.append(message)
        return None

    def reply(self) -> Reply:
        """To the last message."""
        message = self.messages[-1]
        return Reply(message.now, tuple(self._answer(message)))  # type: ignore[arg-type]


def play_later(several: list[dict[str, Any]], export: str) -> tuple[SimulationResult, Later]:
    """Give each reply only when the simulation has stopped for it."""
    scheduler = Later(greedy)
    workloads = [workload_from_object(data, f"w{number}") for number, data in enumerate(several)]
    options = SimulationOptions(export=export, compute_sharing=True)
    simulation = Simulation(small_platform(), workloads, GivenDurations(), scheduler, options)
    result = simulation.begin()
    while result is None:
        result = simulation.answer(scheduler.reply())
    return result, scheduler


@settings(max_examples=30)
@given(st.lists(ROWS, min_size=1, max_size=2))
def test_the_same_files_and_messages(several: list[list[dict[str, Any]]]) -> None:
    """Whether replies come at once or later."""
    made = [jobs(*rows) for rows in several]
    with tempfile.TemporaryDirectory() as folder:
        at_once, first = run(made, export=f"{folder}/a", compute_sharing=True)
        later, second = play_later(made, f"{folder}/b")
        tables = [(Path(folder) / f"{name}_jobs.csv").read_bytes() for name in "ab"]
    assert tables[0] == tables[1]
    assert first.messages == second.messages
    assert at_once.figures == later.figures


def test_run_needs_its_replies_at_once() -> None:
    """A link without a reply is refused if nothing could give it."""
    with pytest.raises(SchedulerFault, match="the policy pauses"):
        run(jobs({}), Later(greedy))


def test_an_abandoned_simulation_leaves_no_table(tmp_path: Path) -> None:
    """Written files stay under temporary names."""
    options = SimulationOptions(export=str(tmp_path / "out"))
    workloads = [workload_from_object(jobs({}))]
    simulation = Simulation(small_platform(), workloads, GivenDurations(), Later(greedy), options)
    assert simulation.begin() is None
    simulation.abandon()
    assert not (tmp_path / "out_jobs.csv").exists()
