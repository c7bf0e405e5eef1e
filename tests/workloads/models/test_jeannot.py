"""The third paper's generators: its formulas, the realised load, rejected draws, equal bytes."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spillway.base.errors import OptionError
from spillway.experiments.studies.jeannot import STUDY
from spillway.experiments.studies.jeannot.play import drawn
from spillway.simulator.reading.workload import load_workload
from spillway.workloads.batsim.json_file import write_batsim
from spillway.workloads.cli import main
from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.jeannot import (
    FAMILIES,
    JeannotOptions,
    calibrate,
    draw_jeannot,
    mean_of,
    mean_share,
    mean_size,
    periodic_job,
    prevalence,
)

BASE = JeannotOptions(family="M-No", load=0.5, limit="short")


def test_means_of_the_truncated_normals() -> None:
    """The paper's 0.289 and 0.711 for means of 0.1 and 0.9; one half stays one half."""
    assert [round(mean_share(mean), 3) for mean in (0.1, 0.9, 0.5)] == [0.289, 0.711, 0.5]


def test_prevalence_gives_the_load_as_mean() -> None:
    """Half of each at 0.5; between the means exactly alpha; never fewer than a tenth of a kind."""
    assert prevalence(0.5) == pytest.approx(0.5)
    assert mean_of("M-BN", 0.4) == pytest.approx(0.4)
    assert (prevalence(0.2), prevalence(0.8)) == (0.1, 0.9)


def test_mean_size_of_the_uniform_protocol() -> None:
    """P E / (alpha (1 + E)): 2048 x 0.5 / (0.5 x 1.5) at alpha 0.5; such sizes are drawn."""
    assert mean_size("U-No", 0.5, 2048) == pytest.approx(2048 / 1.5)
    drawn = draw_jeannot(JeannotOptions(family="U-No", load=0.5, jobs=4000, sizes="formula", literal=True))
    sizes = [job.res for job in drawn.workload.jobs]
    assert np.mean(sizes) == pytest.approx(2048 / 1.5, rel=0.03)
    assert {size & (size - 1) for size in sizes} == {0}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.8])
def test_the_load_is_the_wanted_one(family: str, alpha: float) -> None:
    """Equation (2), computed here from the workload file's own numbers; within the tolerance, and on average close."""
    loads = []
    for seed in range(4):
        drawn = draw_jeannot(JeannotOptions(family=family, load=alpha, seed=seed, jobs=60))
        workload, bandwidth = drawn.workload, 240e9 if family[0] == "M" else 10e9
        io = area = 0.0
        for job in workload.jobs:
            periods = workload.profiles[job.profile]["periods"]
            transfer = periods["count"] * periods["io_bytes"] / bandwidth
            io += transfer
            area += job.res / workload.nb_res * (periods["count"] * periods["compute_s"] + transfer)
        assert io / area == pytest.approx(drawn.load, abs=1e-6)
        assert abs(drawn.load - alpha) <= 0.05
        assert all(abs(load - alpha) > 0.05 for load in drawn.rejected)
        loads.append(drawn.load)
    assert np.mean(loads) == pytest.approx(alpha, abs=0.04)


def test_the_printed_formulas_miss_the_load_on_mira_and_meet_it_in_the_uniform_protocol() -> None:
    """The factor on volumes: 1 if the formula is consistent with itself, else not."""
    assert calibrate(JeannotOptions(family="U-No", load=0.6, sizes="formula", volume="whole")) == pytest.approx(
        1.0, abs=0.03
    )
    assert calibrate(JeannotOptions(family="M-No", load=0.2)) < 0.7
    literal = draw_jeannot(JeannotOptions(family="M-No", load=0.8, jobs=3000, literal=True))
    assert literal.load == pytest.approx(0.57, abs=0.02)
    assert literal.factor == 1.0


def test_sizes_and_durations_of_mira() -> None:
    """Medians of 1, 2 and half an hour by size; exponential sizes: a mean of 7,900 nodes in midplanes of 512."""
    drawn = draw_jeannot(replace(BASE, jobs=4000, literal=True)).workload
    groups: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for job in drawn.jobs:
        assert 1 <= job.res <= 96
        groups[(job.res > 8) + (job.res > 32)].append(job.extras["requested_s"])
    assert [round(float(np.median(found)) / 60) for found in groups.values()] == pytest.approx([60, 120, 30], abs=1)
    assert np.std(groups[0]) == pytest.approx(360, rel=0.1)
    assert np.mean([job.res for job in drawn.jobs]) * 512 == pytest.approx(7900, rel=0.06)
    counts = {drawn.profiles[job.profile]["periods"]["count"] for job in drawn.jobs}
    assert (min(counts), max(counts)) == (10, 100)


