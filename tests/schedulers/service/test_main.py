"""The command line of the service: lists, errors in one line, signals, recordings, replays."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.refusal import reason_of
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.service.command import main
from tests.schedulers.scripted import BEGINS, CONVERSATION, SUBMITTED

ROOT = Path(__file__).resolve().parents[3]


TWICE = """
from dataclasses import dataclass
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.decisions import Start

@dataclass(frozen=True)
class Twice:
    def __call__(self, view):
        for job in view.queue:
            for _ in range(2):
                yield Start(job, Allocation((0,)))
"""
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="main" routing="Full">
<host id="m" speed="1Gf"><prop id="role" value="master"/></host><host id="n0" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="0us"/><route src="m" dst="n0"><link_ctn id="l"/></route>
</zone></platform>
"""
WORKLOAD = (
    '{"nb_res": 1, "jobs": [{"id": "1", "subtime": 0, "res": 1, "walltime": 9, "profile": "p"}], '
    '"profiles": {"p": {"type": "delay", "delay": 3}}}'
)


class Process:
    """The service as a process of its own, and a simulator's socket."""

    def __init__(self, *arguments: str, program: tuple[str, ...] = ("-m", "spillway", "serve")) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stderr is not None
        self.log: list[str] = []
        for line in self.process.stderr:
            self.log.append(line)
            if " listens on " in line:
                break
        self.endpoint = self.log[-1].split()[-1]
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.linger = 0
        self._socket.rcvtimeo = 600_000
        self._socket.connect(self.endpoint)

    def talk(self, *messages: Any) -> list[bytes]:
        """Exchange messages with the service, all through one connection."""
        answers = []
        for message in messages:
            self._socket.send(message if isinstance(message, bytes) else batsim4.encode_message(message))
            answers.append(self._socket.recv())
        return answers

    def hang_up(self) -> None:
        """Close the connection."""
        self._socket.close()
        self._context.term()

    def end(self) -> tuple[int, str]:
        """Wait for the end; return exit code and everything on the standard error stream."""
        _, rest = self.process.communicate(timeout=600)
        return self.process.returncode, "".join(self.log) + rest


@pytest.fixture
def service() -> Iterator[Any]:
    """Start services; those that still run at the end are killed."""
    started: list[Process] = []

    def start(*arguments: str, **others: Any) -> Process:
        started.append(Process(*arguments, "--bind", "tcp://127.0.0.1:*", **others))
        return started[-1]

    yield start
    for program in started:
        program.hang_up()
        if program.process.poll() is None:
            program.process.kill()
            program.process.communicate()


def test_the_list_shows_every_policy_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    """Names, units, ranges, defaults and sources of all entries of the table."""
    assert main(["--list"]) == 0
    shown = capsys.readouterr().out
    for name, entry in POLICIES.items():
        assert f"{name}: {entry.summary}" in shown
        assert entry.reference.split(",")[0].split()[0] in shown
        for info in entry.options():
            assert f"    {info.name}=" in shown


@pytest.mark.parametrize(("arguments", "message"), [
    (["replay", "/nonexistent/file", "fcfs"], "cannot be read: No such file or directory"),
    (["replay", "file"], "expected the name of a policy"),
    (["replay", "file", "nope"], "unknown policy 'nope'"),
])  # fmt: skip
def test_wrong_input_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of replays; those of the service are in the table of mistakes."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("spillway: error: ")
    assert message in err


def test_a_simulation_from_start_to_end(service: Any, tmp_path: Path) -> None:
    """A real policy answers a real socket; the recording replays without difference, with another policy's it shows."""
    record = tmp_path / "t.jsonl"
    running = service("fcfs", "--record", str(record), "--watchdog", "20")
    answers = running.talk(*CONVERSATION)
    assert b'"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"0-1"}' in answers[1]
    code, log = running.end()
    assert code == 0, log
    assert f"ended after {len(CONVERSATION)} exchanges" in log
    assert main(["replay", str(record), "fcfs"]) == 0


