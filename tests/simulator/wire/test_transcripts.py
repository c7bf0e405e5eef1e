"""The recorded conversations of the real Batsim 4.2.1: our messages must be exactly Batsim's.

Compared is every byte of every message, with one exception: in SIMULATION_BEGINS the ``workloads`` member (absolute
paths of another machine) and the order of the names in ``profiles`` (a hash table's in Batsim) are left out, so that
message is compared as JSON.
"""

import json
import lzma
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import Message, Reply
from spillway.simulator.engines.by_name import ENGINES, Engine
from spillway.simulator.errors import Deadlock, EngineUnavailable
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import Simulation, SimulationResult
from spillway.simulator.wire.command_line import build_parser, read_command_line

COMPLETE = [
    "alloc-backfill-40",
    "alloc-reject-12",
    "alloc-walltime-kill-12",
    "io-backfill-40",
    "probe-callkill",
    "probe-dynamic-ack",
    "probe-forward-profiles",
]
ABORTED = {
    "probe-busy": r"job 'w0!6282': EXECUTE_JOB: machine 0 \('node_1'\) is in use by w0!6281.*\$\.events\[0\]",
    "probe-metadata": r"double quotes.*\$\.events\[1\]\.data\.metadata",
}


@dataclass(frozen=True)
class Line:
    """One recorded message: its direction, its text as sent."""

    direction: str
    text: str

    @property
    def value(self) -> Any:
        """The message as JSON."""
        return json.loads(self.text)


class Recorded:
    """Plays the recorded scheduler and compares its messages with the recorded ones."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self.position = 0

    def exchange(self, message: Message) -> Reply:
        """Compare a message, give the recorded reply."""
        ours = batsim4.encode_message(message).decode()
        assert self.position < len(self._lines), f"Batsim said nothing more, we said {ours[:300]}"
        theirs, reply = self._lines[self.position : self.position + 2]
        self.position += 2
        assert (theirs.direction, reply.direction) == ("B>S", "S>B")
        if '"SIMULATION_BEGINS"' in theirs.text:
            assert _without_paths(json.loads(ours)) == _without_paths(theirs.value)
        else:
            assert ours == theirs.text
        return batsim4.decode_reply(reply.text.encode())

    def close(self) -> None:
        """Nothing to close."""


def _without_paths(message: Any) -> Any:
    for event in message["events"]:
        event["data"].pop("workloads", None)
    return message


def _lines(path: Path) -> list[Line]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        direction = json.loads(line)["dir"]
        text = line.split('"msg":', 1)[1].rstrip()
        assert text.endswith("}")
        found.append(Line(direction, text[:-1].strip()))
    return found


@dataclass(frozen=True)
class World:
    """The platform of the recordings, and an engine on it."""

    platform: Platform
    engine: Callable[[], Engine]


@pytest.fixture(scope="module")
def platform_file(reference: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The platform's file, unpacked."""
    packed = reference / "simulation" / "dragonfly96-full-routes.xml.xz"
    path = tmp_path_factory.mktemp("platform") / "dragonfly96.xml"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path


@pytest.fixture(scope="module", params=["fluid", "simgrid"])
def world(request: pytest.FixtureRequest, platform_file: Path) -> World:
    """The platform with each engine that can run here."""
    platform = load_platform(platform_file)
    try:
        with ENGINES[request.param](platform, platform_file):
            pass
    except EngineUnavailable as reason:
        pytest.skip(str(reason))
    return World(platform, lambda: ENGINES[request.param](platform, platform_file))


def _options(reference: Path, name: str, **more: Any) -> tuple[SimulationOptions, Path]:
    """Options and workload of the recorded command line."""
    folder = reference / "transcripts"
    text = (folder / f"{name}.cmd.md").read_text(encoding="utf-8")
    words = shlex.split(next(line for line in text.splitlines() if line.startswith("batsim ")))[1:]
    given = build_parser().parse_args(words)
    given.platform = folder / f"{name}.cmd.md"
    workload = folder / given.workload[0]
    given.workload = [workload]
    options = read_command_line(given).options
    fields = {field: getattr(options, field) for field in SimulationOptions.__dataclass_fields__}
    return SimulationOptions(**{**fields, "export": None, **more}), workload


def _play(reference: Path, world: World, name: str, **more: Any) -> tuple[Recorded, list[Line], SimulationResult]:
    options, workload = _options(reference, name, **more)
    lines = _lines(reference / "transcripts" / f"{name}.jsonl")
    link = Recorded(lines)
    with world.engine() as engine:
        result = Simulation(world.platform, [load_workload(workload)], engine, link, options).run()
    return link, lines, result


@pytest.mark.parametrize("name", COMPLETE)
def test_whole_conversation(reference: Path, world: World, name: str) -> None:
    """Every message equals the recorded one, and no message is missing or additional."""
    link, lines, result = _play(reference, world, name)
    assert link.position == len(lines)
    assert not result.deadlocked


def test_deadlock_is_silent_as_in_batsim(reference: Path, world: World) -> None:
    """A scheduler that executes nothing: the same messages, then the end without SIMULATION_ENDS."""
    link, lines, result = _play(reference, world, "probe-deadlock")
    assert link.position == len(lines)
    assert result.deadlocked
    assert result.end_s == pytest.approx(5754.0)


def test_deadlock_is_an_error_on_request(reference: Path, world: World) -> None:
    """With fail_on_deadlock the same run raises and states the number of jobs left."""
    with pytest.raises(Deadlock, match="12 submitted jobs were never executed") as caught:
        _play(reference, world, "probe-deadlock", fail_on_deadlock=True)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("name", ABORTED)
def test_where_batsim_aborts_we_say_why(reference: Path, world: World, name: str) -> None:
    """The messages up to the illegal reply are equal; then an error names the job, the place and the rule."""
    options, workload = _options(reference, name)
    lines = _lines(reference / "transcripts" / f"{name}.jsonl")
    link = Recorded(lines)
    with world.engine() as engine, pytest.raises(RemoteProtocolError, match=ABORTED[name]) as caught:
        Simulation(world.platform, [load_workload(workload)], engine, link, options).run()
    assert link.position == len(lines)
    assert caught.value.exit_code != 0


def test_every_recording_is_covered(reference: Path) -> None:
    """No recording is left out of this file."""
    names = {path.stem for path in (reference / "transcripts").glob("*.jsonl")}
    assert names == {*COMPLETE, *ABORTED, "probe-deadlock"}


def _rows(path: Path) -> Iterator[list[str]]:
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        yield line.split(",")


def test_stage_in_takes_what_was_measured(reference: Path, world: World, tmp_path: Path) -> None:
    """The recorded IO run's first stage-in: 3.055096 s for each of four transfers, ends at 4.055096 s (no latency)."""
    _play(reference, world, "io-backfill-40", export=str(tmp_path / "io"))
    first = [row for row in _rows(tmp_path / "io_jobs.csv") if row[1] == "w0%15"][:4]
    assert [row[9] for row in first] == ["3.055096"] * 4
    assert [row[10] for row in first] == ["4.055096"] * 4
