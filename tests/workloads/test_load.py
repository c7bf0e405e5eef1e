"""One way in: every kind of source becomes a workload."""

from pathlib import Path

import pytest

from spillway.workloads import (
    ConvertOptions,
    MachineFacts,
    SwfLog,
    WorkloadError,
    load_log,
    load_workload,
    write_batsim,
    write_swf,
)
from tests.workloads.conftest import DATA


def test_sources_agree(tmp_path: Path, small_log: SwfLog) -> None:
    """A log, its compressed copy, and the converted file are the same workload."""
    workload = load_workload(DATA / "swf" / "small.swf")
    write_swf(small_log, tmp_path / "small.swf.xz")
    write_batsim(workload, tmp_path / "small.json.gz")
    write_batsim(workload, tmp_path / "small.json")
    others = [load_workload(tmp_path / name) for name in ("small.swf.xz", "small.json.gz", "small.json")]
    assert {other.checksum for other in others} == {workload.checksum}
    assert {other.name for other in others} == {"small"}


def test_machine_and_options_reach_the_conversion() -> None:
    """The machine decides nb_res and work, the options the model."""
    machine = MachineFacts(nodes=12, node_speed_flops=3e9)
    workload = load_workload("kth-like:jobs=5,seed=1,nodes=12", machine, ConvertOptions(first=3))
    assert (workload.nb_res, len(workload.jobs)) == (12, 3)
    assert all(profile["cpu"] % 3_000_000_000 == 0 for profile in workload.profiles.values())


def test_unknown_sources(tmp_path: Path) -> None:
    """The error on an unknown name lists the known kinds; a workload is no log."""
    with pytest.raises(WorkloadError, match=r"'nix' is no file, no generator \(kth-like, lublin\) and no public log"):
        load_workload("nix")
    with pytest.raises(WorkloadError, match=r"nix\.swf: cannot be read"):
        load_workload("nix.swf")
    with pytest.raises(WorkloadError, match="cannot be read"):
        load_workload("nix.json.xz")
    write_batsim(load_workload("kth-like:jobs=2"), tmp_path / "w.json")
    with pytest.raises(WorkloadError, match="got a Batsim workload"):
        load_log(tmp_path / "w.json")