def test_two_kinds_of_jobs_in_binormal_workloads() -> None:
    """At 0.5 half of the jobs have much I/O: more than half of a uniform job's transfer over computing time."""
    drawn = draw_jeannot(JeannotOptions(family="U-BN", load=0.5, jobs=3000, volume="whole", literal=True)).workload
    shares = []
    for job in drawn.jobs:
        periods = drawn.profiles[job.profile]["periods"]
        shares.append(periods["io_bytes"] / 10e9 / periods["compute_s"])
    assert 0 <= min(shares) <= max(shares) <= 1.0000001
    assert np.mean(np.array(shares) > 0.5) == pytest.approx(0.5, abs=0.03)


def test_the_same_options_give_the_same_bytes(tmp_path: Path) -> None:
    """And another seed does not; the checksum pins the generator for good."""
    first, again = draw_jeannot(BASE).workload, draw_jeannot(BASE).workload
    assert first.checksum == again.checksum
    assert first.checksum != draw_jeannot(replace(BASE, seed=1)).workload.checksum


def test_batsim_can_read_the_file(tmp_path: Path) -> None:
    """A ``delay`` of the job's uncontended time, and own fields: the embedded simulator, strict as Batsim, loads it."""
    drawn = draw_jeannot(replace(BASE, jobs=5)).workload
    write_batsim(drawn, tmp_path / "w.json")
    data = json.loads((tmp_path / "w.json").read_text())
    profile = data["profiles"][data["jobs"][0]["profile"]]
    assert profile["type"] == "delay"
    assert profile["delay"] == pytest.approx(data["jobs"][0]["requested_s"])
    assert len(load_workload(tmp_path / "w.json").jobs) == 5


def test_the_command_line_draws_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same workload as the function's; the load and the rejected draws are said; wrong input is one line."""
    assert (
        main(
            ["periodic", "M-No", "--load", "0.5", "--jobs", "40", "--limit", "short", "--out", str(tmp_path / "w.json")]
        )
        == 0
    )
    found = draw_jeannot(replace(BASE, jobs=40))
    printed = capsys.readouterr().out
    assert found.workload.checksum in printed
    assert f"I/O load {found.load:.3f}" in printed
    assert main(["periodic", "M-No", "--load", "2", "--out", str(tmp_path / "x.json")]) == 2
    assert "--load: expected a number from 0.001 to 1, got '2'" in capsys.readouterr().err


def test_a_periodic_job_by_hand() -> None:
    """10 x (30 s + 40 bytes at 4 bytes/s) on 2 nodes: 400 s uncontended, 1 byte/s in the mean, 0.5 per node: 1."""
    job, profile = periodic_job(7, 3.0, 2, 10, 30.0, 40.0, 4.0)
    assert (job.extras["requested_s"], job.extras["io_rate"], profile["delay"]) == (400.0, 1, 400.0)


def test_jobs_over_time() -> None:
    """Exponential gaps: the first at 0 s, then with the given mean."""
    drawn = draw_jeannot(replace(BASE, jobs=2000, mean_gap_s=50.0, literal=True)).workload
    times = [job.subtime for job in drawn.jobs]
    assert times[0] == 0.0
    assert times[-1] / 1999 == pytest.approx(50.0, rel=0.1)


@pytest.mark.parametrize(
    "wrong", [{"family": "X"}, {"load": 0.0}, {"load": 1.5}, {"jobs": 0}, {"volume": "half"}, {"tolerance": 0.0}]
)
def test_options_out_of_range(wrong: dict[str, object]) -> None:
    """One line that names the option."""
    with pytest.raises(OptionError, match=next(iter(wrong))):
        replace(BASE, **wrong)  # type: ignore[arg-type]


def test_no_draw_fits() -> None:
    """One job rarely has the load of a thousand: after the given attempts the error says what to change."""
    with pytest.raises(WorkloadError, match="more jobs or a larger tolerance"):
        draw_jeannot(replace(BASE, jobs=1, load=0.2, tolerance=1e-6, attempts=3))


def test_the_command_draws_what_the_study_judges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without options: the workload of the study's own reading, in each family."""
    for family in FAMILIES:
        command = ["periodic", family, "--load", "0.4", "--jobs", "12", "--out", str(tmp_path / "w.json")]
        assert main(command) == 0
        point = STUDY.points()[0].replaced(family=family, load=0.4, jobs=12, seed=0)
        assert drawn(point).workload.checksum in capsys.readouterr().out