def test_a_simulation_of_batsim_5(service: Any, tmp_path: Path) -> None:
    """The first frame shows that it is Batsim 5; the same policy answers in its words; the recording replays."""

    def message(now: float, kind: str, members: Any) -> bytes:
        event = {"timestamp": now, "event_type": kind, "event": members}
        return json.dumps({"now": now, "events": [event]}).encode() + b"\0"

    hosts = [{"id": i, "name": f"n{i}", "state": "IDLE", "properties": [], "zone_properties": []} for i in range(4)]
    job = {"resource_request": 3, "walltime": 60.0, "profile_id": "w0!p"}
    profile = {"id": "w0!p", "profile_type": "DelayProfile", "profile": {"delay": 5.0}}
    record = tmp_path / "t.jsonl"
    running = service("easy", "--record", str(record), "--watchdog", "20")
    answers = running.talk(
        struct.pack("<I", 200) + b"i" * 200,
        message(0.0, "SimulationBeginsEvent", {"computation_hosts": hosts, "storage_hosts": []}),
        message(1.0, "JobSubmittedEvent", {"job_id": "w0!1", "job": job, "submission_time": 1.0, "profile": profile}),
        message(1.0, "AllStaticJobsHaveBeenSubmittedEvent", {}),
        message(6.0, "JobCompletedEvent", {"job_id": "w0!1", "state": "COMPLETED_SUCCESSFULLY", "return_code": 0}),
        message(6.0, "SimulationEndsEvent", {}),
    )
    assert answers[0].startswith(b"\x02\0\0\0{")
    assert b'"ExecuteJobEvent","event":{"job_id":"w0!1","allocation":{"host_allocation":"0-2",' in answers[2]
    assert all(answer.endswith(b"}\0") for answer in answers)
    code, log = running.end()
    assert code == 0, log
    assert main(["replay", str(record), "easy"]) == 0
    assert main(["replay", str(record), "easy", "-v", "--node-order", "spread"]) == 0


def test_a_replay_shows_the_first_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1, and place and both values on the standard output."""
    lines = []
    for number, message in enumerate(CONVERSATION[:2]):
        lines.append(f'{{"dir":"B>S","n":{number},"msg":{batsim4.encode_message(message).decode()}}}')
        lines.append(f'{{"dir":"S>B","n":{number},"msg":{{"now":{message.now},"events":[]}}}}')
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines))
    assert main(["replay", str(path), "fcfs"]) == 1
    shown = capsys.readouterr().out
    assert "first difference in exchange 1 (line 3, t = 1 s) at $.events[0]" in shown
    assert "recorded: nothing" in shown
    assert '"EXECUTE_JOB"' in shown


def test_garbage_ends_the_service_with_one_line(service: Any) -> None:
    """Exit code 2, the place of the fault, no traceback."""
    running = service("fcfs")
    bad = b'{"now":1,"events":[{"timestamp":1,"type":"JOB_SUBMITTED","data":{"job_id":7}}]}'
    _, answer = running.talk(BEGINS, bad)
    code, log = running.end()
    assert code == 2
    assert log.splitlines()[-1] == "spillway: error: expected `str`, got `int` (at $.events[0].data.job_id)"
    assert "Traceback" not in log
    assert answer == b'{"error":"expected `str`, got `int` (at $.events[0].data.job_id)"}'


def test_a_simulator_that_hangs_up_gives_exit_code_3(service: Any) -> None:
    """At once, without a watchdog."""
    running = service("fcfs")
    running.talk(BEGINS)
    running.hang_up()
    code, log = running.end()
    assert code == 3
    assert "the simulator closed its connection after 1 exchanges, at t = 0 s" in log


def test_both_ends_say_why_the_conversation_ended(tmp_path: Path) -> None:
    """A policy's impossible decision: the service reports it, and so does the simulator, which would otherwise wait for
    ever."""
    (tmp_path / "twice.py").write_text(TWICE)
    (tmp_path / "platform.xml").write_text(PLATFORM)
    (tmp_path / "workload.json").write_text(WORKLOAD)
    endpoint = f"ipc://{tmp_path}/door"
    files = ["-p", f"{tmp_path}/platform.xml", "-w", f"{tmp_path}/workload.json", "-e", f"{tmp_path}/out"]
    commands = (
        ["serve", f"{tmp_path}/twice.py:Twice", "--bind", endpoint],
        ["simulate", *files, "-s", endpoint],
    )
    ends = [
        subprocess.Popen([sys.executable, "-m", "spillway", *command], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for command in commands
    ]
    said = [end.communicate(timeout=600)[1].splitlines()[-1] for end in ends]
    assert [end.returncode for end in ends] == [1, 2]
    reason = said[0].removeprefix("spillway: error: ")
    assert "job 'w0!1' refused" in reason
    assert said[1] == f"spillway: error: the scheduler ended the conversation: {reason}"
    assert not (tmp_path / "door").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_service_cleanly(service: Any, number: signal.Signals) -> None:
    """The next message is answered with the reason; one line, the shell's exit code for the signal, no traceback."""
    running = service("fcfs")
    running.talk(BEGINS)
    running.process.send_signal(number)
    time.sleep(0.2)
    (answer,) = running.talk(SUBMITTED)
    assert reason_of(answer) == f"stopped by {number.name} before the simulation ended"
    code, log = running.end()
    assert code == 128 + number
    assert log.splitlines()[-1] == f"spillway: stopped by {number.name} before the simulation ended"
    assert "Traceback" not in log


