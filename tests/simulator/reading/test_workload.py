"""Workload files: read as strictly as Batsim does, with messages that name the place (batsim4.md 3 and 6.2)."""

import gzip
import json
import lzma
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.reading.identifiers import resolve_id, split_id
from spillway.simulator.reading.workload import load_workload, workload_from_object
from tests.kit.cases import cases
from tests.simulator.worlds import jobs, run

P = {"type": "delay", "delay": 1}


def test_a_good_one() -> None:
    """Extra members are kept in the job and ignored elsewhere; the object echoed has the full id."""
    data = {**jobs({"id": 7, "user": "x", "walltime": -1}), "description": "d"}
    workload = workload_from_object(data)
    (job,) = workload.jobs
    assert (job.id, job.name, job.walltime, workload.nb_res) == ("w0!7", "7", -1.0, 4)
    assert job.source == {"id": "w0!7", "user": "x", "walltime": -1, "subtime": 0, "res": 1, "profile": "p"}


def test_jobs_of_a_file_are_taken_out_as_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million of them would be in memory twice; an object that a caller made stays as it is."""
    data = jobs({"id": 1}, {"id": 2}, {"id": 3})
    before = deepcopy(data)
    assert [job.id for job in workload_from_object(data).jobs] == ["w0!1", "w0!2", "w0!3"]
    assert data == before
    (tmp_path / "w.json").write_text("{}")
    monkeypatch.setattr("spillway.simulator.reading.workload.parse_json", lambda *_, **__: data)
    assert [job.id for job in load_workload(tmp_path / "w.json").jobs] == ["w0!1", "w0!2", "w0!3"]
    assert (data["jobs"], data["profiles"]) == ([], {})


def test_a_walltime_beyond_all_times() -> None:
    """Batsim takes it, and it is never reached."""
    result, _ = run(jobs({"walltime": 1e15}))
    assert result.totals.success == 1


@pytest.mark.parametrize(("change", "expected"), cases("simulator-workload"))
def test_bad_jobs(change: dict[str, Any], expected: str) -> None:
    """The message names the workload, the job and the field."""
    data = jobs({}, {"id": "two", **change})
    with pytest.raises(SimulatorInputError) as caught:
        workload_from_object(data, "w0", "/x/w.json")
    message = str(caught.value)
    assert message.startswith("workload '/x/w.json': ")
    assert "job number 1" in message
    assert expected in message


def test_ids_deeper_in_a_job_are_replaced_too() -> None:
    """As Batsim does, which replaces them by a search in the text."""
    workload = workload_from_object(jobs({"id": 7, "parent": {"id": 3, "x": [{"id": "y"}]}}))
    assert workload.jobs[0].source is not None
    assert workload.jobs[0].source["parent"] == {"id": "w0!7", "x": [{"id": "w0!7"}]}


@pytest.mark.parametrize("missing", ["id", "subtime", "res", "profile"])
def test_missing_fields(missing: str) -> None:
    """Each mandatory field is expected by name."""
    data = jobs({})
    del data["jobs"][0][missing]
    with pytest.raises(SimulatorInputError, match=f"job number 0.* has no field '{missing}'"):
        workload_from_object(data)


@pytest.mark.parametrize(("data", "expected"), cases("simulator-workload-data"))
def test_bad_files(data: Any, expected: str) -> None:
    """The message names the error."""
    with pytest.raises(SimulatorInputError) as caught:
        workload_from_object(data)
    assert expected in str(caught.value)


def test_unused_profiles_are_dropped() -> None:
    """Sub-profiles of a used sequence count as used, targets of a recv do not; names stay taken."""
    profiles = {
        "p": {"type": "composed", "seq": ["a"]},
        "a": P,
        "b": P,
        "r": {"type": "recv", "success": "b"},
        "unused": {"type": "composed", "seq": ["a"]},
    }
    workload = workload_from_object(jobs({}, {"profile": "r"}, profiles=profiles))
    assert {name for name, profile in workload.profiles.items() if profile} == {"p", "a", "r"}
    assert set(workload.profiles) == set(profiles)


@pytest.mark.parametrize(("text", "expected"), [
    ("", "not a JSON text"),
    ('{"nb_res": NaN}', "NaN is no JSON number"),
    ('{"nb_res": 1, "jobs": [], "profiles": {"a": {}, "a": {}}}', "the name 'a' occurs twice"),
    ("[" * 100_000, "nests more than 100 levels deep"),
    ('{"nb_res": 1, ', "line 1, column"),
])  # fmt: skip
def test_bad_texts(tmp_path: Path, text: str, expected: str) -> None:
    """For any contents of the file, the message names it."""
    path = tmp_path / "w.json"
    path.write_text(text)
    with pytest.raises(SimulatorInputError, match=r"w\.json") as caught:
        load_workload(path)
    assert expected in str(caught.value)


def test_unreadable_files(tmp_path: Path) -> None:
    """Missing, a folder, not packed, not UTF-8."""
    (tmp_path / "x.xz").write_bytes(b"no xz")
    (tmp_path / "b.json").write_bytes(b'{"nb_res": "\xff"}')
    for path in (tmp_path / "missing.json", tmp_path, tmp_path / "x.xz", tmp_path / "b.json"):
        with pytest.raises(SimulatorInputError, match=r"cannot be read|not a UTF-8 text|expected a complete .xz"):
            load_workload(path)


def test_packed_files(tmp_path: Path) -> None:
    """.xz and .gz are unpacked; the file's absolute path is kept."""
    text = json.dumps(jobs({})).encode()
    (tmp_path / "w.json.xz").write_bytes(lzma.compress(text))
    (tmp_path / "w.json.gz").write_bytes(gzip.compress(text))
    for name in ("w.json.xz", "w.json.gz"):
        workload = load_workload(tmp_path / name, "w3")
        assert workload.jobs[0].id == "w3!1"
        assert workload.file == str(tmp_path / name)


def test_ids() -> None:
    """One separator; several in a row count as one; a full id stays as it is."""
    assert split_id("w0!1") == ("w0", "1")
    assert split_id("w0!!1") == ("w0", "1")
    assert split_id("w0!") == ("w0", "")
    assert resolve_id("w0!x", "w0", "") == ("w0", "x")
    assert resolve_id(12, "w0", "") == ("w0", "12")
    for bad in ("", "w0", "a!b!c"):
        with pytest.raises(ValueError, match="exactly one '!'"):
            split_id(bad)


@pytest.mark.parametrize(
    ("job", "profile", "message"),
    [
        ({"id": "\ud800"}, {}, "job number 0 .*: field 'id' is no valid Unicode"),
        ({}, {"type": "io_stream", "cpu": 1, "io_bytes": 1, "storage": "\ud800"}, "profile 'p': a text is no valid"),
    ],
)
def test_texts_are_unicode(job: dict[str, Any], profile: dict[str, Any], message: str) -> None:
    """Half a character of two is refused; the id gave an error of the program, the storage one of another field."""
    row = {"id": "1", "subtime": 0, "res": 1, "profile": "p"} | job
    with pytest.raises(SimulatorInputError, match=message):
        workload_from_object({"nb_res": 1, "jobs": [row], "profiles": {"p": profile or {"type": "delay", "delay": 1}}})
