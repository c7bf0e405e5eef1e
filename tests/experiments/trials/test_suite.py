"""The suite passes right schedulers, flags wrong ones, and makes failures small."""

import contextlib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from spillway.experiments.cli import main
from spillway.experiments.trials.cases import CASES
from spillway.experiments.trials.conformance import judged, verdicts
from spillway.experiments.trials.disciplines import DISCIPLINES, REQUIREMENTS
from spillway.experiments.trials.drawing import plain_world
from spillway.experiments.trials.report import story
from spillway.experiments.trials.shrink import simpler
from spillway.experiments.trials.subject import OwnPolicy, Scheduler
from spillway.experiments.trials.verdict import FAILS, PASSES, Extent, Outcome
from spillway.experiments.trials.world import MOST_JOBS, PLAIN, world_from
from spillway.protocol.messages import ExecuteJob, JobCompleted, JobSubmitted, Message, Reply, SimulationBegins
from spillway.simulator.options import SimulationOptions
from spillway.simulator.wire.links import InProcessLink, Link

CASES_ALONE = Extent(worlds=0, tries=4)


def failing(found: list[Outcome]) -> dict[str, tuple[str, ...]]:
    """Requirements that are broken, by case."""
    return {
        verdict.name: tuple(failure.requirement for failure in verdict.failures)
        for verdict in found
        if verdict.result == FAILS
    }


@pytest.mark.parametrize(("policy", "discipline"), [
    ("easy", "easy"),
    ("easy:by_number=true", "easy-counted"),
    ("conservative", "conservative"),
    ("fcfs", "fcfs"),
    ("filler", "any"),
])  # fmt: skip
def test_what_is_right_passes(policy: str, discipline: str) -> None:
    """Each policy keeps its claims, in every case that applies and in random worlds."""
    found = verdicts(OwnPolicy(policy), discipline, Extent(worlds=3))
    assert failing(found) == {}
    applicable = [case for case in CASES if discipline in case.disciplines]
    assert sum(verdict.result == PASSES for verdict in found) == len(applicable) + len(DISCIPLINES[discipline])


@pytest.mark.parametrize(("policy", "discipline", "cases"), [
    ("easy-no-bb", "easy",
     {"second-resource": ("promise",), "second-resource-whole": ("promise",), "shadow-of-bytes": ("backfill",),
     "spare-nodes-no-bytes": ("promise",)}),
    ("filler", "easy",
     {"starved": ("promise",), "second-resource": ("promise",), "second-resource-whole": ("promise",),
     "spare-nodes-no-bytes": ("promise",)}),
    ("fcfs", "easy", {"gap": ("backfill",), "shadow-of-bytes": ("backfill",)}),
    ("easy", "conservative", {"third-in-line": ("promises",), "third-in-line-bytes": ("promises",)}),
    ("easy", "easy-counted", {"spare-by-number": ("spare",)}),
    ("easy", "fcfs", {"one-after-another": ("order",), "overtaken-for-bytes": ("order",)}),
])  # fmt: skip
def test_what_is_wrong_is_flagged(policy: str, discipline: str, cases: dict[str, tuple[str, ...]]) -> None:
    """By the case that is meant for it, in at most eight jobs, with words and a world that shows it again."""
    found = verdicts(OwnPolicy(policy), discipline, CASES_ALONE)
    assert cases.items() <= failing(found).items()
    for verdict in found:
        for failure in verdict.failures:
            assert len(failure.world.jobs) <= MOST_JOBS
            again = judged(OwnPolicy(policy), world_from(failure.world.text(), PLAIN), frozenset({failure.requirement}))
            assert again == {failure.requirement: failure.words}


