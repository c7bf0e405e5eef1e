"""The judge of all studies: each of its rules on made-up values."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies import (
    Claim,
    ComputedPoints,
    Parameter,
    Premise,
    Region,
    Study,
    at_least,
    between,
    mean,
    ratio,
    within,
)
from spillway.experiments.studies.catalogue import find_study
from spillway.experiments.studies.claims import check_claims
from spillway.experiments.studies.measures import RatioOfMeans
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.verdicts import JudgedClaim, Verdict, judge, vary

NEAR_TEN = (9.9, 10.0, 10.1, 10.0, 9.95)
NEAR_TWELVE = (11.9, 12.0, 12.1, 12.0, 11.95)


def results(**metrics: tuple[float, ...]) -> Results:
    """One point per seed, with these values by metric."""
    seeds = range(len(next(iter(metrics.values()))))
    return Results({
        Point((("policy", "easy"), ("seed", seed))): {name: values[seed] for name, values in metrics.items()}
        for seed in seeds
    })  # fmt: skip


def claim(region: Region, name: str = "wait", **others: object) -> Claim:
    """A claim on a metric of the same name."""
    return replace(Claim(name, "section 1", f"{name} is so", region, mean(name)), **others)  # type: ignore[arg-type]


def verdict(region: Region, values: tuple[float, ...]) -> JudgedClaim:
    """Judge one claim on one metric."""
    return judge([claim(region)], results(wait=values), {})[0]


def test_a_number_is_reproduced_within_its_tolerance_on_both_sides_only() -> None:
    """A value beyond the far edge is as wrong as one before the near edge."""
    assert verdict(within(10, 1), NEAR_TEN).verdict is Verdict.REPRODUCED
    assert verdict(within(13.5, 1), NEAR_TWELVE).verdict is Verdict.NOT_REPRODUCED
    assert verdict(within(10.5, 1), NEAR_TWELVE).verdict is Verdict.NOT_REPRODUCED, "better than published is not it"


def test_an_interval_over_the_edge_decides_nothing() -> None:
    """The mean is inside, but may be so by chance."""
    found = verdict(at_least(10), (4.0, 18.0, 9.0, 15.0, 8.0))
    assert (found.verdict, found.cases[0].estimate.value) == (Verdict.NOT_JUDGED, 10.8)
    assert "more seeds" in found.why


def test_a_claim_is_fitted_only_where_another_choice_would_change_it() -> None:
    """The number was chosen by another claim: of three draws all, or two, keep this one; by this very claim: fitted."""
    near, far = NEAR_TEN, NEAR_TWELVE
    ours, fitted = results(wait=near), {"load": ("local jobs",)}
    one = claim(within(10, 1), depends=("load",))

    def judged(draws: list[tuple[float, ...]], fits: Mapping[str, tuple[str, ...]], of: Claim = one) -> JudgedClaim:
        return judge([of], ours, fits, varied=vary([of], [results(wait=values) for values in draws]))[0]

    always, mostly = judged([near] * 3, fitted), judged([near, far, near], fitted)
    assert (always.verdict, always.why) == (Verdict.REPRODUCED, "holds in all 3 draws of what was fitted")
    assert (mostly.verdict, mostly.why) == (Verdict.FITTED, "holds in 2 of 3 draws of what was fitted")
    itself = judged([near] * 3, {"load": ("wait",)})
    assert (itself.verdict, itself.why) == (Verdict.FITTED, "load: chosen by this value")
    assert judge([one], ours, fitted)[0].verdict is Verdict.FITTED, "nothing was drawn"
    assert judge([replace(one, depends=())], ours, fitted)[0].verdict is Verdict.REPRODUCED
    assert judged([near] * 3, fitted, replace(one, region=within(20, 1))).verdict is Verdict.NOT_REPRODUCED
    silent = judged([far] * 3, fitted, replace(one, depends=()))
    assert silent.verdict is Verdict.FITTED, "it says that it depends on nothing, and changes"


def test_draws_say_how_often_a_claim_holds_and_between_which_values() -> None:
    """Means of 10 and 12, of which one is within 10 +- 1; a claim without values is left out."""
    found = vary(
        [claim(within(10, 1)), claim(within(10, 1), "other")], [results(wait=NEAR_TEN), results(wait=NEAR_TWELVE)]
    )
    assert list(found) == ["wait"]
    assert (found["wait"].holds, found["wait"].draws) == (1, 2)
    assert (found["wait"].low, found["wait"].high) == (pytest.approx(9.99), pytest.approx(11.99))


def test_a_number_of_one_run_fits_where_a_single_run_of_ours_may_come_to_it() -> None:
    """By hand: 10, 14, 12, 11, 16 have a mean of 12.6 and a deviation of 2.41; t(4) is 2.776: 5.27 to 19.93."""
    values = (10.0, 14.0, 12.0, 11.0, 16.0)

    def of(number: float, one_run: float = 2.0) -> JudgedClaim:
        return judge([claim(within(number, 0.05), one_run=one_run)], results(wait=values), {})[0]

    fits = of(19.9)
    assert fits.verdict is Verdict.FITS_ONE_RUN
    assert (fits.cases[0].estimate.low, fits.cases[0].estimate.high) == (
        pytest.approx(5.27, abs=0.01),
        pytest.approx(19.93, abs=0.01),
    )
    assert of(20.5).verdict is Verdict.NOT_REPRODUCED
    assert of(4.0).verdict is Verdict.NOT_REPRODUCED, "14.7 wide, 367 % of 4, but clear of it"
    assert of(6.0).verdict is Verdict.NOT_JUDGED, "244 % of 6"
    assert of(14.0, 1.0).why == "the interval of a single run is 105% of the number wide, 100% was the most allowed"
    assert verdict(within(19.9, 0.05), values).verdict is Verdict.NOT_REPRODUCED, "of the mean it is not true"


def test_fewer_than_five_seeds_are_not_judged_unless_nothing_is_random() -> None:
    """An exact value needs no second one."""
    four = results(wait=(10.0, 10.0, 10.0, 10.0))
    assert judge([claim(within(10, 1))], four, {})[0].verdict is Verdict.NOT_JUDGED
    one = results(wait=(10.0,))
    assert judge([claim(within(10, 1), exact=True)], one, {})[0].verdict is Verdict.REPRODUCED
    assert judge([claim(within(12, 1), exact=True)], one, {})[0].verdict is Verdict.NOT_REPRODUCED


def test_more_claims_need_clearer_values() -> None:
    """p is 0.02 for one claim and 0.02 x 5 among five of its kind."""
    values = (10.0, 14.0, 12.0, 11.0, 16.0)
    assert verdict(at_least(9.5), values).verdict is Verdict.REPRODUCED
    metrics = {f"wait{number}": tuple(value + 1e-9 * number for value in values) for number in range(5)}
    found = judge([claim(at_least(9.5), name) for name in metrics], results(**metrics), {})
    assert [judged.verdict for judged in found] == [Verdict.NOT_JUDGED] * 5


def test_a_ratio_to_a_wait_of_zero_is_not_defined() -> None:
    """It was printed as +3,166,817,386 % once."""
    points = {
        Point((("policy", policy), ("seed", seed))): {"wait": wait}
        for policy, wait in (("gang", 3.0), ("gang-io", 0.0))
        for seed in range(5)
    }
    best = Claim("best", "3.4", "waits less", at_least(2), ratio("wait", {"policy": "gang"}, {"policy": "gang-io"}))
    found = judge([best], Results(points), {})[0]
    assert found.verdict is Verdict.NOT_JUDGED
    assert math.isnan(found.cases[0].estimate.value)


def test_a_claim_on_every_load_needs_all_of_them() -> None:
    """Three times at one load do not make up for once at the other."""
    points = {
        Point((("load", load), ("seed", seed))): {"gain": gain + 0.01 * seed}
        for load, gain in ((0.2, 3.0), (0.8, 1.0))
        for seed in range(5)
    }
    whole = Claim("gain", "3", "twice", at_least(2), mean("gain"), each={"load": [0.2, 0.8]})
    found = judge([whole], Results(points), {})[0]
    assert (found.verdict, found.inside, len(found.cases)) == (Verdict.NOT_REPRODUCED, 1, 2)
    assert judge([replace(whole, region=at_least(0.9))], Results(points), {})[0].verdict is Verdict.REPRODUCED


def test_seeds_are_the_units_however_many_points_they_have() -> None:
    """100 loads with two seeds are two units."""
    points = {
        Point((("load", load), ("seed", seed))): {"wait": 10.0 + seed} for load in range(100) for seed in range(2)
    }
    found = judge([claim(at_least(1))], Results(points), {})[0]
    assert (found.verdict, found.cases[0].estimate.units) == (Verdict.NOT_JUDGED, 2)


def test_claims_that_contradict_themselves_are_refused() -> None:
    """When the study is made, not when it is judged."""
    with pytest.raises(SpecError, match="two claims are called 'wait'"):
        check_claims([claim(within(1, 1)), claim(within(2, 1))])
    with pytest.raises(SpecError, match="no value can lie"):
        check_claims([claim(between(2, 1))])
    with pytest.raises(SpecError, match="one side only"):
        check_claims([claim(at_least(2), one_run=0.5)])


def test_a_claim_says_what_it_depends_on_where_something_was_fitted() -> None:
    """Without a fitted number a claim need not state its dependences; a fitted number names claims of the study."""

    def study(depends: tuple[str, ...] | None, fitted_to: tuple[str, ...]) -> Study:
        return Study(
            "one", "One", ComputedPoints(lambda point: {}), [{"seed": range(5)}],
            claims=[claim(within(10, 1), depends=depends)], parameters=[Parameter("load", 0.8, "so", fitted_to)],
        )  # fmt: skip

    assert study(None, ()).fitted({}) == {}
    assert study(("load",), ("wait",)).fitted({}) == {"load": ("wait",)}
    with pytest.raises(SpecError, match="'wait' must say what it depends on"):
        study(None, ("wait",))
    with pytest.raises(SpecError, match="fitted to 'stretch', which is no claim"):
        study((), ("stretch",))


def test_what_was_fitted_is_drawn_from_its_range() -> None:
    """Each draw has a value of its own, the same each time; the study's points have the study's."""
    study = Study(
        "one", "One", ComputedPoints(lambda point: {}), [{"seed": range(5)}],
        claims=[claim(within(10, 1), depends=("load",))],
        parameters=[Parameter("load", 0.8, "so", ("wait",), (0.5, 1.0))], draws=3, varying={"seed": [0]},
    )  # fmt: skip
    assert {point["load"] for point in study.points()} == {0.8}
    drawn = [[point["load"] for point in points] for points in study.varied()]
    assert [len(draw) for draw in drawn] == [1, 1, 1]
    assert len({value for draw in drawn for value in draw}) == 3
    assert all(0.5 <= value <= 1.0 for draw in drawn for value in draw)
    assert drawn == [[point["load"] for point in points] for points in study.varied()]


def test_a_change_in_percent_may_be_to_nothing() -> None:
    """From 10 to 4 and 0 to 5: -60 % in one seed, not defined in the other; from 10 to 0: -100 %."""
    found = Results({
        Point((("policy", policy), ("seed", seed))): {"wait": value}
        for policy, values in {"fcfs": (10.0, 0.0), "easy": (4.0, 5.0), "none": (0.0, 0.0)}.items()
        for seed, value in enumerate(values)
    })  # fmt: skip
    first, second = RatioOfMeans("wait", {"policy": "easy"}, {"policy": "fcfs"}, {}, percent=True)(found).values
    assert (first, math.isnan(second)) == (-60.0, True)
    assert RatioOfMeans("wait", {"policy": "none"}, {"policy": "fcfs"}, {}, percent=True)(found).values[0] == -100.0


def test_a_claim_whose_premise_is_not_met_is_not_judged() -> None:
    """If one job runs at a time nothing is claimed about many; the value of the premise is given as the reason."""
    premise = Premise("jobs that run at a time", mean("running"), at_least(2))
    found = [
        judge([claim(within(10, 1), premise=premise)], results(wait=NEAR_TEN, running=running), {})[0]
        for running in ((1.2,) * 5, (4.0,) * 5)
    ]
    assert [judged.verdict for judged in found] == [Verdict.NOT_JUDGED, Verdict.REPRODUCED]
    assert found[0].why == "jobs that run at a time: 1.2, must be >= 2"


CLEAR = (3.1, 3.9, 3.0, 4.4, 3.3)
"""Mean 3.54, interval 2.81 to 4.27: clear of 2, with a chance of 0.002 if 2 were true."""


def test_an_authors_conclusion_and_the_values_of_his_figures_are_two_families() -> None:
    """A statement whose interval does not reach the edge was not judged beside 200 uncertain values of figures."""
    values = {f"value{number}": tuple(value + 1e-9 * number for value in CLEAR) for number in range(200)}
    figures = [claim(at_least(3.4), name, group="figure 1") for name in values]
    found = judge([claim(at_least(2)), *figures], results(wait=CLEAR, **values), {})
    assert (found[0].verdict, found[0].family) == (Verdict.REPRODUCED, 1)
    assert found[0].p_value == pytest.approx(0.002, abs=0.001)
    assert {(judged.verdict, judged.family) for judged in found[1:]} == {(Verdict.NOT_JUDGED, 200)}


def test_an_interval_clear_of_the_edge_is_not_said_to_reach_over_it() -> None:
    """Among 200 statements of one family the same interval decides nothing, and the reason is their number."""
    metrics = {f"wait{number}": tuple(value + 1e-9 * number for value in CLEAR) for number in range(200)}
    found = judge([claim(at_least(2), name) for name in metrics], results(**metrics), {})
    assert {judged.verdict for judged in found} == {Verdict.NOT_JUDGED}
    assert found[0].why == "clear of the edge alone, but not as one of 200 claims: more seeds are needed"


def test_a_wide_interval_of_one_run_that_excludes_the_number_refutes_it() -> None:
    """Herbein's contention of 55 to 65 %: ours is nowhere near it, however wide the interval is for its number."""
    values = (2.0, 9.0, 4.0, 6.0, 11.0)
    found = judge([claim(between(55, 65), one_run=0.25)], results(wait=values), {})[0]
    assert (found.cases[0].estimate.high, found.verdict) == (pytest.approx(17.49, abs=0.01), Verdict.NOT_REPRODUCED)
    meets = judge([claim(between(15, 25), one_run=0.25)], results(wait=values), {})[0]
    assert (meets.verdict, meets.why[:31]) == (Verdict.NOT_JUDGED, "the interval of a single run is")


