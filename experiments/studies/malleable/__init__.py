"""Singh & Carretero 2019, sections 2 and 5.1: colliding I/O phases, and the effects of blocking, shifting, coupling.

Tolerances follow from the paper's own repetitions: its I/O phases came up to 0.9 s off their predictions (1 s for
times, but no more than half of the value, so that 0 never agrees), three repetitions ended with 57, 59 and 59
processes (1 process), percentages are whole (0.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from spillway.experiments.studies.claims import Choice, Claim, Parameter, Region, at_least, at_most, between, within
from spillway.experiments.studies.malleable.cases import AGAIN, APART, PAIRS, SMALL_APART, WORKED, play, same
from spillway.experiments.studies.malleable.figures import Bars, Excluded, Shift, Writers
from spillway.experiments.studies.malleable.jacobi import OF_CASE, PARAMETERS
from spillway.experiments.studies.measures import change, mean, occurring, ratio
from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample
from spillway.experiments.studies.study import SEEDS, Computed, Study

A = {"case": "A", "control": "watch"}
B = {"case": "B", "control": "shifting"}
C = {"case": "C", "control": "shifting"}
D = {"case": "D", "control": "shifting"}
_COUPLED = {"case": "D", "control": "coupling"}
BASELINE, BLOCKING, SHIFTING = ({"control": name} for name in ("baseline", "blocking", "shifting"))


def seconds(value: float) -> Region:
    """A published time."""
    return within(value, min(1.0, value / 2))


def _ten_seconds(value: float) -> Region:
    """A published time that is a multiple of ten."""
    return within(value, 5)


def processes(value: float) -> Region:
    """A published number of processes."""
    return within(value, 1)


def whole(value: float) -> Region:
    """A published percentage, or a count that is a mean."""
    return within(value, 0.5)


@dataclass(frozen=True)
class Steps:
    """The smallest fall of a value from each of some points to the next, seed by seed; below 0 if one rises."""

    metric: str
    points: tuple[Mapping[str, Value], ...]

    def __call__(self, results: Results) -> Sample:
        """One value per seed."""
        levels = [results.mean(self.metric, axes).values for axes in self.points]
        return Sample(tuple(min(one - two for one, two in pairwise(seed)) for seed in zip(*levels, strict=True)))


@dataclass(frozen=True)
class Points:
    """Difference of a value between two controls in percentage points of the baseline, seed by seed."""

    metric: str
    case: str
    above: str
    below: str

    def __call__(self, results: Results) -> Sample:
        """One value per seed."""
        one, other = (
            change(self.metric, {"control": control}, BASELINE, case=self.case)(results).values
            for control in (self.above, self.below)
        )
        return Sample(tuple(more - less for more, less in zip(one, other, strict=True)))


def _of(case: str, claims: Sequence[Claim]) -> list[Claim]:
    """The claims with the parameters and choices that their use case depends on."""
    return [replace(claim, depends=OF_CASE[case]) for claim in claims]


def _worked(name: str, place: str, statement: str, value: float, metric: str, tolerance: float = 0.0) -> Claim:
    """A claim on a worked example of the paper."""
    return Claim(name, place, statement, within(value, tolerance), mean(metric, case=WORKED), depends=(), exact=True)


EXAMPLES = [
    _worked("14 s", "4.2.1", "a shift of 10 s with an overhead of 1 s: computation to save (s)", 14, "reduction"),
    _worked("12 s", "4.2.1", "the same: by how much the phase comes earlier (s)", 12, "shift"),
    _worked("speed-up 2", "4.2.1, Eq. 2", "50 s of 100 s are to be saved: relative speed-up", 2, "speedup_100"),
    _worked("speed-up 1.33", "4.2.1, Eq. 2", "50 s of 200 s: relative speed-up", 1.33, "speedup_200", 0.005),
    _worked("speed-up 12", "4.2.1, Eq. 2", "2 on top of a speed-up of 6: absolute speed-up", 12, "absolute"),
    _worked("figure 7", "4.2.1, Fig. 7", "the later phase is shifted by its duration and the time until the overlap: "
            "difference (s)", 0, "figure_7"),
    _worked("figure 8", "4.2.1, Fig. 8", "the earlier phase is shifted by the overlap: difference (s)", 0, "figure_8"),
    _worked("440 s", "4.2.2", "periods of 220 and 440 s: the application that is coupled", 2, "coupled"),
    _worked("220 s", "4.2.2", "the same: its new period in periods of the other, the nearest multiple", 2, "multiple"),
]  # fmt: skip

LARGE = tuple({"case": f"{APART}{delay}"} for delay in range(11))
_SECTION_2 = [
    Claim("2 nearly doubled", "2, Fig. 1", "two writes of 24.4 GB that begin together take nearly twice as long as one "
          "(taken: 1.8 to 2)", between(1.8, 2.0), ratio("io_1", LARGE[0], LARGE[-1]), depends=(), exact=True),
    Claim("2 decreases", "2, Fig. 1", "the further apart they begin, the shorter they take (smallest fall)",
          at_least(0), Steps("io_1", LARGE), "s", depends=(), exact=True),
    Claim("2 at once", "2", "two writes of 11.9 GB that begin together take this each", seconds(9.2),
          mean("io_1", case=f"{SMALL_APART}0"), "s", depends=("write",), exact=True),
    Claim("2 alone", "2", "one that begins 10 s after the other", seconds(4.7), mean("io_2", case=f"{SMALL_APART}10"),
          "s", depends=("write",), exact=True),
]  # fmt: skip

_CASE_A = [
    Claim("A start 1", "5.1 A", "predicted start of application 1's I/O phase", seconds(903.2),
          mean("predicted_1", **A), "s"),
    Claim("A start 2", "5.1 A", "predicted start of application 2's I/O phase", seconds(911.0),
          mean("predicted_2", **A), "s"),
    Claim("A error", "5.1 A", "mean error of both predictions (0.2 and 0.9 s)", within(0.55, 0.35),
          mean("error", **A), "s"),
    Claim("A detected", "5.1 A", "their collision is predicted at", _ten_seconds(810), mean("detected", **A), "s"),
]  # fmt: skip

_CASE_B = [
    Claim("B shifts", "5.1 B", "one phase shift", whole(1), mean("shifts", **B)),
    Claim("B decided", "5.1 B", "it (that of the seventh phase) is decided at", _ten_seconds(690),
          occurring("decided", **B), "s"),
    Claim("B chosen", "5.1 B", "application 1 is shifted", within(1, 0), occurring("chosen", **B)),
    Claim("B expected", "5.1 B", "without it the phase would have begun at", seconds(782.4), occurring("expected", **B),
          "s"),
    Claim("B extra", "5.1 B", "processes created for the shift", processes(24), occurring("extra", **B)),
    Claim("B advanced", "5.1 B", "the phase begins earlier by", seconds(3.4), occurring("advanced", **B), "s"),
    Claim("B after", "5.1 B", "further I/O phases that collide", within(0, 0), mean("overlaps_after", **B)),
]  # fmt: skip

_CASE_C = [
    Claim("C I/O 1, blocking", "5.1 C", "I/O time of application 1 with I/O blocking", whole(-39),
          change("io_1", BLOCKING, BASELINE, case="C"), "%"),
    Claim("C I/O 2, blocking", "5.1 C", "I/O time of application 2 with I/O blocking, delays included", whole(-25),
          change("io_2", BLOCKING, BASELINE, case="C"), "%"),
    Claim("C I/O 1, shifting", "5.1 C", "I/O time of application 1 with phase shifting", whole(-49),
          change("io_1", SHIFTING, BASELINE, case="C"), "%"),
    Claim("C I/O 2, shifting", "5.1 C", "I/O time of application 2 with phase shifting, delays included", whole(-41),
          change("io_2", SHIFTING, BASELINE, case="C"), "%"),
    Claim("C writes 2", "5.1 C", "the same without delays", whole(-45),
          change("transfer_2", SHIFTING, BASELINE, case="C"), "%"),
    Claim("C delay, blocking", "5.1 C", "delay with I/O blocking", seconds(64.7),
          mean("delay", case="C", control="blocking"), "s"),
    Claim("C delay, shifting", "5.1 C", "delay with phase shifting", seconds(18), mean("delay", **C), "s"),
    Claim("C shifts", "5.1 C", "one phase shift removes the conflicts", whole(1), mean("shifts", **C)),
    Claim("C extra", "5.1 C", "processes created for it", processes(21), mean("extra", **C)),
    Claim("C held", "5.1 C", "they are kept for", seconds(156.1), mean("held", **C), "s"),
    Claim("C after", "5.1 C", "no delay after the reconfiguration", within(0, 0), mean("delay_after", **C), "s"),
    Claim("C CPU 1", "5.1 C", "application 1 computes for less time than without control", at_most(0),
          change("cpu_1", SHIFTING, BASELINE, case="C"), "%"),
    Claim("C gain", "1, 6.2", "phase shifting improves on I/O blocking: less I/O time of both", at_most(0),
          change("io", SHIFTING, BLOCKING, case="C"), "%"),
    Claim("7 I/O", "7", "up to 10 % less I/O time than with I/O blocking: application 1 of C, 49 less 39", whole(-10),
          Points("io_1", "C", "shifting", "blocking"), "points"),
]  # fmt: skip

_CASE_D = [
    Claim("D delay, blocking", "5.1 D", "delay with I/O blocking", seconds(25.1),
          mean("delay", case="D", control="blocking"), "s"),
    Claim("D delay, shifting", "5.1 D", "delay with phase shifting", seconds(11.0), mean("delay", **D), "s"),
    Claim("D delay, coupling", "5.1 D", "delay with period coupling", seconds(0.7), mean("delay", **_COUPLED), "s"),
    Claim("D order", "5.1 D",
          "less delay by coupling than by shifting, and by shifting than by blocking (smallest fall)", at_least(0),
          Steps("delay", tuple({"case": "D", "control": name} for name in ("blocking", "shifting", "coupling"))), "s"),
    Claim("D I/O", "5.1 D", "I/O blocking reduces the I/O time", at_most(0), change("io", BLOCKING, BASELINE, case="D"),
          "%"),
    Claim("D shifts", "5.1 D", "phase shifts per execution", whole(4), mean("shifts", **D)),
    Claim("D least", "5.1 D", "fewest processes created by a shift", processes(14), mean("least_extra", **D)),
    Claim("D most", "5.1 D", "most processes created by a shift", processes(104), mean("most_extra", **D)),
    Claim("D coupled", "5.1 D", "processes of application 2 after the coupling", between(57, 59),
          mean("size_2", **_COUPLED)),
    Claim("D period 1", "5.1 D", "computation of application 1 in a period after the coupling", seconds(67.40),
          mean("period_1", **_COUPLED), "s"),
    Claim("D period 2", "5.1 D", "the same of application 2", seconds(67.74), mean("period_2", **_COUPLED), "s"),
    Claim("D coupled shifts", "5.1 D", "phase shifts after the coupling", whole(1), mean("shifts", **_COUPLED)),
    Claim("D run 1", "5.1 D, Fig. 16", "I/O blocking shortens application 1", at_most(0),
          change("run_1", BLOCKING, BASELINE, case="D"), "%"),
    Claim("D run 2", "5.1 D, Fig. 16", "and slightly prolongs application 2", at_least(0),
          change("run_2", BLOCKING, BASELINE, case="D"), "%"),
    Claim("D run", "5.1 D, Fig. 16", "phase shifting shortens both", at_most(0),
          change("run", SHIFTING, BASELINE, case="D"), "%"),
    Claim("D uneven", "5.1 D, Fig. 16", "after the coupling execution times are similar (as 59 and 64 processes are)",
          replace(at_most(100 * (64 / 59 - 1)), published="<= 8.47"), mean("uneven", **_COUPLED), "%"),
    Claim("7 delay", "7", "less delay than with I/O blocking (D: 25.1 to 11.0 s)", whole(-56),
          change("delay", SHIFTING, BLOCKING, case="D"), "%"),
]  # fmt: skip

STUDY = Study(
    name="malleable",
    title="Singh & Carretero 2019: I/O interference and malleability",
    source="D. E. Singh, J. Carretero, J. Syst. Softw. 148, 2019 (DOI 10.1016/j.jss.2018.11.006), all but section 5.2",
    play=Computed(play, same=same, batch=4),
    grids=[
        {"case": [WORKED, PAIRS, AGAIN], "control": ["baseline"], "seed": [0]},
        {"case": [*(str(axes["case"]) for axes in LARGE), f"{SMALL_APART}0", f"{SMALL_APART}10"],
         "control": ["baseline"], "seed": [0]},
        {"case": ["A"], "control": ["watch"], "seed": range(100)},
        {"case": ["B"], "control": ["baseline", "shifting"], "seed": range(100)},
        {"case": ["C"], "control": ["baseline", "blocking", "shifting"], "seed": range(100)},
        {"case": ["D"], "control": ["baseline", "blocking", "shifting", "coupling"], "seed": range(100)},
    ],
    claims=[
        *EXAMPLES,
        *_SECTION_2,
        *(claim for case, claims in (("A", _CASE_A), ("B", _CASE_B), ("C", _CASE_C), ("D", _CASE_D))
          for claim in _of(case, claims)),
    ],
    quick={"seed": SEEDS},
    parameters=[
        *PARAMETERS,
        Parameter("control points", "5 in a period", "Figure 4 has four"),
        Parameter("variation", "0.5 % per interval", "the paper states low variability and no number"),
        Parameter("machine", "400 processes", "more than the paper's cases use"),
        Parameter("24.4 GB", "8 s a write", "section 2, Figure 1"),
    ],
    choices=[
        Choice("write", "How long is an uncontended write of 11.9 GB in C and D (4.7 s in section 2, 8.49 s in 5.1)?",
               {4.7: "4.7 s (section 2)", 8.49: "8.49 s (section 5.1, A)", 6.0: "6 s, which gives D its delay"},
               {4.7: ("2 alone", "2 at once"), 6.0: ("D delay, blocking",)}),
        Choice("pace", "Are the two applications of C identical (section 5.1)?",
               {"in step": "yes", "apart": "the second computes 2.45 % faster"}, {"apart": ("C delay, blocking",)}),
    ],
    crossing={"seed": SEEDS},
    draws=60,
    varying={"seed": [0]},
    figures=[
        Writers("figure-1"),
        Shift("figure-13"),
        Bars("figure-14", "C", "execution time (s)", ("cpu", "transfer", "delay")),
        Bars("figure-15", "D", "I/O time (s)", ("transfer", "delay")),
        Bars("figure-16", "D", "execution time (s)", ("cpu", "transfer", "delay")),
        Excluded("use-case-c"),
    ],
    notes=[
        "two identical applications that wait for each other do so once: the one that waited is behind by one write "
        "from then on. In C blocking therefore costs hardly more than shifting; see docs/models.md",
    ],
)  # fmt: skip