PATIENT = """
import math, sys
from pathlib import Path
from spillway.schedulers.service import server
from spillway.schedulers.service.command import main

class Service(server._Service):
    def _refuse_next(self, peer, stop):
        Path({mark!r}).touch()
        super()._refuse_next(peer, stop)

server.LAST_WORDS_S, server._Service = math.inf, Service
sys.exit(main(sys.argv[1:]))
"""


def test_a_second_signal_ends_the_service_at_once(service: Any, tmp_path: Path) -> None:
    """A second Ctrl-C does not wait for a silent simulator: after the first the service would wait for ever here."""
    mark = tmp_path / "the first was dealt with"
    running = service("fcfs", program=("-c", PATIENT.format(mark=str(mark))))
    running.talk(BEGINS)
    running.process.send_signal(signal.SIGINT)
    while not mark.exists():
        assert running.process.poll() is None
        time.sleep(0.01)
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 128 + signal.SIGINT


LATE = """
import sys, threading
import zmq
from spillway.protocol.batsim4 import codec
from spillway.schedulers.service import server
from spillway.schedulers.service.command import _codec, build_session, session_parser
from tests.schedulers.core.test_session import begins, submitted
from spillway.protocol.messages import Message, SimulationEnds

options = session_parser().parse_args(sys.argv[1:])
session = build_session(options)
opened = []
MESSAGES = [Message(0.0, (begins(),)), *(Message(float(n), (submitted(n, 3, n),)) for n in range(1, 4))]

def simulator(endpoint):
    with zmq.Context() as context, context.socket(zmq.REQ) as peer:
        peer.connect(endpoint)
        for message in MESSAGES:
            peer.send(codec.encode_message(message))
            peer.recv()
        opened.append("end")

def bound(endpoint):
    sys.addaudithook(lambda name, given: name in ("import", "open") and opened.append(f"{name} {given[0]}"))
    threading.Thread(target=simulator, args=(endpoint,)).start()

try:
    server.serve(session, "tcp://127.0.0.1:*", _codec(options), on_bound=bound)
except server.PeerLost:
    print(opened[: opened.index("end")])
"""


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "plan", "window"])
def test_nothing_is_loaded_after_listening(policy: str) -> None:
    """Not at the first start of a job either: there may be no descriptor left by then."""
    command = [sys.executable, "-c", LATE, policy]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