class Greedy(Scheduler):
    """A scheduler in this process that starts any job that has its nodes, and ignores bytes."""

    name = "greedy"

    @contextlib.contextmanager
    def talk(self) -> Iterator[tuple[Link, SimulationOptions]]:
        """A new one."""
        waiting: dict[str, int] = {}
        held: dict[str, tuple[int, ...]] = {}
        free: list[int] = []

        def handle(message: Message) -> Reply:
            requests = []
            for event in message.events:
                if isinstance(event, SimulationBegins):
                    free.extend(info.id for info in event.compute_resources)
                elif isinstance(event, JobSubmitted):
                    waiting[event.job_id] = event.job["res"]
                elif isinstance(event, JobCompleted):
                    free.extend(held.pop(event.job_id))
            for job_id, nodes in list(waiting.items()):
                if nodes <= len(free):
                    held[job_id] = tuple(free.pop() for _ in range(waiting.pop(job_id)))
                    requests.append(ExecuteJob(message.now, job_id, held[job_id]))
            return Reply(message.now, tuple(requests))

        yield InProcessLink(handle), SimulationOptions()


def test_random_worlds_find_what_is_broken_and_make_it_small() -> None:
    """The first world of each breach is shrunk until no simpler one by one step fails in the same way."""
    found = {verdict.name: verdict for verdict in verdicts(Greedy(), "easy", Extent(worlds=20))}
    for requirement in ("promise", "buffers"):
        (failure,) = found[f"random: {requirement}"].failures
        assert len(failure.world.jobs) <= 4
        assert not any(judged(Greedy(), world, frozenset({requirement})) for world in simpler(failure.world))
    assert {name for name, one in found.items() if one.result == FAILS and name.startswith("random")} == {
        "random: promise", "random: buffers"
    }  # fmt: skip


def test_without_buffers_nothing_needs_storage() -> None:
    """Cases with storage nodes are not applicable, and easy-no-bb is EASY."""
    found = verdicts(OwnPolicy("easy-no-bb"), "easy", Extent(worlds=5, buffers=False))
    assert failing(found) == {}
    assert all(verdict.result not in (PASSES, FAILS) for verdict in found if verdict.name.startswith("second-resource"))


def test_random_worlds_leave_no_doubt() -> None:
    """Every job fits the empty machine, also in each simpler world, and requests are of one size if they must be."""
    rng = Random(1)
    for _ in range(60):
        world = plain_world(rng, buffers=True)
        for smaller in (world, *simpler(world)):
            assert all(smaller.fits(job) for job in smaller.jobs)
            assert world_from(smaller.text(), PLAIN) == smaller


def test_cases_aim_at_requirements() -> None:
    """Names are unique, worlds readable, all disciplines and requirements known."""
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        assert world_from(case.world.text(), PLAIN) == case.world
        assert set(case.disciplines) <= DISCIPLINES.keys()
        assert set(case.also) <= REQUIREMENTS.keys()


def test_reports_say_it_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Table and failures on the terminal, as Markdown and as JSON; the printed command plays the failure again."""
    page, data = tmp_path / "report.md", tmp_path / "report.json"
    files = ["--out", str(page), "--json", str(data)]
    assert main(["conformance", "--policy", "filler", "--worlds", "0", *files]) == 1
    printed = capsys.readouterr().out
    assert "filler as easy: 14 passes, 4 fails, 5 not applicable" in page.read_text()
    for text in (printed, page.read_text()):
        assert "job 2: submitted at 2 s, 4 nodes, walltime 10 s" in text
        assert "again: spillway conformance --discipline easy --world '" in text
        assert "' --policy filler" in text
    (failure,) = next(
        entry["failures"] for entry in json.loads(data.read_text())["verdicts"] if entry["name"] == "starved"
    )
    assert main(["conformance", "--policy", "filler", "--world", json.dumps(failure["world"])]) == 1
    assert failure["words"] in capsys.readouterr().out


def test_the_command_of_a_failure_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Also of a requirement that only a case has: the command names a discipline that has it."""
    (failure,) = next(
        verdict.failures
        for verdict in verdicts(OwnPolicy("fcfs"), "easy", CASES_ALONE)
        if verdict.name == "spare-nodes"
    )
    words = shlex.split(story("", failure, "easy", "--policy fcfs").text.partition("again: spillway ")[2])
    assert main(words) == 1
    assert f"spare: {failure.words}" in capsys.readouterr().out
