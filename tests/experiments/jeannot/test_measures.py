"""Measures by hand, tests that know the answer, claims on made-up results, and what the selector sees."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import pytest

from experiments.jeannot import claims, inference
from experiments.jeannot.direct import Traces
from experiments.jeannot.measures import PARTS, Outcome, measure
from experiments.jeannot.published import STATED
from experiments.jeannot.run import STRATEGIES, Point, Result, play_direct, run
from experiments.jeannot.selector import evaluate, example, learn, measure_workload
from experiments.jeannot.verdicts import CONTRARY, HOLDS, OPEN, judge, overall
from schedulers.core.job import Job
from schedulers.jobmodels.gates import Account
from workloads.errors import WorkloadError
from workloads.jeannot import FAMILIES, PROTOCOLS, periodic_job
from workloads.workload import Workload


def finished(
    number: int, nodes: int, alone_s: float, start_s: float, end_s: float
) -> tuple[Job, float, float, Account]:
    """A job that ran, half of it I/O."""
    profile = {"periods": {"count": 1, "compute_s": alone_s / 2, "io_bytes": alone_s / 2 * 10}}
    job = Job(f"w0!{number}", number, 0.0, float("inf"), nodes, 0, 0, "p", profile, {"requested_s": alone_s})
    return job, start_s, end_s, Account(start_s)


def test_an_execution_by_hand() -> None:
    """4 processors, 100 s. Job 0: 2 processors from 0 to 50 s (40 uncontended), computes until 25. Job 1: four from 50
    to 100 s (50 uncontended), computes until 75 s. In between transfers."""
    traces = Traces(
        computing=[(0.0, 25.0, 2), (50.0, 75.0, 4)],
        transferring=[(25.0, 45.0), (75.0, 100.0)],
        jobs=[finished(0, 2, 40.0, 0.0, 50.0), finished(1, 4, 50.0, 50.0, 100.0)],
    )
    found = measure(traces, 4, 10.0)
    assert found.makespan_s == 100.0
    assert found.utilisation == pytest.approx((25 * 2 + 25 * 4) / 400)
    assert found.idle == pytest.approx(1 - (50 * 2 + 50 * 4) / 400)
    assert (found.mean_stretch, found.max_stretch) == (1.125, 1.25)
    assert found.mean_flow_s == 75.0
    assert found.io_share == [0.5, 0.5]
    assert found.allocated[:25] == [0.5] * 25
    assert found.allocated[25:] == [1.0] * 25
    assert found.computing[:12] == [0.5] * 12
    assert found.computing[12] == pytest.approx(0.25)
    assert sum(found.transferring) / PARTS == pytest.approx(0.45)
    assert found.running == [1.0] * 50
    assert found.drift("allocated") == pytest.approx(0.5 / 0.75)
    assert found.fall("computing") == pytest.approx(0.5)


def test_sign_flips_by_hand() -> None:
    """Three positive values: of eight sign patterns one has so high a mean, all have at most it."""
    found = inference.sign_flip([1.0, 2.0, 3.0])
    assert (found.size, found.mean, found.above, found.below) == (3, 2.0, 0.125, 1.0)
    assert found.low <= 2.0 <= found.high
    assert inference.sign_flip([-1.0, -2.0, -3.0]).below == 0.125
    assert inference.sign_flip([0.0, 0.0]).above == inference.sign_flip([]).above == 1.0


def test_many_values_are_tested_by_chance_but_reproducibly() -> None:
    """A clear shift is found, none is not, and twice the same."""
    noise = np.random.Generator(np.random.PCG64(1)).normal(size=60)
    assert inference.sign_flip(noise + 1.0).above < 0.001
    assert inference.sign_flip(noise - noise.mean()).above > 0.2
    assert inference.sign_flip(noise) == inference.sign_flip(noise)


def test_holm_by_hand() -> None:
    """0.01, 0.02, 0.04 of three: 0.03, 0.04, 0.04; never above 1, never falling."""
    assert inference.holm({"a": 0.04, "b": 0.01, "c": 0.02}) == pytest.approx({"a": 0.04, "b": 0.03, "c": 0.04})
    assert inference.holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


def test_rank_correlation_and_slope() -> None:
    """Monotone is 1, with ties by mean ranks; a constant correlates with nothing; a line has its slope."""
    assert inference.rank_correlation([1, 2, 30], [4, 5, 6]) == pytest.approx(1.0)
    assert inference.rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert inference.rank_correlation([1, 1, 2], [0, 2, 5]) == pytest.approx(np.sqrt(3) / 2)
    assert inference.rank_correlation([1, 2], [5, 5]) == 0.0
    assert inference.slope([0, 1, 2], [1, 3, 5]) == pytest.approx(2.0)


def outcome(**fields: object) -> Outcome:
    """An even execution, with changes."""
    even = [0.5] * PARTS
    base = Outcome(
        100.0,
        0.5,
        0.1,
        1.1,
        1.2,
        50.0,
        even,
        even,
        even,
        even,
        [1, 1],
        [0.0, 1.0],
        [50.0, 60.0],
        [50.0, 50.0],
        [0, 0],
        [0.2, 0.4],
    )
    return msgspec.structs.replace(base, **fields)


def grid(change: dict[str, dict[str, object]]) -> dict[tuple[str, float, int], Result]:
    """The whole grid with the same outcomes everywhere, apart from a little noise in stretch."""
    cells = {}
    for family in FAMILIES:
        for alpha in (0.2, 0.4, 0.7, 0.8):
            for seed in range(5):
                outcomes = {name: outcome(**change.get(name, {})) for name in STRATEGIES}
                cells[family, alpha, seed] = Result(alpha, [], outcomes)
    return cells


def test_verdicts_follow_the_data() -> None:
    """Packs with less stretch: lesson 2's claims hold, its exception does not; with more, the contrary."""
    less = {name: {"mean_stretch": 1.05, "max_stretch": 1.1} for name in ("Random", "Max", "Char")}
    found = {verdict.claim.id: verdict.verdict for verdict in judge(grid(less))}
    assert all(found[f"mean stretch {name}"] == HOLDS for name in less)
    assert found["exception"] == CONTRARY
    assert found["LS utilisation"] == OPEN
    assert found["constant"] == HOLDS
    more = {name: {"mean_stretch": 1.3, "max_stretch": 2.0} for name in ("Random", "Max", "Char")}
    turned = {verdict.claim.id: verdict.verdict for verdict in judge(grid(more))}
    assert turned["mean stretch Max"] == CONTRARY
    assert turned["exception"] == HOLDS
    places = overall(judge(grid(more)))
    assert places["Lesson 2"] == "holds in part (1 of 7 claims, 6 contrary)"
    assert places["Table 1, packs: usual advantages"] == "does not hold"
    assert places["Table 1, list: usual advantages"] == "not shown"


