"""Each pair of profile, machine and job model plays, or is refused before anything is played."""

import itertools
import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, reject

from spillway.experiments.campaign.inputs.playable import is_read
from spillway.experiments.cli import main
from spillway.protocol.limits import LATEST_S
from spillway.simulator.reading.workload import workload_from_object
from spillway.workloads.batsim.json_file import parse_batsim
from spillway.workloads.errors import WorkloadError

TRACE = {"trace": "t.txt"}
PFS = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e6, "bytes_to_write": 1e6}
PROFILES: dict[str, dict[str, Any]] = {
    "delay": {"type": "delay", "delay": 10},
    "homogeneous": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 1e6},
    "total": {"type": "parallel_homogeneous_total", "cpu": 1e9, "com": 1e6},
    "parallel": {"type": "parallel", "cpu": [1e9, 1e9], "com": [0, 1e6, 1e6, 0]},
    "pfs": PFS,
    "named": {**PFS, "storage": "nowhere"},
    "staging": {"type": "data_staging", "nb_bytes": 1e6, "from": "pfs", "to": "hpst"},
    "io_stream": {"type": "io_stream", "cpu": 1e9, "io_bytes": 1e6},
    "smpi": {"type": "smpi", **TRACE},
    "usage": {"type": "usage_trace", **TRACE},
    "send": {"type": "send", "msg": {"a": 1}},
    "recv": {"type": "recv"},
    "composed": {"type": "composed", "seq": ["delay", "homogeneous"], "repeat": 2},
    "composed-pfs": {"type": "composed", "seq": ["delay", "composed", "pfs"]},
    "composed-smpi": {"type": "composed", "seq": ["delay", "smpi"]},
    "buffer": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0, "bb": 10**9},
}
PARTS = {"composed": ("delay", "homogeneous"), "composed-pfs": ("delay", "homogeneous", "composed", "pfs"),
         "composed-smpi": ("delay", "smpi")}  # fmt: skip
FIELDS: dict[str, dict[str, Any]] = {"stream": {"io_bytes": 10**6}}
"""Fields of a second job, which plays them: a model without any such job is refused."""

MACHINES = ("tiny", "nodes:4", "nodes:4,burst_buffer_total=80GB", "one.xml")
MODELS = ("rigid", "io", "stream")
ONE_STORAGE = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="master_host" speed="1Gf"><prop id="role" value="master"/></host>
<host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/>
<host id="pfs" speed="1Gf"><prop id="role" value="storage"/></host>
<link id="l" bandwidth="1GBps" latency="0us"/>
{routes}</zone></platform>
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a machine of one storage host and a trace."""
    hosts = ("master_host", "n0", "n1", "pfs")
    routes = "\n".join(f'<route src="{one}" dst="{other}"><link_ctn id="l"/></route>'
                       for one, other in itertools.combinations(hosts, 2))  # fmt: skip
    (tmp_path / "one.xml").write_text(ONE_STORAGE.format(routes=routes))
    (tmp_path / "t.txt").write_text("t0.txt\n")
    (tmp_path / "t0.txt").write_text("0 0.5 10\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(name: str, machine: str, model: str, *more: str) -> int:
    """Play one job of this profile."""
    jobs = [{"id": "1", "subtime": 0, "walltime": 1000, "res": 2, "profile": name}]
    profiles = {part: PROFILES[part] for part in (*PARTS.get(name, ()), name)}
    if fields := FIELDS.get(model):
        jobs.append({"id": "2", "subtime": 0, "walltime": 1000, "res": 2, "profile": "delay", **fields})
        profiles["delay"] = PROFILES["delay"]
    Path("jobs.json").write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": profiles}))
    words = [
        "run",
        "jobs.json",
        "--policy",
        "fcfs",
        "--platform",
        machine,
        "--model",
        model,
        "--out",
        f"{model}-{machine}",
    ]
    return main([*words, "--no-plots", "--no-replay", "--no-uncontended", *more])


@pytest.mark.parametrize("name", PROFILES)
def test_it_plays_or_is_refused(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the job, the profile, the expected and the actual; and nothing is left behind."""
    for machine, model in itertools.product(MACHINES, MODELS):
        code = run(name, machine, model, "--force")
        error = capsys.readouterr().err
        assert code in (0, 2), (machine, model, error)
        if code == 2:
            assert error.startswith("spillway: error: jobs.json: $."), error
            assert error.count("\n") == 1
            assert not (folder / f"{model}-{machine}").exists()
        if name in ("smpi", "usage", "composed-smpi"):
            assert code == 2
        if name in ("pfs", "named", "composed-pfs") and model == "rigid":
            assert code == (0 if machine == "one.xml" else 2), error


