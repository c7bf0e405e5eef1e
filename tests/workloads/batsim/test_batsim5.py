"""Workloads for Batsim 5: names of profile types, and the contents of ``extra_data``."""

import json
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main as spillway
from spillway.workloads.batsim.batsim5 import READ_AS_4, to_batsim5
from spillway.workloads.batsim.json_file import parse_batsim
from spillway.workloads.cli import main
from spillway.workloads.errors import WorkloadError

PROFILES: dict[str, Any] = {
    "d": {"type": "delay", "delay": 5, "bb": 7, "periods": {"count": 2}},
    "h": {"type": "parallel_homogeneous", "cpu": 8, "com": 4, "ret": 1},
    "t": {"type": "parallel_homogeneous_total", "cpu": 8, "com": 4},
    "c": {"type": "composed", "seq": ["h", "t"], "repeat": 2},
    "s": {"type": "parallel_homogeneous_pfs", "bytes_to_write": 3},
    "g": {"type": "data_staging", "nb_bytes": 3, "from": "a", "to": "b"},
}


def translated(*jobs: dict[str, Any], profiles: dict[str, Any] | None = None) -> Any:
    """A workload of these jobs as Batsim 5 reads it."""
    filled = [{"id": str(at), "subtime": 0, "res": 2, **job} for at, job in enumerate(jobs)]
    text = json.dumps({"nb_res": 4, "jobs": filled, "profiles": PROFILES if profiles is None else profiles})
    return to_batsim5(parse_batsim(text))


def test_further_fields_go_into_extra_data() -> None:
    """Those of the profile and of the job, which wins; a job without any has no such field."""
    workload = translated(
        {"profile": "d", "bb": 9, "depends": "after:1", "walltime": -1}, {"profile": "h", "walltime": 60}
    )
    first, second = (job.to_object() for job in workload.jobs)
    assert json.loads(first.pop("extra_data")) == {"bb": 9, "periods": {"count": 2}, "depends": "after:1"}
    assert first == {"id": "0", "subtime": 0, "res": 2, "profile": "d"}
    assert second == {"id": "1", "subtime": 0, "walltime": 60, "res": 2, "profile": "h"}
    assert workload.profiles["d"] == {"type": "DelayProfile", "delay": 5}
    assert workload.profiles["h"] == {"type": "ParallelTaskHomogeneousProfile", "cpu": 8, "com": 4, "ret": 1}


def test_amounts_of_all_nodes_become_shares_of_each() -> None:
    """One profile per number of nodes, inside sequences too."""
    workload = translated({"profile": "t"}, {"profile": "c", "res": 4})
    kind = "ParallelTaskHomogeneousProfile"
    assert [job.profile for job in workload.jobs] == ["t-of-2", "c-of-4"]
    assert workload.profiles == {
        "t-of-2": {"type": kind, "cpu": 4.0, "com": 2.0},
        "c-of-4": {"type": "SequentialCompositionProfile", "seq": ["h", "t-of-4"], "repeat": 2},
        "h": {"type": kind, "cpu": 8, "com": 4, "ret": 1},
        "t-of-4": {"type": kind, "cpu": 2.0, "com": 1.0},
    }


def test_storage_profiles() -> None:
    """The default storage is written out: Batsim 5 has no default."""
    workload = translated({"profile": "s"}, {"profile": "g"})
    assert workload.profiles["s"] == {
        "type": "ParallelTaskOnStorageHomogeneousProfile",
        "storage": "pfs",
        "bytes_to_write": 3,
    }
    assert workload.profiles["g"]["type"] == "ParallelTaskDataStagingBetweenStoragesProfile"


def test_what_batsim_5_lacks_is_refused() -> None:
    """With the name of the profile on which Batsim 5 would end."""
    with pytest.raises(WorkloadError, match=r"no type for the profile 'm' of type 'send'"):
        translated({"profile": "m"}, profiles={"m": {"type": "send", "msg": {}}})


def test_the_command_takes_logs_and_workloads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both ways give the same file: from the log at once, and by way of a workload for Batsim 4."""
    four, five, both = (tmp_path / name for name in ("four.json", "five.json", "both.json"))
    assert main(["convert", "kth-like:jobs=20", "--out", str(four)]) == 0
    assert main(["convert", "kth-like:jobs=20", "--out", str(five), "--batsim", "5"]) == 0
    assert main(["convert", str(four), "--out", str(both), "--batsim", "5"]) == 0
    assert five.read_bytes() == both.read_bytes()
    jobs = json.loads(five.read_text())["jobs"]
    assert len(jobs) == 20
    assert all(json.loads(job["extra_data"])["bb"] > 0 for job in jobs)
    assert main(["convert", str(four), "--out", str(both)]) == 2
    assert "got a Batsim workload" in capsys.readouterr().err


def test_a_file_of_batsim_5_is_read_in_the_words_of_4() -> None:
    """There and back: profiles, further fields; a field that version 4 never had is dropped."""
    jobs = [{"profile": "d", "bb": 9, "walltime": 60}, {"profile": "c"}, {"profile": "s"}, {"profile": "g"}]
    there = translated(*jobs)
    back = parse_batsim(json.dumps({
        "nb_res": 4, "jobs": [job.to_object() for job in there.jobs], "profiles": there.profiles,
    }))  # fmt: skip
    assert back.notes == (READ_AS_4,)
    assert back.jobs[0].extras == {"bb": 9, "periods": {"count": 2}}
    kinds = {name: profile["type"] for name, profile in back.profiles.items()}
    assert kinds["d"] == "delay"
    assert kinds["c-of-2"] == "composed"
    assert (kinds["h"], kinds["s"], kinds["g"]) == ("parallel_homogeneous", "parallel_homogeneous_pfs", "data_staging")
    spread = {"type": "ParallelTaskHomogeneousProfile", "cpu": 8, "com": 4}
    spread["generation_strategy"] = "DefinedAmountsSpreadUniformly"
    text = json.dumps({"nb_res": 4, "jobs": [], "profiles": {"t": spread}})
    assert parse_batsim(text).profiles["t"] == {"type": "parallel_homogeneous_total", "cpu": 8, "com": 4}


def test_what_batsim_4_has_nothing_for_is_refused_with_a_word_on_batsim_5() -> None:
    """The type and its place; text that is no JSON object."""
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "f"}
    with pytest.raises(
        WorkloadError, match=r"profiles\.f\.type: 'ForkJoinCompositionProfile' is a profile of Batsim 5"
    ):
        parse_batsim(
            json.dumps({"nb_res": 1, "jobs": [job], "profiles": {"f": {"type": "ForkJoinCompositionProfile"}}})
        )
    profiles = {"f": {"type": "DelayProfile", "delay": 1}}
    with pytest.raises(WorkloadError, match=r"jobs\[0\]\.extra_data: must be the text of a JSON object"):
        parse_batsim(json.dumps({"nb_res": 1, "jobs": [job | {"extra_data": "7"}], "profiles": profiles}))


def test_a_file_of_batsim_5_is_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the file to a run; that it was read so is said."""
    jobs = [{"id": str(n), "subtime": n, "res": 1, "profile": "d", "walltime": 9} for n in range(4)]
    made = {"nb_res": 4, "jobs": jobs, "profiles": {"d": {"type": "DelayProfile", "delay": 5}}}
    (tmp_path / "five.json").write_text(json.dumps(made))
    run = ["run", str(tmp_path / "five.json"), "--policy", "fcfs", "--no-plots", "--out", str(tmp_path / "out")]
    assert spillway(run) == 0
    assert f"five: {READ_AS_4}" in (tmp_path / "out" / "assumptions.txt").read_text()
