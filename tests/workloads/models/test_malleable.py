"""Applications drawn for the jobs of a log: the same jobs at every share, periods that add up, limits that hold."""

from pathlib import Path

import pytest

from spillway.base.errors import OptionError
from spillway.workloads.batsim.json_file import format_batsim, parse_batsim, read_batsim
from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.cli import main
from spillway.workloads.conversion.convert import convert
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE
from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.malleable import INTERVALS_PER_PERIOD, MalleableOptions, make_malleable
from spillway.workloads.models.synthetic import kth_like


@pytest.fixture(scope="module")
def rigid() -> Workload:
    """Two hundred jobs of the generator."""
    return convert(kth_like(jobs=200, seed=4), THESIS_MACHINE, None, "kth-like")[0]


def resizable(workload: Workload) -> set[str]:
    """Names of the profiles with more than one size."""
    found = {name: profile["malleable"] for name, profile in workload.profiles.items()}
    return {name for name, application in found.items() if application["maximum"] > application["minimum"]}


def test_shares_are_nested_and_change_nothing_else(rigid: Workload) -> None:
    """0 %: no job; 100 %: all that can grow; in between about the share, and always the same ones first."""
    shares = [make_malleable(rigid, THESIS_MACHINE, MalleableOptions(share=share)) for share in (0.0, 0.25, 0.75, 1.0)]
    sets = [resizable(workload) for workload in shares]
    assert sets[0] == set()
    assert sets[0] < sets[1] < sets[2] < sets[3]
    for name, profile in shares[0].profiles.items():
        for other in shares[1:]:
            ours, theirs = profile["malleable"], other.profiles[name]["malleable"]
            assert {**ours, "maximum": 0} == {**theirs, "maximum": 0}


def test_an_application_takes_as_long_as_the_job(rigid: Workload) -> None:
    """Computation and undisturbed I/O add up to the job's runtime."""
    workload = make_malleable(rigid, THESIS_MACHINE)
    checked = 0
    for job in rigid.jobs:
        run_s = rigid.profiles[job.profile]["cpu"] / 1e9
        application = workload.profiles[f"app{job.name}"]["malleable"]
        model = application["model"]
        compute_s = application["iterations"] * (model["work"] / job.res + model["serial"])
        periods = application["iterations"] // INTERVALS_PER_PERIOD if application["io_every"] else 0
        assert compute_s + periods * model["io_fixed"] == pytest.approx(run_s, rel=1e-6, abs=1.0)
        assert model["io_fixed"] <= 0.26 * (compute_s / max(periods, 1) + model["io_fixed"])
        checked += periods > 0
    assert checked > 50, "most jobs do no I/O: the test proves little"


def test_sizes_stay_on_the_machine(rigid: Workload) -> None:
    """Four times the size, but never more than 96 nodes; no job below its size."""
    workload = make_malleable(rigid, THESIS_MACHINE, MalleableOptions(share=1.0))
    for job in workload.jobs:
        application = workload.profiles[job.profile]["malleable"]
        assert application["minimum"] == job.res
        assert application["maximum"] == min(4 * job.res, 96)


def test_file_is_a_batsim_workload(rigid: Workload) -> None:
    """Written and read again it is the same; walltimes have grown by half."""
    workload = make_malleable(rigid, THESIS_MACHINE)
    again = parse_batsim(format_batsim(workload))
    assert again.checksum == workload.checksum
    assert [job.walltime for job in workload.jobs] == [1.5 * (job.walltime or 0) for job in rigid.jobs]
    assert make_malleable(rigid, THESIS_MACHINE).checksum == workload.checksum


def test_faults() -> None:
    """Options out of range, and a workload without a known run time."""
    with pytest.raises(OptionError, match=r"'share' must be a number from 0 to 1, got '1\.5'"):
        MalleableOptions(share=1.5)
    unknown = Workload("w", 4, (WorkloadJob(1, 0, 1, "p"),), {"p": {"type": "smpi", "trace": "t"}})
    with pytest.raises(WorkloadError, match="no job with a runtime known"):
        make_malleable(unknown, THESIS_MACHINE)


def test_command_line_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log in, a workload out; a wrong share is one line and exit code 2."""
    path = tmp_path / "m.json"
    assert main(["malleable", "kth-like:jobs=30", "--out", str(path), "--share", "1"]) == 0
    assert "30 jobs with I/O phases" in capsys.readouterr().out
    assert len(resizable(read_batsim(path))) > 20
    assert main(["malleable", "kth-like:jobs=30", "--out", str(path), "--share", "2"]) == 2
    assert "--share: expected a number from 0 to 1" in capsys.readouterr().err
