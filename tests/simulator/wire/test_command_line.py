"""``spillway simulate``: Batsim's options, exit codes, one line per error, and the same files as in process."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import zmq

from spillway.protocol.messages import Message, Reply
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.wire.command import main
from spillway.simulator.wire.command_line import build_parser, read_command_line, read_roles
from tests.kit.cases import cases
from tests.simulator.peers import decoded, listening
from tests.simulator.worlds import STORAGE, XML, greedy, jobs

ENGINE = ("--engine", "fluid")


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, Path]:
    """Files of a small platform and a workload."""
    hosts = [f'<host id="h{n}" speed="1Gf"/>' for n in range(3)]
    hosts += [f'<host id="{name}" speed="0f"><prop id="role" value="storage"/></host>' for name in STORAGE]
    names = ["h0", "h1", "h2", *STORAGE]
    routes = [f'<route src="{name}" dst="master"><link_ctn id="up"/></route>' for name in names]
    routes += [
        f'<route src="{one}" dst="{other}"><link_ctn id="net"/></route>'
        for position, one in enumerate(names)
        for other in names[position:]
    ]
    platform = tmp_path / "platform.xml"
    platform.write_text(XML.format(hosts="\n".join(hosts), routes="\n".join(routes), master=""))
    workload = tmp_path / "workload.json"
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 2e9, "com": 1e6}}
    workload.write_text(json.dumps(jobs({"res": 2}, {"subtime": 9}, profiles=profiles)))
    return platform, workload


def handle(message: Message) -> Reply:
    """A greedy scheduler."""
    return Reply(message.now, tuple(greedy(message)))


def arguments(world: tuple[Path, Path], endpoint: str = "tcp://127.0.0.1:9", *more: str) -> list[str]:
    """A command line for the small world."""
    platform, workload = world
    prefix = str(platform.parent / "out")
    return ["-p", str(platform), "-w", str(workload), "-s", endpoint, "-e", prefix, *ENGINE, *more]


@pytest.mark.parametrize("engine", ["fluid", "fixed"])
def test_a_whole_run(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str], engine: str) -> None:
    """All of Batsim's files appear, the summary goes to standard error, the exit code is 0."""
    with listening(decoded(handle)) as endpoint:
        assert main(arguments(world, endpoint, "--engine", engine)) == 0
    reported = capsys.readouterr()
    assert reported.out == ""
    assert "2 jobs, 2 successful" in reported.err
    names = sorted(path.name for path in world[0].parent.glob("out*"))
    assert names == ["out_jobs.csv", "out_machine_states.csv", "out_schedule.csv", "out_schedule.trace"]


