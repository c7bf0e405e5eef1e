"""The evaluation of Zhang et al. (JSSPP 2003): gang scheduling with files on the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spillway.experiments.studies.claims import Choice, Claim, Parameter, Region, at_least, at_most, between, within
from spillway.experiments.studies.figures import Lines
from spillway.experiments.studies.gang.measures import ShareOfGain
from spillway.experiments.studies.gang.play import (
    ADAPTIVE,
    COST_S,
    GS,
    IOGS,
    LIMIT,
    MIGRATE,
    MIXED_NAME,
    NEXT_QUANTUM,
    START,
    SUBMISSION,
    audited_as,
    play,
    same,
    seen,
)
from spillway.experiments.studies.gang.wire import play_by_product
from spillway.experiments.studies.measures import Compared, mean, ratio
from spillway.experiments.studies.points import Grid, Value
from spillway.experiments.studies.study import SEEDS, Computed, Study
from spillway.schedulers.timesharing.migration import MigrationStart
from spillway.workloads.gang import MEAN_GAP_S, MEAN_TIMES_S

POLICIES: Mapping[Value, str] = {GS: "GS", IOGS: "IOGS", ADAPTIVE: "Adaptive-IOGS", MIGRATE: "Migrate-IOGS"}
MIXES = ("0.5", "0.33", "0.1", MIXED_NAME)
INTENSITIES: Mapping[Value, str] = {mix: f"intensity {mix}" for mix in MIXES[:3]}
"""Names of the lines."""

TIMES = tuple(MEAN_TIMES_S[step] for step in (0, 2, 5, 8))
"""Four of the nine loads: the lowest, the highest, and those that the paper rounds to 2,000 and 2,600 s."""
_TOP = TIMES[-1]
_GAP_S = 1100.0
"""Mean time between submissions at which waits are low at the lowest load, over ten workloads."""
_NAMED_S = 1800
"""A load for which the paper counts local jobs; it is not one of the nine steps."""
_COSTS_S = (0.0, 10.0, 30.0)
LIMITS = (0, 16, 32, 128, 256, 320)

USUAL = {"cost": COST_S, "limit": LIMIT}
SLOWDOWN, WAIT, RESPONSE = "slowdown", "wait_s", "response_s"
WORDS = {SLOWDOWN: "slowdown", WAIT: "wait", RESPONSE: "response time"}

SMALL = 1.25
""""Very close", "very small", "significant": this ratio."""
_NEGLIGIBLE = 0.05
""""Negligible": at most this share."""


def _from(least_s: float) -> tuple[int, ...]:
    return tuple(time for time in TIMES if time >= least_s)


def _up_to(most_s: float) -> tuple[int, ...]:
    return tuple(time for time in TIMES if time <= most_s)


def _versus(
    name: str, place: str, words: str, region: Region, metric: str, worse: str, better: str, mix: str,
    times: Sequence[int] = TIMES,
) -> Claim:  # fmt: skip
    """A claim on the ratio of a measure under one policy to that under another, at each load."""
    measure = ratio(metric, {"policy": worse}, {"policy": better}, mix=mix, **USUAL)
    return Claim(name, place, words, region, measure, each={"time": times}, depends=OPEN)


def _over(
    name: str, place: str, words: str, region: Region, metric: str, others: Sequence[str], policy: str, mix: str,
    times: Sequence[int] = TIMES,
) -> Claim:  # fmt: skip
    """A claim on the ratio of a measure under each of some other policies to that under one, at each load."""
    measure = Compared(metric, {}, {"policy": policy}, {"mix": mix, **USUAL}, ratios=True)
    return Claim(name, place, words, region, measure, each={"policy": others, "time": times}, depends=OPEN)


def _local(policy: str, time: int, count: int, region: Region, place: str = "3.5") -> Claim:
    words = f"intensity 0.5, {time:,} s: {count:,} of 10,000 jobs local under {POLICIES[policy]}"
    measure = mean("local", policy=policy, time=time, mix="0.5", **USUAL)
    return Claim(f"{count} local", place, words, region, measure, "jobs", depends=_LOCAL_DEPENDS, one_run=WIDEST,
                 share_of=10_000)  # fmt: skip


_LOCAL_DEPENDS = ("gap", "layout", "sizes", "queue", "migration_start", "loads")
"""All parameters and choices but the definition of response time."""
OPEN = (*_LOCAL_DEPENDS, "response")
WIDEST = 0.5
"""A count of the paper's one workload is judged if the interval of a workload of ours is no wider than half of it; set
knowing the counts and our values."""
LOW = 1.0
"""A wait is low up to this many mean execution times."""


def _claims() -> list[Claim]:
    gain = "at least 100 % better"
    return [
        _versus("100 %", "3.4.2", f"intensity 0.5: IOGS {gain} than GS in slowdown at every load", at_least(2.0),
                SLOWDOWN, GS, IOGS, "0.5"),
        _versus("200 %", "3.4.2", "intensity 0.5: IOGS more than 200 % better than GS in slowdown from 2,000 s on",
                at_least(3.0), SLOWDOWN, GS, IOGS, "0.5", _from(2000)),
        _versus("wait", "3.4.2", "intensity 0.5: IOGS waits significantly less than GS from 2,600 s on (taken: 25 %)",
                at_least(SMALL), WAIT, GS, IOGS, "0.5", _from(2580)),
        *(
            Claim(f"low wait {POLICIES[policy]}", "3.4.2", f"intensity 0.5, lowest load: waits are low under "
                  f"{POLICIES[policy]} (taken: no longer than a mean execution time)", at_most(LOW * TIMES[0]),
                  mean(WAIT, policy=policy, time=TIMES[0], mix="0.5", **USUAL), "s", depends=_LOCAL_DEPENDS)
            for policy in (GS, IOGS)
        ),
        *(
            _versus(f"GS {mix} {WORDS[metric]}", "3.4.2",
                    f"intensity {mix}: GS always better than IOGS in {WORDS[metric]}",
                    at_least(1.0), metric, IOGS, GS, mix)
            for mix in ("0.33", "0.1")
            for metric in (SLOWDOWN, WAIT)
        ),
        _over("best 0.33", "3.5", "intensity 0.33: Adaptive-IOGS best of the three in slowdown at every load",
              at_least(1.0), SLOWDOWN, (GS, IOGS), ADAPTIVE, "0.33"),
        _over("best 0.5", "3.5", "intensity 0.5: Adaptive-IOGS best of the three in slowdown up to 2,500 s",
              at_least(1.0), SLOWDOWN, (GS, IOGS), ADAPTIVE, "0.5", _up_to(2500)),
        Claim("close 0.1", "3.5", "intensity 0.1: Adaptive-IOGS very close to the best in slowdown (taken: 25 %)",
              at_most(SMALL), Compared(SLOWDOWN, {"policy": ADAPTIVE}, {}, {"mix": "0.1", **USUAL}, ratios=True),
              each={"policy": (GS, IOGS), "time": TIMES}, depends=OPEN),
        _local(ADAPTIVE, _NAMED_S, 9101, within(9101, 0.5)),
        _local(GS, _NAMED_S, 20, within(20, 0.5)),
        _local(ADAPTIVE, _TOP, 831, within(831, 0.5)),
        _local(GS, _TOP, 5, within(5, 0.5)),
        *(
            Claim(f"cost {mix}", "3.6", f"intensity {mix}: a migration's cost of 30 s instead of 0 s changes slowdown "
                  "negligibly (taken: 5 %)", within(1.0, _NEGLIGIBLE),
                  ratio(SLOWDOWN, {"cost": 30.0}, {"cost": 0.0}, policy=MIGRATE, time=_TOP, mix=mix, limit=LIMIT),
                  depends=OPEN)
            for mix in MIXES[:3]
        ),
        Claim("no limit", "3.6", "intensity 0.5: migration without a limit at least 90 % better than none in slowdown",
              at_least(1.9), ratio(SLOWDOWN, {"limit": 0}, {"limit": 320}, policy=MIGRATE, time=_TOP, mix="0.5",
                                   cost=COST_S), depends=OPEN),
        *(
            Claim(f"most {mix}", "3.6", f"intensity {mix}: most of the gain of no limit is there at 64 tasks a slice",
                  at_least(0.5), ShareOfGain({"policy": MIGRATE, "time": _TOP, "mix": mix, "cost": COST_S}),
                  depends=OPEN)
            for mix in ("0.5", "0.33")
        ),
        Claim("more 0.1", "3.6", "intensity 0.1: more than 64 tasks in a slice make slowdown worse", at_least(1.0),
              Compared(SLOWDOWN, {}, {"limit": LIMIT}, {"policy": MIGRATE, "time": _TOP, "mix": "0.1", "cost": COST_S},
                       ratios=True), each={"limit": (128, 256, 320)}, depends=OPEN),
        *(
            _versus(f"Migrate 0.5 {WORDS[metric]}", "3.7",
                    f"intensity 0.5: Migrate-IOGS 100 % better than IOGS in {WORDS[metric]} from 2,500 s on",
                    at_least(2.0), metric, IOGS, MIGRATE, "0.5", _from(2500))
            for metric in (SLOWDOWN, WAIT, RESPONSE)
        ),
        _local(MIGRATE, _TOP, 6524, within(6524, 0.5), "3.7"),
        *(
            _versus(f"Migrate 0.33 {WORDS[metric]}", "3.7",
                    f"intensity 0.33: Migrate-IOGS at least 60 % better than Adaptive, the second, in {WORDS[metric]}",
                    at_least(1.6), metric, ADAPTIVE, MIGRATE, "0.33")
            for metric in (SLOWDOWN, WAIT, RESPONSE)
        ),
        _versus("Migrate 0.1", "3.7", "intensity 0.1: Migrate-IOGS worse than GS by very little (taken: up to 25 %)",
                between(1.0, SMALL), SLOWDOWN, MIGRATE, GS, "0.1"),
        *(
            _over(f"mixed {WORDS[metric]}", "4", f"mixed intensities: Migrate-IOGS best of all in {WORDS[metric]}",
                  at_least(1.0), metric, (GS, IOGS, ADAPTIVE), MIGRATE, MIXED_NAME)
            for metric in (SLOWDOWN, WAIT)
        ),
    ]  # fmt: skip


CHOICES = (
    Choice(
        "queue", "does a job that finds no row stop those behind it (3.2), or only when no further job fits (3.1)?",
        {"stop": "it stops them", "scan": "all that fit are taken"},
    ),
    Choice(
        "layout", "on which of the nodes a file lies is not said (2.1); figure 5 shows neighbours",
        {"neighbours": "neighbours", "aligned": "neighbours from a multiple of its size on", "spread": "any nodes"},
        crossed=False,
    ),
    Choice(
        "sizes", "sizes come from a model that is not printed (2.3)",
        {"log": "as LLNL Atlas has them", "powers": "powers of two up to 256, as in the group's other papers"},
        crossed=False,
    ),
    Choice(
        "migration_start",
        "migrated jobs continue when the next quantum begins (3.6): is the rest of the running one lost?",
        {NEXT_QUANTUM: "the next slice", MigrationStart.AT_ONCE.value: "at once, inside the running slice"},
        crossed=False,
    ),
    Choice(
        "gap",
        "583 s between submissions are printed (3.4.1), sizes and utilisation are not; waits are low at low loads "
        "(3.4.2)",
        {_GAP_S: "waits are low at the lowest load (3.4.2)", MEAN_GAP_S: "as printed"},
        fitted={_GAP_S: ("low wait GS", "low wait IOGS")},
    ),
    Choice(
        "response", "response time is end minus start (2.3, item 4), or the usual definition",
        {SUBMISSION: "from submission to end", START: "from start to end, as printed"},
    ),
)  # fmt: skip

PARAMETERS = (
    Parameter("workload", "fit to LLNL-Atlas-2006", "ASCI Blue-Pacific's workload is not public; Atlas is of the same "
              "laboratory (hyper-Erlang distributions by classes of sizes, three moments)"),
    Parameter("loads", ", ".join(f"{time:,}" for time in MEAN_TIMES_S) + " s", "steps of a tenth up to 3,102 s (3.6), "
              "a factor of 1.8 in all, as the group's papers on this machine have them (from memory, they are not part "
              "of our material)"),
    Parameter("gap", _GAP_S, "seconds between submissions: the smallest of 583, 700, 800 ... at which GS and IOGS wait "
              "no longer than a mean execution time at the lowest load, over ten workloads (of 1,723 s: 4,672 and "
              "1,968 s at 900, 1,893 and 949 s at 1,000, 833 and 541 s at 1,100); set knowing the results of "
              "other statements",
              ("low wait GS", "low wait IOGS"),
              (MEAN_GAP_S, 1500.0)),
    Parameter("low", "up to a mean execution time", "the paper gives no number"),
    Parameter("widest", WIDEST, "width of one workload's interval, as a share of a published count, up to which it is "
              "judged; set knowing the counts and our values"),
    Parameter("very close, very small, significant", "25 %", "the paper gives no number"),
    Parameter("negligible", "5 %", "the paper gives no number"),
)  # fmt: skip

MAIN: Grid = {
    "mix": MIXES,
    "time": TIMES,
    "cost": [COST_S],
    "limit": [LIMIT],
    "jobs": [10_000],
    "policy": list(POLICIES),
}
_MIGRATING: Grid = {**MAIN, "mix": MIXES[:3], "time": [_TOP], "policy": [MIGRATE]}
_GRIDS: Sequence[Grid] = [
    {**grid, "seed": range(100)}
    for grid in (
        MAIN,
        {**MAIN, "mix": ["0.5"], "time": [_NAMED_S], "policy": [GS, ADAPTIVE]},
        {**_MIGRATING, "cost": _COSTS_S},
        {**_MIGRATING, "limit": LIMITS},
    )
]


def _figures(number: int, policies: Sequence[str], mixes: Sequence[str]) -> list[Lines]:
    return [
        Lines(
            metric, f"mean {WORDS[metric]}{' (s)' if metric == WAIT else ''}", "time", "mean execution time (s)",
            panel="mix", log=True, only=USUAL, names=POLICIES, shown={"policy": policies, "mix": mixes, "time": TIMES},
            name=f"figure {number} {WORDS[metric]}",
        )
        for metric in (SLOWDOWN, WAIT)
    ]  # fmt: skip


STUDY = Study(
    name="gang",
    title="Gang scheduling where files lie on the nodes (Zhang et al. 2003)",
    source="Zhang, Yang, Sivasubramaniam, Moreira, Gang scheduling extensions for I/O intensive workloads, JSSPP 2003",
    play=Computed(
        play, policies=lambda point: [point.text("policy")], audit=play_by_product, tolerance=0.0, batch=4,
        same=same, seen=seen, audited_as=audited_as,
    ),
    grids=_GRIDS,
    claims=_claims(),
    quick={"time": [TIMES[0], _TOP], "seed": SEEDS},
    parameters=PARAMETERS,
    choices=CHOICES,
    crossing={"time": [TIMES[0], _TOP], "cost": [COST_S], "limit": [LIMIT], "seed": SEEDS},
    draws=4,
    varying={"seed": SEEDS},
    figures=[
        *_figures(4, (GS, IOGS), MIXES[:3]),
        *_figures(6, (GS, IOGS, ADAPTIVE), MIXES[:3]),
        Lines(SLOWDOWN, "mean slowdown", "cost", "cost of a migration C (s)", by="mix", log=True,
              only={"policy": MIGRATE, "time": _TOP, "limit": LIMIT}, shown={"mix": MIXES[:3]}, names=INTENSITIES,
              name="figure 8 cost"),
        Lines(SLOWDOWN, "mean slowdown", "limit", "most tasks migrated in a slice, Q", by="mix", log=True,
              only={"policy": MIGRATE, "time": _TOP, "cost": COST_S}, shown={"mix": MIXES[:3]}, names=INTENSITIES,
              name="figure 8 limit"),
        *_figures(9, (GS, IOGS, ADAPTIVE, MIGRATE), MIXES[:3]),
        *_figures(10, (GS, IOGS, ADAPTIVE, MIGRATE), MIXES[3:]),
    ],
    notes=(
        "the compiled way between events is compared with session, guard, messages and simulator on 30 jobs of mixed "
        "intensities in quick succession: the product needs more than ten times as long for a point",
        "readings are compared at two loads without figure 8, draws of the gap at all",
    ),
)  # fmt: skip