def test_words_on_a_storage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Place, job, profile, what was expected, what came, what to do."""
    assert run("composed-pfs", "tiny", "rigid") == 2
    assert capsys.readouterr().err == (
        "spillway: error: jobs.json: $.jobs[0].profile: the parallel_homogeneous_pfs profile 'pfs' of job '1' uses the "
        "storage 'pfs': expected a platform with exactly one storage host, as no policy here states which of several "
        "it is, got tiny with 3: name another --platform, or describe the transfers for --model stream (field "
        "io_bytes)\n"
    )


def test_words_on_a_trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where a profile is composed of it."""
    assert run("composed-smpi", "tiny", "rigid") == 2
    error = capsys.readouterr().err
    assert error.startswith("spillway: error: jobs.json: $.profiles['smpi'].type: 'smpi' replays a trace of SimGrid's")
    assert run("usage", "tiny", "rigid") == 2
    error = capsys.readouterr().err
    assert "$.profiles['usage'].type (of $.jobs[0], job '1'): 'usage_trace' reads trace files beside the" in error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"timestamp": 1, "type": "machine_unavailable", "resources": "5"}', "names machine 5, the ids are 0..4"),
        ('{"timestamp": 1, "type": "machine_available", "resources": "0-9"}', "names machine 9, the ids are 0..4"),
        ('{"timestamp": 1, "type": "storage_drained", "resources": "7", "bytes": 5}', "the ids are 0..4"),
    ],
)
def test_events_of_hosts_that_are_not_there(
    text: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line, the host, the machine's hosts; three nodes are 0 to 2, storage hosts 3 and 4."""
    (folder / "e.txt").write_text(f'{{"timestamp": 0, "type": "machine_unavailable", "resources": "0"}}\n{text}\n')
    assert run("delay", "nodes:3,burst_buffer=80GB", "rigid", "--events", "e.txt") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "event file 'e.txt', line 2: " in error
    if "storage_drained" not in text:
        assert words in error
        assert "its compute hosts come first, then its storage hosts" in error


@pytest.mark.parametrize(
    ("kind", "state"), [("machine_unavailable", "unavailable"), ("machine_available", "available")]
)
def test_events_twice(kind: str, state: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A machine is what it is made already: such a run ended when it came to that event."""
    lines = [{"timestamp": at, "type": kind, "resources": "0-1"} for at in (5, 7)]
    (folder / "e.txt").write_text("\n".join(map(json.dumps, lines)))
    assert run("delay", "nodes:3", "rigid", "--events", "e.txt") == 2
    error = capsys.readouterr().err
    at = 7 if state == "unavailable" else 5
    assert f"external event at {at} s: machine 0 is made {state} but it is so already" in error


@pytest.mark.parametrize(("host", "size"), [(0, 5), (8, 10**11), (10, 5)])
def test_drains_of_what_is_not_there(host: int, size: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A compute host, more bytes than a burst buffer has, the file system."""
    (folder / "e.txt").write_text(
        json.dumps({"timestamp": 5, "type": "storage_drained", "resources": str(host), "bytes": size})
    )
    assert run("delay", "tiny", "rigid", "--events", "e.txt") == 2
    error = capsys.readouterr().err
    assert "event file 'e.txt': storage_drained at 5 s: expected hosts with burst buffers" in error
    assert f"on tiny 8 (10,000,000,000 bytes), 9 (10,000,000,000 bytes); got host {host} and {size:,} bytes" in error


def test_a_drain_that_plays(folder: Path) -> None:
    """Of a burst buffer."""
    (folder / "e.txt").write_text('{"timestamp": 5, "type": "storage_drained", "resources": "8-9", "bytes": 5}')
    assert run("delay", "tiny", "rigid", "--events", "e.txt") == 0


NUMBERS = (0, 1, -1, 0.5, -0.0, 2**31, 2**63, 1e300, -1e300, LATEST_S, 2 * LATEST_S)
NAMES = ("", "a", "w0", "w01", "a!b", "a,b", "\u00e4")
VALUES = st.sampled_from((None, True, *NUMBERS, *NAMES, [], [1e300], {"a": 1e300}))


@given(
    st.dictionaries(st.sampled_from(("id", "subtime", "res", "walltime", "bb", "user")), VALUES, max_size=2),
    st.dictionaries(st.sampled_from(("type", "cpu", "com", "ret", "bb", "note")), VALUES, max_size=2),
    st.sampled_from((1, 0, 2**31 - 1, 2**31)),
)
def test_what_is_known_to_be_read_is_read(job: dict[str, Any], profile: dict[str, Any], nb_res: int) -> None:
    """A file whose jobs and profiles have the usual types is not read a second time before its run."""
    whole = {"id": 1, "subtime": 0, "res": 1, "walltime": 10, "profile": "p", **job}
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 1, "com": 0, **profile}}
    text = json.dumps({"nb_res": nb_res, "jobs": [whole], "profiles": profiles}, ensure_ascii=False)
    try:
        workload = parse_batsim(text)
    except WorkloadError:
        reject()
    if is_read(workload):
        assert len(workload_from_object(json.loads(text)).jobs) == 1