def test_quiet_and_fewer_files(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """-q prints nothing; tracing can be switched off."""
    with listening(decoded(handle)) as endpoint:
        options = ("-q", "--disable-schedule-tracing", "--disable-machine-state-tracing", "--no-wall-clock")
        assert main(arguments(world, endpoint, *options)) == 0
    assert capsys.readouterr() == ("", "")
    assert sorted(path.name for path in world[0].parent.glob("out*")) == ["out_jobs.csv", "out_schedule.csv"]
    assert ",0.000000,0.000000," in (world[0].parent / "out_schedule.csv").read_text()


def test_same_bytes_in_process(world: tuple[Path, Path]) -> None:
    """Over ZeroMQ and in process the tables are equal."""
    from spillway.platforms.simgrid.xml_reader import load_platform
    from spillway.simulator.engines.native import FluidEngine
    from spillway.simulator.options import SimulationOptions
    from spillway.simulator.reading.workload import load_workload
    from spillway.simulator.wire.broker import Simulation
    from spillway.simulator.wire.links import InProcessLink

    with listening(decoded(handle)) as endpoint:
        assert main(arguments(world, endpoint, "-q", "--no-wall-clock")) == 0
    platform = load_platform(world[0])
    options = SimulationOptions(
        export=str(world[0].parent / "in"), trace_schedule=True, trace_machine_states=True
    )  # fmt: skip
    with FluidEngine(platform) as engine:
        Simulation(platform, [load_workload(world[1])], engine, InProcessLink(handle), options).run()
    for name in ("jobs.csv", "schedule.csv", "machine_states.csv", "schedule.trace"):
        ours = (world[0].parent / f"in_{name}").read_bytes()
        assert ours == (world[0].parent / f"out_{name}").read_bytes(), name


def test_silent_scheduler(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """With a time limit a missing scheduler is an error with its own exit code."""
    assert main(arguments(world, "ipc:///nonexistent-but-fine", "--peer-timeout", "0.2")) == 3
    assert "no reply from the scheduler at ipc:///nonexistent-but-fine within 0.2 s" in capsys.readouterr().err


def test_a_scheduler_that_vanishes(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A closed connection is noticed at once, without a time limit."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        port = socket.bind_to_random_port("tcp://127.0.0.1")

        def vanish() -> None:
            socket.recv_multipart()
            socket.close(0)

        thread = threading.Thread(target=vanish)
        thread.start()
        assert main(arguments(world, f"tcp://127.0.0.1:{port}")) == 3
        thread.join()
    assert "closed the connection" in capsys.readouterr().err


def test_a_scheduler_that_says_why_it_ends(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is the simulator's own error; it waited for ever before there was one."""
    with listening(lambda frame: b'{"error":"no such luck"}') as endpoint:
        assert main(arguments(world, endpoint)) == 2
    assert capsys.readouterr().err == "spillway: error: the scheduler ended the conversation: no such luck\n"


def test_a_reply_beyond_the_limit(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """ZeroMQ drops the connection; the error names the option."""
    with listening(lambda frame: b" " * 5000) as endpoint:
        assert main(arguments(world, endpoint, "--max-message-bytes", "1000")) == 3
    assert "--max-message-bytes" in capsys.readouterr().err


def test_deadlock(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Silent with exit code 0, as Batsim; an error with exit code 4 on request."""
    with listening(decoded(lambda message: Reply(message.now, ()))) as endpoint:
        assert main(arguments(world, endpoint)) == 0
        assert "spillway: deadlock at 9.0" in capsys.readouterr().err
        assert main(arguments(world, endpoint, "--fail-on-deadlock")) == 4
        assert "2 submitted jobs were never executed" in capsys.readouterr().err


def test_no_scheduler(world: tuple[Path, Path]) -> None:
    """--no-sched starts every job at once on the first hosts; no scheduler is called, the job table stays empty."""
    for option in ("--no-sched", "--batexec"):
        assert main(arguments(world, "tcp://127.0.0.1:9", option, "--enable-compute-sharing")) == 0
    folder = world[0].parent
    assert len((folder / "out_jobs.csv").read_text().splitlines()) == 1
    last = (folder / "out_machine_states.csv").read_text().splitlines()[-1]
    assert last.endswith(",3,0")


def test_no_scheduler_with_too_big_a_job(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A job that requests more than there is cannot run without a scheduler."""
    world[1].write_text(json.dumps(jobs({"res": 6})))
    assert main(arguments(world, "tcp://127.0.0.1:9", "--no-sched")) == 2
    assert "job 'w0!1' cannot run without a scheduler: its 'alloc' names machine 5" in capsys.readouterr().err


@pytest.mark.parametrize(("change", "expected"), cases("simulator-command-line"))
def test_bad_command_lines(
    world: tuple[Path, Path], capsys: pytest.CaptureFixture[str], change: list[str], expected: str
) -> None:
    """Exit code 2 and one line that says what to do."""
    assert main([*arguments(world), *change]) == 2
    reported = capsys.readouterr().err
    assert reported.startswith("spillway: error: ")
    assert reported.count("\n") == 1
    assert expected in reported


def test_broken_files(world: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Broken inputs are named."""
    text = world[0].read_text()
    world[0].write_text("<platform")
    assert main(arguments(world)) == 2
    assert "platform.xml" in capsys.readouterr().err
    world[0].write_text(text)
    world[1].write_text("{")
    assert main(arguments(world)) == 2
    assert "workload.json': not a JSON text" in capsys.readouterr().err


def test_information(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Options that only print something."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "v4.2.1\n"
    assert main(["--simgrid-version"]) == 0
    assert capsys.readouterr().out == "3.32.0\n"
    assert main(["-s", "ipc:///x", "-e", "y", "--dump-execution-context"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "socket_endpoint": "ipc:///x", "redis_enabled": False, "redis_hostname": "127.0.0.1", "redis_port": 6379,
        "redis_prefix": "default", "export_prefix": "y", "external_scheduler": True,
    }  # fmt: skip
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert "--forward-profiles-on-submission" in capsys.readouterr().out


def test_all_options_are_passed_on(world: tuple[Path, Path], tmp_path: Path) -> None:
    """Each of Batsim's options reaches its field."""
    platform, workload = world
    text = (
        f"-p {platform} -w {workload} -w {workload} --events {workload} -m boss -r a,b:storage -r c:master -E --mmax 2 "
        "--mmax-workload --forward-profiles-on-submission --enable-dynamic-jobs --acknowledge-dynamic-jobs "
        "--enable-profile-reuse --enable-compute-sharing --disable-storage-sharing --sched-cfg abc "
        "--forward-unknown-events --disable-schedule-tracing -v debug --sg-cfg x:y --sg-log z --peer-timeout 2.5"
    )
    command = read_command_line(build_parser().parse_args(text.split()))
    options: Any = command.options
    assert (command.workloads, command.peer_timeout_s, command.quiet) == ((workload, workload), 2.5, False)
    assert options.roles == {"a": "storage", "b": "storage", "c": "master"}
    assert (options.master, options.energy, options.machine_limit) == ("boss", True, 2)
    assert options.machine_limit_from_workload
    assert options.events == (workload,)
    for name in ("forward_profiles", "dynamic_jobs", "acknowledge_dynamic_jobs", "profile_reuse", "compute_sharing"):
        assert getattr(options, name), name
    assert not options.storage_sharing
    assert options.forward_unknown_events
    assert options.sched_config == "abc"
    assert not options.trace_schedule
    assert options.trace_machine_states
    assert (options.export, command.endpoint) == ("out", "tcp://localhost:28000")
    configuration = tmp_path / "cfg"
    configuration.write_text("from a file")
    given = build_parser().parse_args(["-p", str(platform), "--sched-cfg-file", str(configuration), "-q"])
    command = read_command_line(given)
    assert command.options.sched_config == "from a file"
    assert command.quiet


def test_roles() -> None:
    """Several hosts per option, several options."""
    assert read_roles(["a,b:storage", "c:master"]) == {"a": "storage", "b": "storage", "c": "master"}
    for text in ("", ":x", "a:", "a:b:c"):
        with pytest.raises(SimulatorInputError, match="must read"):
            read_roles([text])


def test_as_a_program(world: tuple[Path, Path]) -> None:
    """The module runs as a program; a fault of the scheduler gives exit code 1 and one line, no traceback."""
    with listening(lambda frame: b"{]") as endpoint:
        done = subprocess.run(
            [sys.executable, "-m", "spillway", "simulate", *arguments(world, endpoint)],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("spillway: error: ")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
