"""Lists or packs: measures of a workload by hand, the shipped coefficients learned again, the command."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from spillway.experiments.studies.jeannot.play import play
from spillway.workloads.batsim.json_file import write_batsim
from spillway.workloads.cli import main
from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.ranks import rank_correlation
from spillway.workloads.models.recommend import LEARNED, measure_workload, shipped
from tests.experiments.studies.jeannot.points import point
from tests.experiments.studies.jeannot.test_measures import two_jobs
from tools.lists_or_packs import EXAMPLES, features_of, judge, learn_from, read_examples, to_csv, to_text


def test_features_by_hand() -> None:
    """Two equal jobs: I/O of 800 s over 1,000 s of machine."""
    found = measure_workload(two_jobs(), 240e9)
    assert found.io_load == pytest.approx(0.8)
    assert (found.characteristic_variation, found.share_variation, found.size_variation) == (0.0, 0.0, 0.0)
    assert found.mean_size == 0.5
    uneven = measure_workload(two_jobs(transfer=0.0), 240e9)
    assert uneven.share_variation == pytest.approx(1.0)
    assert uneven.io_load == pytest.approx(400 / (0.5 * 1000 + 0.5 * 600))


def test_periods_are_needed() -> None:
    """A workload of plain delays is refused with the profile's name."""
    drawn = two_jobs()
    plain = dataclasses.replace(drawn, profiles={name: {"type": "delay"} for name in drawn.profiles})
    with pytest.raises(WorkloadError, match="job1"):
        measure_workload(plain, 240e9)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [((1, 2, 30), (4, 5, 6), 1), ((1, 2, 3), (3, 2, 1), -1), ((1, 1, 2), (0, 2, 5), 0.75**0.5), ((1, 2), (5, 5), 0)],
)
def test_rank_correlation(one: tuple[float, ...], other: tuple[float, ...], expected: float) -> None:
    """Monotone is 1, with ties by mean ranks; a constant correlates with nothing."""
    assert rank_correlation(np.array(one, float), np.array(other, float)) == pytest.approx(expected)


def test_learning_again_gives_the_shipped_coefficients() -> None:
    """From the examples that are kept; they are read and written alike."""
    text = EXAMPLES.read_text(encoding="utf-8")
    examples = read_examples(text)
    assert to_csv(examples) == text
    assert to_text(learn_from(examples)) == LEARNED.read_text(encoding="utf-8")


def test_an_example_is_what_the_study_plays() -> None:
    """One workload measured and played anew gives its row."""
    example = next(
        example for example in read_examples(EXAMPLES.read_text(encoding="utf-8")) if example.family == "M-No"
    )
    features = features_of(example.family, example.load, example.seed)
    assert dataclasses.astuple(features) == pytest.approx(dataclasses.astuple(example.features), rel=1e-5)
    lists, packs = (
        play(point(family=example.family, load=example.load, seed=example.seed, policy=policy, volume="whole"))
        for policy in ("LS", "Max")
    )
    for objective, metric in (("makespan", "makespan_s"), ("stretch", "mean_stretch")):
        assert example.differences[objective] == pytest.approx(math.log(packs[metric] / lists[metric]), rel=1e-4)


def test_recommendations_on_seeds_that_nothing_was_learned_from() -> None:
    """For the makespan better than either choice for all; for stretch than packs for all (lists for all are better)."""
    found = judge(read_examples(EXAMPLES.read_text(encoding="utf-8")))
    assert found["makespan"].recommended < 0.5 * min(found["makespan"].always_list, found["makespan"].always_pack)
    assert found["stretch"].recommended < 0.1 * found["stretch"].always_pack


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It needs no study; an unknown machine needs a bandwidth."""
    write_batsim(two_jobs(), tmp_path / "two.json")
    assert main(["recommend", str(tmp_path / "two.json")]) == 0
    printed = capsys.readouterr().out
    assert "io load: 0.800" in printed
    predicted = shipped().predict(measure_workload(two_jobs(), 240e9), "makespan")
    assert f"for the makespan: {'pack' if predicted < 0 else 'list'} (" in printed
    write_batsim(dataclasses.replace(two_jobs(), nb_res=97), tmp_path / "odd.json")
    assert main(["recommend", str(tmp_path / "odd.json")]) == 2
    assert "give --bandwidth" in capsys.readouterr().err
