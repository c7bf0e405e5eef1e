"""``spillway conformance`` over the wire: a scheduler that breaks a promise, and wrong commands."""

import os
import sys
import time
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.experiments.trials import subject
from spillway.experiments.trials.cases import CASES
from spillway.experiments.trials.subject import Command

GREEDY = Path(__file__).parent / "greedy.py"
WORLDS = {case.name: case.world.text() for case in CASES}


def conformance(*arguments: str) -> int:
    """The command, with a world so that few processes are started."""
    return main(["conformance", *arguments])


@pytest.mark.parametrize("endpoint", ["{socket}", "tcp://127.0.0.1:{port}"])
def test_a_foreign_scheduler_that_breaks_a_promise(capsys: pytest.CaptureFixture[str], endpoint: str) -> None:
    """Flagged in words that name jobs, times and amounts."""
    code = conformance("--world", WORLDS["starved"], "--", sys.executable, str(GREEDY), endpoint)
    assert code == 1
    assert (
        "promise: at 3 s job 3 was started with 2 nodes for up to 40 s, so that job 2, first in the queue with 4 "
        "nodes, which by the walltimes could start at 21 s, can start at 43 s at the earliest"
        in capsys.readouterr().out
    )


def test_a_scheduler_of_batsim_5(capsys: pytest.CaptureFixture[str]) -> None:
    """Our service, greeted by the handshake; buffers are requested in a text, and judged as with Batsim 4."""
    serve = ["--", sys.executable, "-m", "spillway", "serve"]
    for policy, code in (("easy", 0), ("easy-no-bb", 1)):
        for name in ("second-resource", "starved"):
            found = conformance("--batsim", "5", "--world", WORLDS[name], *serve, policy, "--bind", "{socket}")
            assert found == (code if name == "second-resource" else 0), (policy, name)
    assert "so that job 2, first in the queue with 1 node and 8 GB" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 3", "the scheduler's process ended with exit code 3 before it replied: no output"),
        ("echo out of memory >&2; exit 1", "ended with exit code 1 before it replied: out of memory"),
    ],
)
def test_commands_that_are_no_scheduler(capsys: pytest.CaptureFixture[str], script: str, words: str) -> None:
    """One line, exit code 2."""
    assert conformance("--", "sh", "-c", script, "{socket}") == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1


def test_a_traceback_of_a_foreign_scheduler_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Its process closes the connection a moment before it ends (was: that the connection was closed, only)."""
    script = (
        "import sys, zmq; socket = zmq.Context().socket(zmq.REP); socket.bind(sys.argv[1]); socket.recv(); "
        "{}['backfill table']"
    )
    assert conformance("--", sys.executable, "-c", script, "{socket}") == 2
    error = capsys.readouterr().err
    assert "Traceback (most recent call last)" in error
    assert "KeyError: 'backfill table'" in error
    assert len(error.splitlines()) == 1


def test_rubbish_is_located(capsys: pytest.CaptureFixture[str]) -> None:
    """A message that is no reply is named with its place."""
    script = (
        "import sys, zmq; socket = zmq.Context().socket(zmq.REP); socket.bind(sys.argv[1]); socket.recv(); "
        "socket.send(b'[1, 2'); socket.recv()"
    )
    assert conformance("--", sys.executable, "-c", script, "{socket}") == 2
    error = capsys.readouterr().err
    assert "expected a scheduler that runs a single job" in error
    assert "expected `object`, got `array` (at $)" in error
    assert len(error.splitlines()) == 1


def test_nothing_is_left_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the command, which says nothing, nor its child processes; in one line."""
    monkeypatch.setattr(subject, "LAST_WORDS_S", 0.2)
    script = f"echo $$ > {tmp_path}/one; sleep 600 & echo $! > {tmp_path}/two; wait"
    assert conformance("--silence", "1", "--", "sh", "-c", script, "{socket}") == 2
    error = capsys.readouterr().err
    assert "no reply from the scheduler" in error
    assert len(error.splitlines()) == 1
    for name in ("one", "two"):
        assert _gone(int((tmp_path / name).read_text()))


def _gone(process: int) -> bool:
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        if "Z" in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2][:3]:
            return True  # killed; its new parent has not looked yet
        time.sleep(0.05)
    return False


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    """It exists, but cannot be started."""
    path = tmp_path / "data"
    path.write_text("x")
    with pytest.raises(SpecError, match="there is no such program"):
        Command((str(path), "{socket}"), 1.0)