def test_the_interval_of_a_share_ends_at_none_and_all() -> None:
    """By hand: arcsines of the roots of 0, 4, 9, 1 and 16 % have a mean of 0.2036 and a deviation of 0.1625."""
    values = (0.0, 4.0, 9.0, 1.0, 16.0)
    share = claim(between(55, 65), share_of=100, one_run=0.25)
    found = judge([share], results(wait=values), {})[0]
    assert (found.cases[0].estimate.value, found.cases[0].estimate.low) == (6.0, 0.0)
    assert found.cases[0].estimate.high == pytest.approx(
        100 * math.sin(0.2036 + 2.776 * 0.1625 * math.sqrt(1.2)) ** 2, abs=0.1
    )
    assert found.verdict is Verdict.NOT_REPRODUCED
    full = judge([claim(within(100, 0.05), share_of=100)], results(wait=(100.0, 100.0, 99.999, 100.0, 100.0)), {})[0]
    assert full.verdict is Verdict.REPRODUCED, "no share can be above 100.05 %"
    with pytest.raises(SpecError, match="a share of 1"):
        check_claims([claim(between(2, 3), share_of=1)])


@pytest.mark.parametrize("name", ["thesis", "jeannot", "herbein", "gang", "malleable", "malleable-sharing"])
def test_a_quick_run_has_cases_of_the_study_to_judge(name: str) -> None:
    """A paper's page can be checked in minutes; under other conditions than the study's nothing would be judged."""
    assert find_study(name).changed_by_quick == ""
