"""The claims on made-up results: verdicts follow the data, family by family, and name claims that cannot be judged."""

from collections.abc import Mapping

import pytest

from spillway.experiments.studies.jeannot import STUDY
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.verdicts import Verdict, judge
from tests.experiments.studies.jeannot.points import point

PACKS = ("Random", "Max", "Char")
EVEN = {
    "utilisation": 0.6, "steady": 0.7, "unevenness": 0.1, "fall": 0.2, "idle": 0.2, "mean_stretch": 1.1,
    "max_stretch": 1.4, "jobs_at_a_time": 5.0, "io_last": 0.0, "computing change": 0.02, "transferring drift": 0.0,
    "transferring change": 0.0, "allocated drift": 0.0,
}  # fmt: skip
POINTS = STUDY.points({"load": [0.2, 0.4, 0.8], "seed": range(5)})


def verdicts(changes: Mapping[tuple[str, str], Mapping[str, float]]) -> Mapping[str, tuple[Verdict, str]]:
    """Verdicts if the strategies of a family differ from an even execution by these amounts."""

    def values(one: Point) -> dict[str, float]:
        added = changes.get((one.text("family"), one.text("policy")), {})
        rise = one.number("load") * (1 + 0.001 * one.whole("seed"))
        found = {name: value + added.get(name, 0.0) for name, value in EVEN.items()}
        return found | {name: found[name] + 0.1 * rise for name in ("idle", "mean_stretch")}

    found = judge(STUDY.claims, Results({item: values(item) for item in POINTS}), {})
    return {verdict.claim.name: (verdict.verdict, verdict.why) for verdict in found}


def test_verdicts_follow_the_data_of_a_family() -> None:
    """Packs with less stretch in M-No only: lesson 2 holds there and nowhere else."""
    found = verdicts({("M-No", policy): {"mean_stretch": -0.05, "max_stretch": -0.1} for policy in PACKS})
    assert found["M-No: mean stretch"][0] is found["M-No: max stretch"][0] is Verdict.REPRODUCED
    assert {found[f"{family}: mean stretch"][0] for family in ("M-BN", "U-BN", "U-No")} == {Verdict.NOT_REPRODUCED}
    assert found["M-No: constant"][0] is found["U-No: idle rises"][0] is Verdict.REPRODUCED
    assert found["M-No: same pace"][0] is Verdict.REPRODUCED


def test_one_pack_that_is_worse_than_lists_is_enough() -> None:
    """A statement on packs must hold for each; Char is the exception that the paper states for M-BN."""
    worse = {(family, "Char"): {"mean_stretch": 0.1} for family in ("M-BN", "M-No")}
    calm = {(family, policy): {"mean_stretch": -0.1} for family in ("M-BN", "M-No") for policy in ("Random", "Max")}
    found = verdicts({**worse, **calm})
    assert found["M-No: mean stretch"][0] is Verdict.NOT_REPRODUCED
    assert (
        found["M-BN: mean stretch"][0] is found["M-BN: exception"][0] is found["M-BN: worst"][0] is Verdict.REPRODUCED
    )


def test_lesson_3_sees_starvation() -> None:
    """Packs with rising bandwidth and falling processors, which start I/O jobs last."""
    starved = {"transferring drift": 0.3, "transferring change": 0.3, "allocated drift": -0.2, "io_last": 0.4}
    found = verdicts({("M-BN", policy): starved for policy in PACKS})
    for name in ("processors fall", "bandwidth rises", "LS steadier", "I/O last", "diverse"):
        assert found[f"M-BN: {name}"][0] is Verdict.REPRODUCED, name


def test_where_one_job_runs_at_a_time_nothing_is_judged() -> None:
    """One strategy is enough; other families are not affected."""
    found = verdicts({("U-No", "Char"): {"jobs_at_a_time": -3.5}})
    assert {one for name, one in found.items() if name.startswith("U-No")} == {
        (Verdict.NOT_JUDGED, "jobs that run at a time in U-No, where fewest: 1.5, must be >= 2")
    }
    assert found["U-BN: constant"][0] is Verdict.REPRODUCED


def test_no_claim_is_left_without_values() -> None:
    """All are measured on the study's grid; no claim is empty by mistake."""
    found = verdicts({("M-BN", policy): {"idle": -0.2} for policy in ("LS", *PACKS)})
    assert [name for name, (_, why) in found.items() if "not run" in why] == []


@pytest.mark.parametrize(
    ("family", "policy", "matter"),
    [
        ("M-BN", "Max", {"volume", "durations", "limit"}),
        ("M-No", "LS", {"volume", "durations", "limit", "shares", "list"}),
        ("U-BN", "LS", {"volume", "sizes", "list"}),
        ("U-No", "Char", {"volume", "sizes", "shares"}),
    ],
)
def test_readings_that_do_not_matter_are_played_once(family: str, policy: str, matter: set[str]) -> None:
    """A family's points are replayed under those readings only that change them."""
    others = {choice.axis: list(choice.readings)[1] for choice in STUDY.choices}
    found = STUDY.same(point(family=family, policy=policy).replaced(**others))
    assert {axis for axis, value in STUDY.usual.items() if found[axis] != value} == matter
