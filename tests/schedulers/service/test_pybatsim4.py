"""Our policies under pybatsim 4, with a stand-in for its launcher: it is on no package index."""

import importlib.util
import json
import struct
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.trials.world import TrialJob, World
from spillway.platforms.catalogue import platform_from
from spillway.protocol.batsim5.codec import Batsim5Simulator
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.assembly import SessionSpec, spec_from
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.options import BATSIM_5, SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.workloads.batsim.batsim5 import to_batsim5
from spillway.workloads.batsim.json_file import format_batsim, parse_batsim
from tests.properties.wired import play

ROOT = Path(__file__).resolve().parents[3]
TINY = platform_from("tiny")
JOBS = (
    TrialJob(0, 2, 20.0, 4, 40, 200, False),
    TrialJob(1, 8, 20.0, 5, 40, 30, False),
    TrialJob(2, 1, 60.0, 1, 0, 12, False),
    TrialJob(3, 3, 7.5, 2, 0, None, True),
)


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module that the entry point names, on the stand-in."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "schedulers" / "service" / "pybatsim_4"))
    name = entry_point().partition(":")[0]
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for loaded in [it for it in sys.modules if it.partition(".")[0] == "pybatsim"]:
        del sys.modules[loaded]


def entry_point() -> str:
    """The place that the launcher finds under our name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    place: str = project["entry-points"]["pybatsim.external_decision_components"]["spillway"]
    return place


class Launcher:
    """pybatsim's connection and loop: it takes the last byte off, and keeps account of jobs."""

    def __init__(self, text: str = "") -> None:
        from pybatsim.batsim.core import SimulationMetadata

        self.simulation_metadata = SimulationMetadata(text)
        self.time = 0.0
        self.sent: list[Any] = []
        self.alive: dict[str, Any] = {}
        self.dying: dict[str, Any] = {}
        self.linger = 0
        self.last_words: list[bytes] = []
        self._zmq_socket = self
        self.edc: Any = None
        self.codec = Batsim5Simulator()

    def send(self, data: bytes) -> None:
        """Keep bytes that are sent past pybatsim."""
        self.last_words.append(data)

    def append_event(self, event: Any) -> None:
        """Note an event for the next reply."""
        kind = type(event).__name__
        if kind == "RejectJobEvent":
            del self.alive[event.job.job_id]
        elif kind == "KillJobsEvent":
            self.dying |= {job.job_id: job for job in event.jobs}
        elif kind == "RegisterJobEvent":
            assert event.job.job_id not in self.alive
            self.alive[event.job.job_id] = event.job
        self.sent.append(event)

    def written(self) -> bytes:
        """The reply, without a final zero byte."""
        events, self.sent = self.sent, []
        return json.dumps({"now": self.time, "events": [event.to_protocol_dict() for event in events]}).encode()

    def exchange(self, message: Message) -> Reply:
        """One turn of the loop."""
        from pybatsim.batsim.events import received

        data = json.loads(self.codec.encode_message(message)[:-1])
        self.time = data["now"]
        self.edc.handle_msg([received(event, self.alive, self.dying) for event in data["events"]])
        return self.codec.decode_reply(self.written())

    def close(self) -> None:
        """Nothing is open."""


def end_s(adapter: Any, launcher: Launcher, options: Any, data: dict[str, Any]) -> tuple[float, int]:
    """Simulate a workload under the launcher; return the end (s) and the number of successful jobs."""
    launcher.edc = adapter.Spillway(launcher, options=options)
    wanted = launcher.codec.read_hello(struct.pack("<I", 2) + launcher.written())
    translated = json.loads(format_batsim(to_batsim5(parse_batsim(json.dumps(data)))))
    sim = SimulationOptions(
        dynamic_jobs=wanted.dynamic_registration,
        profile_reuse=wanted.profile_reuse,
        forward_profiles=wanted.forward_profiles_on_job_submission,
        compute_sharing=True,
        fail_on_deadlock=True,
        rules=BATSIM_5,
    )
    with FluidEngine(TINY) as engine:
        result = Simulation(TINY, [workload_from_object(translated, rules=BATSIM_5)], engine, launcher, sim).run()
    assert not launcher.alive
    launcher.edc.finalize()
    return result.end_s, result.totals.success


@pytest.mark.parametrize("model", ["rigid", "io", "operations"])
def test_a_policy_decides_as_in_our_service(adapter: Any, model: str) -> None:
    """With dynamic jobs, transfers, walltimes and kills: the same end, as many successes."""
    spec: SessionSpec = spec_from({"policy": "easy", "model": model})
    theirs = play(TINY, World(JOBS, model).workload(), spec, 5)
    found = end_s(adapter, Launcher(), {"policy": "easy", "model": model}, World(JOBS, model).workload())
    assert found == (theirs.end_s, theirs.success)


def test_options_may_come_from_batsims_command_line(adapter: Any) -> None:
    """Its text for the scheduler, where the launcher has no options."""
    data = World(JOBS, "rigid").workload()
    spec: SessionSpec = spec_from({"policy": "fcfs"})
    theirs = play(TINY, World(JOBS, "rigid").workload(), spec, 5)
    assert end_s(adapter, Launcher('{"policy": "fcfs"}'), {}, data) == (theirs.end_s, theirs.success)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "expected the name of a policy"),
        ("easy", {}, "expected the launcher's options, or Batsim's text"),
        ("", {"policy": "nobody"}, "nobody"),
    ],
)
def test_wrong_options_end_in_one_line(
    adapter: Any, capsys: pytest.CaptureFixture[str], text: str, options: Any, words: str
) -> None:
    """With exit code 2; Batsim gets the reason, because it waits for a hello."""
    launcher = Launcher(text)
    with pytest.raises(SystemExit) as caught:
        adapter.Spillway(launcher, options=options)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1
    (last,) = launcher.last_words
    assert last.startswith(b'{"error":')
