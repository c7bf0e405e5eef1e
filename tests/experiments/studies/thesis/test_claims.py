"""Claims about published values: published results agree with themselves, and deviations are found in their places."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest

from spillway.experiments.studies.claims import Claim
from spillway.experiments.studies.points import Point, Values
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.thesis import STUDY
from spillway.experiments.studies.thesis.claims import VALUES, MeanOverParts, MedianOverParts
from spillway.experiments.studies.thesis.inputs import FULL
from spillway.experiments.studies.thesis.published import MEASURED, METRICS, Key, is_sound, read_published
from spillway.experiments.studies.thesis.schedules import is_random
from spillway.experiments.studies.verdicts import JudgedClaim, Verdict, judge

PUBLISHED = read_published()


def results(factor: float = 1.0, *, whole: bool = True) -> Results:
    """The published values at every point, to all digits if measured again; times a factor."""
    known: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for table in (PUBLISHED, read_published(MEASURED)):
        for key, given in table.items():
            known[key.model, key.workload, key.policy][key.metric] = factor * given.value
    values: dict[Point, Values] = {}
    for point in STUDY.points(whole=whole):
        workload = FULL if point["scale"] == FULL else point.text("workload")
        values[point] = known[point.text("model"), workload, point.text("policy")]
    return Results(values, STUDY.unit)


def verdicts(found: Results, claims: Sequence[Claim] = VALUES) -> dict[str, JudgedClaim]:
    """Claims about values, judged, by name."""
    return {verdict.claim.name: verdict for verdict in judge(claims, found, {})}


@pytest.fixture(scope="module")
def exact() -> dict[str, JudgedClaim]:
    """The published values, judged against themselves."""
    return verdicts(results())


def test_published_values_agree_with_themselves(exact: dict[str, JudgedClaim]) -> None:
    """All is reproduced; values of the whole log fit one of its draws."""
    for verdict in exact.values():
        wanted = Verdict.FITS_ONE_RUN if verdict.claim.group.startswith("whole log") else Verdict.REPRODUCED
        assert verdict.verdict is wanted, (verdict.claim.name, verdict.why)


def test_every_published_value_is_compared() -> None:
    """Two models, nine schedules, four metrics: means and single parts; medians of five schedules; the whole log."""
    groups = Counter(claim.group.partition(",")[0] for claim in VALUES)
    assert groups["means over the parts"] == groups["single parts"] == 2 * 9 * 4
    assert groups["medians of ratios"] == 2 * 5 * 4
    whole = sum(claim.group.startswith("whole log") for claim in VALUES)
    comparable = [
        key
        for key, given in PUBLISHED.items()
        if key.workload == "full" and key.metric != "scheduler_s" and given.value
    ]
    assert whole == len(comparable) > 240
    measured = sum(len(claim.each["policy"]) for claim in VALUES if claim.group.startswith("published scheduler"))
    assert measured == len(read_published(MEASURED))


def test_medians_are_those_of_the_figures() -> None:
    """Ratios computed from the bar figures give the medians of the box figures."""
    checked = 0
    for claim in VALUES:
        if isinstance(claim.measure, MedianOverParts) and is_sound(
            claim.measure.model, "part-13", claim.measure.policy
        ):
            one = claim.measure
            key = Key(one.model, "parts", one.policy, f"median_normalised_{one.metric.removeprefix('mean_')}")
            stated = float(claim.region.published.partition(" ")[0])
            assert stated == pytest.approx(PUBLISHED[key].value, abs=0.0025)
            assert claim.place == f"figure {PUBLISHED[key].figure}"
            checked += 1
    assert checked == 36


def test_a_part_in_which_nothing_waits_has_no_ratio() -> None:
    """Two parts of which one has no ratio: the median is the other's; two without a ratio: the value is not defined."""
    given = results()
    measure = MedianOverParts("mean_waiting_time_s", "rigid", "backfill-1")
    for still, expected in ((("part-4",), 0.0), (("part-4", "part-9"), math.nan)):
        values = {
            point: {**found, "mean_waiting_time_s": 0.0} if point["workload"] in still else found
            for point, found in given.among({"workload": ("part-4", "part-9")}).values.items()
        }
        assert measure(Results(values, STUDY.unit)).values == pytest.approx((expected,), nan_ok=True)


def test_deviations_beyond_the_tolerance_are_not_reproduced() -> None:
    """Four percent are too much for deterministic values; within two deviations of annealed waits; ratios stay."""
    for verdict in verdicts(results(1.04)).values():
        measure = verdict.claim.measure
        if isinstance(measure, MedianOverParts):
            assert verdict.verdict is Verdict.REPRODUCED
        elif isinstance(measure, MeanOverParts):
            chance = is_random(measure.policy) or measure.policy == "window-1"
            close = chance and measure.metric != "mean_turnaround_time_s"
            assert verdict.verdict is (Verdict.REPRODUCED if close else Verdict.NOT_REPRODUCED), verdict.claim.name


def test_the_same_parts_are_compared(exact: dict[str, JudgedClaim]) -> None:
    """If only some parts were played, the published mean is theirs."""
    some = results().among({"workload": ("part-4", "part-9")})
    for metric in METRICS:
        sample = MeanOverParts(metric, "io", "backfill-1")(some)
        assert sample.values == pytest.approx((1.0,))
    assert exact


def test_the_default_plays_what_the_conclusions_need() -> None:
    """Without --all the costly schedules are not played; claims about them state that."""
    found = verdicts(results(whole=False))
    missing = [verdict for verdict in found.values() if verdict.why.startswith("not run")]
    assert missing
    assert not [verdict for verdict in missing if verdict.claim.group == "published scheduler under the real Batsim"]
    assert not [
        verdict
        for verdict in missing
        if "backfill" in verdict.claim.name and verdict.claim.group.endswith("s, Alloc-Only")
    ]


def test_whole_log_is_judged_schedule_by_schedule() -> None:
    """Five draws of one schedule were played: its values are judged, those of others are named as not run."""
    given = results()
    values = {
        point: found
        for point, found in given.values.items()
        if not point.matches({"scale": FULL, "model": "io"}) or point["policy"] == "fcfs"
    }
    claims = [claim for claim in VALUES if claim.group == "whole log, IO-Aware"]
    for name, one in verdicts(Results(values, STUDY.unit), claims).items():
        if "of fcfs," in name:
            assert one.verdict is Verdict.FITS_ONE_RUN
        else:
            assert one.verdict is Verdict.NOT_JUDGED
            assert one.why.startswith("not run")


def test_a_tenth_of_a_second_is_equal() -> None:
    """The published scheduler's own run: a tenth of a second is the most, one killed job too many is a miss."""
    given = results()
    [point] = [
        point
        for point in given.values
        if point.matches({"scale": "part", "model": "rigid", "workload": "part-4", "policy": "fcfs"})
    ]
    values = dict(given.values[point])
    names = [f"equal {words}, part-4, Alloc-Only" for words in ("waiting time", "jobs killed")]
    claims = [claim for claim in VALUES if claim.name in names]
    assert len(claims) == 2
    for wait, killed, equal in ((0.05, 0, True), (-0.2, 0, False), (0.2, 0, False), (0.0, 1, False)):
        changed = {"mean_waiting_time_s": values["mean_waiting_time_s"] + wait, "killed": values["killed"] + killed}
        found = verdicts(Results({**given.values, point: values | changed}, STUDY.unit), claims)
        assert all(verdict.verdict is Verdict.REPRODUCED for verdict in found.values()) == equal