def test_lesson_3_sees_starvation() -> None:
    """Packs whose bandwidth rises while processors fall, and which start I/O jobs last: its claims about them hold."""
    rising, falling = [0.01 * part for part in range(PARTS)], [1 - 0.01 * part for part in range(PARTS)]
    starved = {"transferring": rising, "allocated": falling}
    fair = {"start_s": [1.0, 0.0]}
    found = {
        verdict.claim.id: verdict.verdict
        for verdict in judge(grid({"LS": fair, **dict.fromkeys(("Random", "Max", "Char"), starved)}))
    }
    wanted = ("processors fall", "bandwidth rises", "LS steadier", "I/O last")
    assert [found[name] for name in wanted] == [HOLDS] * 4


def test_every_claim_has_values_on_the_grid() -> None:
    """None is empty by mistake, ids are unique, and the published numbers can be printed."""
    cells = grid({name: {"idle": 0.05} for name in STRATEGIES})
    assert len({claim.id for claim in claims.CLAIMS}) == len(claims.CLAIMS)
    assert all(claim.values(cells) for claim in claims.CLAIMS)
    assert all(stated.ours(cells) for stated in STATED)


def two_jobs(**second: float) -> Workload:
    """Two periodic jobs on half of Mira each, of 10 periods of 60 s and 40 s of I/O, the second one with changes."""
    protocol = PROTOCOLS["M"]
    jobs, profiles = [], {}
    for number, changes in ((1, {}), (2, second)):
        compute, transfer = changes.get("compute", 60.0), changes.get("transfer", 40.0)
        job, profile = periodic_job(number, 0.0, 48, 10, compute, transfer * protocol.bandwidth, protocol.bandwidth)
        jobs.append(job)
        profiles[job.profile] = profile
    return Workload("two", 96, tuple(jobs), profiles)


def test_features_by_hand() -> None:
    """Two equal jobs: I/O of 800 s over 1,000 s of machine; each needs 0.4 of the bandwidth, both 0.8."""
    found = measure_workload(two_jobs(), 240e9)
    assert (found.load, found.pressure) == pytest.approx((0.8, 0.8))
    assert (found.characteristic_variation, found.share_variation, found.size_variation) == (0.0, 0.0, 0.0)
    assert found.mean_size == 0.5
    uneven = measure_workload(two_jobs(transfer=0.0), 240e9)
    assert uneven.share_variation == pytest.approx(1.0)
    assert uneven.load == pytest.approx(400 / (0.5 * 1000 + 0.5 * 600))


def test_the_selector_needs_periods() -> None:
    """A workload of plain delays is refused with the profile's name."""
    drawn = two_jobs()
    plain = dataclasses.replace(drawn, profiles={name: {"type": "delay"} for name in drawn.profiles})
    with pytest.raises(WorkloadError, match="job1"):
        measure_workload(plain, 240e9)


def test_the_selector_learns_what_there_is_to_learn() -> None:
    """Where packs are better exactly at high loads, it finds that on other draws too, and beats both fixed choices."""

    def taught(seeds: range) -> list[object]:
        found = []
        for seed in seeds:
            for alpha in (0.2, 0.4, 0.6, 0.8):
                point = Point(family="M-No", alpha=alpha, seed=seed, jobs=30, literal=True)
                better = outcome(makespan_s=80.0, mean_stretch=1.01)
                pair = (better, outcome()) if alpha > 0.5 else (outcome(), better)
                result = Result(alpha, [], {"Max": pair[0], "LS": pair[1]})
                found.append(example(point.draw().workload, 240e9, result))
        return found

    judged = evaluate(learn(taught(range(25))), taught(range(100, 110)))  # type: ignore[arg-type]
    assert judged["makespan"].right > 0.8
    assert judged["makespan"].selector < 0.5 * min(judged["makespan"].always_list, judged["makespan"].always_pack)


def test_figure_2_synchronises_through_the_whole_experiment() -> None:
    """Two identical applications of 10 x (60 + 40 s): the second waits 40 s once; stretches 1 and 1.04."""
    point = Point(family="M-No", alpha=0.5)
    traces = play_direct(point, STRATEGIES["LS"], two_jobs())
    found = measure(traces, 96, 240e9)
    assert found.end_s == [1000.0, 1040.0]
    assert found.waited_s == [0.0, 40.0]
    assert found.max_stretch == pytest.approx(1.04)


def test_the_same_point_gives_the_same_result() -> None:
    """Nothing depends on anything but the point."""
    point = Point(family="U-BN", alpha=0.6, jobs=10, literal=True)
    assert run(point) == run(point)
