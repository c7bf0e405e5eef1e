"""The engine in a child process: found or refused, and removed without a trace after any end."""

import math
import os
import signal
import sys
from pathlib import Path

import pytest

from spillway.platforms import load_platform
from spillway.simulator.engines.simgrid import find_binding
from spillway.simulator.errors import EngineFailed, EngineUnavailable
from tests.kit.tasks import SimgridEngine, TaskSpec
from tests.simulator.engines.conftest import DISK, HEADER, ONE, SMALL


@pytest.fixture
def platform_file(tmp_path: Path) -> Path:
    """The small machine's file; skips if the binding is missing."""
    try:
        find_binding()
    except EngineUnavailable as error:
        pytest.skip(str(error))
    path = tmp_path / "small.xml"
    path.write_text(f"{HEADER}{SMALL}</platform>")
    return path


def gone(pid: int) -> bool:
    """Whether a process does not exist any more, not even as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_missing_binding_is_refused_with_a_hint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message says what to install, and names other engines."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if "dist-packages" not in path])
    with pytest.raises(EngineUnavailable, match=r"apt-get install python3-simgrid.*engine `fluid`") as caught:
        find_binding([str(tmp_path)])
    assert caught.value.exit_code == 2


def test_a_binding_for_another_interpreter_is_found_or_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the binding of Python 3.99 gives that interpreter if it is on the PATH, else its file's name."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if "dist-packages" not in path])
    (tmp_path / "simgrid.cpython-399-x86_64-linux-gnu.so").touch()
    with pytest.raises(EngineUnavailable, match=r"simgrid\.cpython-399.*no interpreter"):
        find_binding([str(tmp_path)])
    other = tmp_path / "python3.99"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert find_binding([str(tmp_path)]) == (str(other), (str(tmp_path),))


def test_closing_ends_the_child_and_may_be_repeated(platform_file: Path) -> None:
    """Also with tasks running; a closed engine reports that."""
    engine = SimgridEngine(platform_file)
    pid = engine._process.pid
    engine.start(TaskSpec((ONE,), 1e9))
    engine.advance(0.5)
    assert not gone(pid)
    engine.close()
    engine.close()
    assert gone(pid)
    with pytest.raises(EngineFailed, match="closed"):
        engine.advance(1.0)


def test_a_child_that_dies_is_reported(platform_file: Path) -> None:
    """The error says that it ended; nothing is left of it."""
    with SimgridEngine(platform_file) as engine:
        engine._process.send_signal(signal.SIGKILL)
        with pytest.raises(EngineFailed, match="ended without an answer"):
            engine.advance(1.0)
        assert gone(engine._process.pid)


def test_simgrids_own_errors_reach_the_message(tmp_path: Path, platform_file: Path) -> None:
    """A platform that SimGrid refuses: the message contains SimGrid's output."""
    broken = tmp_path / "broken.xml"
    broken.write_text(f"{HEADER}<zone id='z' routing='Nonsense'/></platform>")
    with pytest.raises(EngineFailed, match="Not a valid model"):
        SimgridEngine(broken, load_platform(platform_file))


def test_a_deadlock_is_reported(platform_file: Path) -> None:
    """Work on a host without speed can never end; SimGrid gives up."""
    with SimgridEngine(platform_file) as engine:
        engine.start(TaskSpec((DISK,), 1.0))
        with pytest.raises(EngineFailed, match="no task can make progress"):
            engine.advance(math.inf)


def test_it_cannot_look_ahead(platform_file: Path) -> None:
    """As the contract says."""
    with SimgridEngine(platform_file) as engine, pytest.raises(NotImplementedError, match="advance"):
        engine.next_completion()


def test_several_engines_at_a_time(platform_file: Path) -> None:
    """Each has its own child and clock."""
    with SimgridEngine(platform_file) as first, SimgridEngine(platform_file) as second:
        assert first._process.pid != second._process.pid
        first.advance(3.0)
        assert (first.clock, second.clock) == (3.0, 0.0)
