"""The answer claims no more than its intervals allow."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest

from spillway.analysis.answers.comparison import answer as answer_bounded
from spillway.analysis.tables.jobs import JobTable
from tests.analysis.samples import make_table


def _run(waits: list[float]) -> JobTable:
    return make_table([(1000.0 * job, 1000.0 * job + wait, 1, 600.0) for job, wait in enumerate(waits)])


def answer(runs: Mapping[str, Mapping[tuple[str, str], JobTable]], tau_s: float = 600.0) -> list[str]:
    """With the thesis's bound of the slowdown."""
    return answer_bounded(runs, tau_s)


def _runs(seeds: int, factor: float, noise: float) -> dict[tuple[str, str], JobTable]:
    """Runs whose waits are those of a common draw times a factor, and a noise of their own."""
    found = {}
    for seed in range(seeds):
        draw, own = np.random.default_rng(seed), np.random.default_rng(round(100 * factor) + 1000 * seed)
        waits = draw.exponential(5000.0, 40) * factor * np.exp(noise * own.normal())
        found["w", str(seed)] = _run(waits.tolist())
    return found


def test_one_policy_is_best_where_every_interval_says_so() -> None:
    """It is named with its mean; the others with ratios and intervals."""
    lines = answer({"slow": _runs(6, 3.0, 0.01), "fast": _runs(6, 1.0, 0.01), "slower": _runs(6, 9.0, 0.01)})
    assert lines[0].startswith("fast has the smallest mean waiting time, 1 h ")
    assert "larger: slow, 2.98 times fast's (2.93 to 3.05); slower, 8.98 times fast's (" in lines[0]
    assert "(95 % intervals over 6 runs; the 6 comparisons of this answer hold together)" in lines[0]
    assert lines[1].startswith("fast has the smallest mean bounded slowdown")


def test_slowdowns_have_the_bound_of_the_runs() -> None:
    """As in the table beside the sentences: jobs run 600 s, so that a bound of 6000 s divides longer waits by ten."""
    runs = {"slow": _runs(6, 3.0, 0.01), "fast": _runs(6, 1.0, 0.01)}
    own, longer = (answer(runs, tau_s)[1] for tau_s in (600.0, 6000.0))
    assert own.startswith("fast has the smallest mean bounded slowdown, 10.03")
    assert longer.startswith("fast has the smallest mean bounded slowdown, 1.")


def test_the_best_mean_has_its_price_beside_it() -> None:
    """A longer longest wait and more jobs that wait for more than a week, in the same sentence."""
    day = 86_400.0
    short = {("w", "0"): _run([60.0] * 38 + [10 * day, 21 * day])}
    even = {("w", "0"): _run([5 * day] * 39 + [8 * day])}
    (said, _) = answer({"even": even, "short": short})
    assert said.startswith("In these runs short has the smallest mean waiting time: ")
    assert said.endswith(
        "; the price: its longest wait is 21 d instead of 8 d (even) and 2 of its jobs wait for more than a week "
        "instead of 1 (even)."
    )
    assert "the price" not in answer({"even": even, "short": {("w", "0"): _run([60.0] * 40)}})[0]


def test_reserving_burst_buffers_comes_first() -> None:
    """The claim of the README, from the runs at hand; where the interval is wide, it may be chance."""
    (said, *_) = answer({"easy-no-bb": _runs(6, 3.0, 0.01), "easy": _runs(6, 1.0, 0.01), "fcfs": _runs(6, 9.0, 0.01)})
    assert said.startswith("Without a reservation of burst buffers (easy-no-bb) jobs wait 4 h ")
    assert "on average, with (easy) 1 h " in said
    assert "(95 % interval 2.95 to 3.0" in said
    assert "may be chance" not in said
    assert "; the longest wait is " in said
    open_end = answer({"easy-no-bb": _runs(5, 1.02, 0.5), "easy": _runs(5, 1.0, 0.5)})[0]
    assert "times), which may be chance; the longest wait is " in open_end


def test_more_policies_make_wider_intervals() -> None:
    """A result with 95 % of one comparison is open as one of twenty (five policies, two metrics).

    Log ratios of six runs with mean 0.075 and standard deviation 0.05: Student's 3.16 (97.5 %, two comparisons) reaches
    0.065 down, 5.60 (99.75 %, twenty) 0.114.
    """
    steps = 0.05 * np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]) * np.sqrt(5 / 6)
    waits = np.linspace(100_000.0, 200_000.0, 40)
    base = {("w", str(seed)): _run(waits.tolist()) for seed in range(6)}
    slow = {("w", str(seed)): _run((waits * np.exp(0.075 + step)).tolist()) for seed, step in enumerate(steps)}
    assert answer({"base": base, "slow": slow})[0].startswith("base has the smallest mean waiting time")
    far = {f"far {place}": _runs(6, 1000.0 + place, 0.0) for place in range(3)}
    assert "it is open which of base (" in answer({"base": base, "slow": slow} | far)[0]


def test_a_draw_is_called_one() -> None:
    """Policies that chance separates are not ranked; one that is worse than them is."""
    runs = {"a": _runs(5, 1.0, 0.5), "b": _runs(5, 1.02, 0.5)}
    assert "do not differ significantly (95 % intervals over 5 runs; the 2 comparisons of" in answer(runs)[0]
    three = answer(runs | {"bad": _runs(5, 50.0, 0.1)})[0]
    assert three.startswith("Mean waiting time: it is open which of a (")
    assert "is best; larger: bad, " in three


def test_one_short_run_gives_no_interval_but_the_words_why() -> None:
    """Means are those of these runs; whether they hold elsewhere is said to be open."""
    lines = answer({"a": _runs(1, 1.0, 0.0), "b": _runs(1, 2.0, 0.0)})
    assert lines[0].startswith("In these runs a has the smallest mean waiting time: a 1 h ")
    assert lines[1].startswith(
        "Whether this holds elsewhere is open: 1 run of each policy with 40 jobs in all gives no"
    )


def test_a_long_run_without_an_interval_is_no_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not said to need a length that it has."""
    monkeypatch.setattr("spillway.analysis.answers.comparison.SHORTEST", 40)
    reason = answer({"a": _runs(1, 1.0, 0.0), "b": _runs(1, 2.0, 0.0)})[1]
    assert "because waiting times are correlated even over long periods" in reason
    assert "jobs or more" not in reason


def test_only_jobs_that_ran_under_every_policy_are_compared() -> None:
    """A policy that rejected long-waiting jobs gains nothing by it; one that ran nothing is named."""
    whole, part = _run([10.0, 20.0, 900_000.0]), _run([30.0, 40.0, 900_000.0])
    part = dataclasses.replace(
        part, state=["COMPLETED_SUCCESSFULLY"] * 2 + ["REJECTED"], start_s=_but_last(part.start_s)
    )
    nothing = dataclasses.replace(whole, state=["REJECTED"] * 3, start_s=np.full(3, np.nan))
    key = ("w", "0")
    lines = answer({"whole": {key: whole}, "part": {key: part}, "nothing": {key: nothing}})
    assert lines[:2] == [
        "nothing rejected every job.",
        "The comparison covers the 2 of 3 jobs that ran under every policy.",
    ]
    assert lines[2] == "In these runs whole has the smallest mean waiting time: whole 15 s, part 35 s."
    assert answer({"whole": {key: whole}, "nothing": {key: nothing}})[-1] == "There is nothing to compare."


def _but_last(values: np.ndarray) -> np.ndarray:
    return np.append(values[:-1], np.nan)
