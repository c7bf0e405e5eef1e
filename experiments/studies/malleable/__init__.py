"""Singh & Carretero 2019, sections 2 and 5.1: I/O phases that collide, and what blocking, shifting, coupling do.

Tolerances follow from how well the paper repeats itself: its I/O phases came up to 0.9 s off their predictions (1 s for
times, but no more than half of the value, so that nothing at all is no agreement), three repetitions ended with 57, 59
and 59 processes (1 process), percentages are whole (0.5).
"""

from __future__ import annotations

from spillway.experiments.studies.claims import Choice, Claim, Parameter, Region, at_least, at_most, between, within
from spillway.experiments.studies.malleable.cases import APART, play, same
from spillway.experiments.studies.malleable.figures import Bars, Shift, Writers
from spillway.experiments.studies.measures import change, mean
from spillway.experiments.studies.study import SEEDS, Computed, Study

A = {"case": "A", "control": "watch"}
B = {"case": "B", "control": "shifting"}
C = {"case": "C", "control": "shifting"}
D = {"case": "D", "control": "shifting"}
COUPLED = {"case": "D", "control": "coupling"}
BASELINE, BLOCKING, SHIFTING = ({"control": name} for name in ("baseline", "blocking", "shifting"))


def seconds(value: float) -> Region:
    """A published time."""
    return within(value, min(1.0, value / 2))


def ten_seconds(value: float) -> Region:
    """A published time that is a multiple of ten."""
    return within(value, 5)


def processes(value: float) -> Region:
    """A published number of processes."""
    return within(value, 1)


def whole(value: float) -> Region:
    """A published percentage, or a count that is a mean."""
    return within(value, 0.5)


SECTION_2 = [
    Claim("2 at once", "2", "two writes of 11.9 GB that begin together take this each", seconds(9.2),
          mean("io_1", case=f"{APART}0"), "s", depends=("write",), exact=True),
    Claim("2 alone", "2", "one that begins 10 s after the other", seconds(4.7), mean("io_2", case=f"{APART}10"),
          "s", depends=("write",), exact=True),
]  # fmt: skip

CASE_A = [
    Claim("A start 1", "5.1", "predicted start of application 1's I/O phase", seconds(903.2),
          mean("predicted_1", **A), "s"),
    Claim("A start 2", "5.1", "predicted start of application 2's I/O phase", seconds(911.0),
          mean("predicted_2", **A), "s"),
    Claim("A error", "5.1", "mean error of both predictions (0.2 and 0.9 s)", within(0.55, 0.35),
          mean("error", **A), "s"),
    Claim("A detected", "5.1", "their collision is predicted at", ten_seconds(810), mean("detected", **A), "s"),
]  # fmt: skip

CASE_B = [
    Claim("B shifts", "5.1", "one phase shift", whole(1), mean("shifts", **B)),
    Claim("B decided", "5.1", "it is decided at", ten_seconds(690), mean("decided", **B), "s"),
    Claim("B chosen", "5.1", "application 1 is shifted", within(1, 0), mean("chosen", **B)),
    Claim("B expected", "5.1", "without it the phase would have begun at", seconds(782.4), mean("expected", **B),
          "s"),
    Claim("B extra", "5.1", "processes created for the shift", processes(24), mean("extra", **B)),
    Claim("B advanced", "5.1", "the phase begins earlier by", seconds(3.4), mean("advanced", **B), "s"),
    Claim("B after", "5.1", "further I/O phases that collide", within(0, 0), mean("overlaps_after", **B)),
]  # fmt: skip

CASE_C = [
    Claim("C I/O 1, blocking", "5.1", "I/O time of application 1 with I/O blocking", whole(-39),
          change("io_1", BLOCKING, BASELINE, case="C"), "%"),
    Claim("C I/O 2, blocking", "5.1", "I/O time of application 2 with I/O blocking, delays included", whole(-25),
          change("io_2", BLOCKING, BASELINE, case="C"), "%"),
    Claim("C I/O 1, shifting", "5.1", "I/O time of application 1 with phase shifting", whole(-49),
          change("io_1", SHIFTING, BASELINE, case="C"), "%"),
    Claim("C I/O 2, shifting", "5.1", "I/O time of application 2 with phase shifting, delays included", whole(-41),
          change("io_2", SHIFTING, BASELINE, case="C"), "%"),
    Claim("C writes 2", "5.1", "the same without delays", whole(-45),
          change("transfer_2", SHIFTING, BASELINE, case="C"), "%"),
    Claim("C delay, blocking", "5.1", "delay with I/O blocking", seconds(64.7),
          mean("delay", case="C", control="blocking"), "s"),
    Claim("C delay, shifting", "5.1", "delay with phase shifting", seconds(18), mean("delay", **C), "s"),
    Claim("C shifts", "5.1", "one phase shift removes the conflicts", whole(1), mean("shifts", **C)),
    Claim("C extra", "5.1", "processes created for it", processes(21), mean("extra", **C)),
    Claim("C held", "5.1", "they are kept for", seconds(156.1), mean("held", **C), "s"),
    Claim("C after", "5.1", "no delay after the reconfiguration", within(0, 0), mean("delay_after", **C), "s"),
    Claim("C CPU 1", "5.1", "application 1 computes for less time than without control", at_most(0),
          change("cpu_1", SHIFTING, BASELINE, case="C"), "%"),
    Claim("C gain", "1, 6.2", "phase shifting improves on I/O blocking: less I/O time of both", at_most(0),
          change("io", SHIFTING, BLOCKING, case="C"), "%"),
]  # fmt: skip

CASE_D = [
    Claim("D delay, blocking", "5.1", "delay with I/O blocking", seconds(25.1),
          mean("delay", case="D", control="blocking"), "s"),
    Claim("D delay, shifting", "5.1", "delay with phase shifting", seconds(11.0), mean("delay", **D), "s"),
    Claim("D delay, coupling", "5.1", "delay with period coupling", seconds(0.7), mean("delay", **COUPLED), "s"),
    Claim("D I/O", "5.1", "I/O blocking reduces the I/O time", at_most(0), change("io", BLOCKING, BASELINE, case="D"),
          "%"),
    Claim("D shifts", "5.1", "phase shifts per execution", whole(4), mean("shifts", **D)),
    Claim("D least", "5.1", "fewest processes created by a shift", processes(14), mean("least_extra", **D)),
    Claim("D most", "5.1", "most processes created by a shift", processes(104), mean("most_extra", **D)),
    Claim("D coupled", "5.1", "processes of application 2 after the coupling", between(57, 59),
          mean("size_2", **COUPLED)),
    Claim("D period 1", "5.1", "computation of application 1 in a period after the coupling", seconds(67.40),
          mean("period_1", **COUPLED), "s"),
    Claim("D period 2", "5.1", "the same of application 2", seconds(67.74), mean("period_2", **COUPLED), "s"),
    Claim("D coupled shifts", "5.1", "phase shifts after the coupling", whole(1), mean("shifts", **COUPLED)),
    Claim("D run 1", "5.1, Fig. 16", "I/O blocking shortens application 1", at_most(0),
          change("run_1", BLOCKING, BASELINE, case="D"), "%"),
    Claim("D run 2", "5.1, Fig. 16", "and slightly prolongs application 2", at_least(0),
          change("run_2", BLOCKING, BASELINE, case="D"), "%"),
    Claim("D run", "5.1, Fig. 16", "phase shifting shortens both", at_most(0),
          change("run", SHIFTING, BASELINE, case="D"), "%"),
    Claim("D uneven", "5.1, Fig. 16", "after the coupling execution times are similar (as 59 and 64 processes are)",
          at_most(100 * (64 / 59 - 1)), mean("uneven", **COUPLED), "%"),
]  # fmt: skip

SECTION_7 = [
    Claim("7 I/O", "7", "less I/O time than with I/O blocking, up to (D, both applications)", whole(-10),
          change("io", SHIFTING, BLOCKING, case="D"), "%"),
    Claim("7 delay", "7", "less delay than with I/O blocking (D: 25.1 to 11.0 s)", whole(-56),
          change("delay", SHIFTING, BLOCKING, case="D"), "%"),
]  # fmt: skip

STUDY = Study(
    name="malleable",
    title="Singh & Carretero 2019: I/O interference and malleability",
    source="D. E. Singh, J. Carretero, J. Syst. Softw. 148, 2019 (DOI 10.1016/j.jss.2018.11.006), sections 2, 5.1, 7",
    play=Computed(play, same=same, batch=4),
    grids=[
        {"case": [f"{APART}{delay}" for delay in range(11)], "control": ["baseline"], "seed": [0]},
        {"case": ["A"], "control": ["watch"], "seed": SEEDS},
        {"case": ["B"], "control": ["baseline", "shifting"], "seed": SEEDS},
        {"case": ["C"], "control": ["baseline", "blocking", "shifting"], "seed": SEEDS},
        {"case": ["D"], "control": ["baseline", "blocking", "shifting", "coupling"], "seed": SEEDS},
    ],
    claims=[*SECTION_2, *CASE_A, *CASE_B, *CASE_C, *CASE_D, *SECTION_7],
    quick={"seed": [0, 1]},
    parameters=[
        Parameter("write", "4.7 s by itself, two at once share the file system", "section 2 has both times",
                  "4.7 s (section 2)"),
        Parameter("curve", "32.27 / n + 0.1698 s per iteration", "no curve is given; two periods fix it",
                  "903.2 s (A) and 67.40 s (D)"),
        Parameter("A: I/O every", "250 iterations", "the eighth phase begins at 903.2 s", "903.2 s (A)"),
        Parameter("A, B: application 2", "1.1406 of the work, 21.4 and 21.0 s later", "its period is 1.7 s shorter",
                  "911.0 s (A), one shift of 3.4 s (B)"),
        Parameter("overhead", "1.3 s a reconfiguration", "24 processes save 3.4 s and two of them", "24 and 3.4 s (B)"),
        Parameter("C: I/O every", "80 iterations", "450 s of I/O without control are 49 phases of 9.2 s",
                  "18 s, 41 and 45 % (C)"),
        Parameter("C: application 2", "0.2 s later", "9.2 s in place of twice 4.7 s", "9.2 s (section 2)"),
        Parameter("D: I/O every", "100 iterations, application 2 3 s later", "67.40 s of computation", "67.40 s (D)"),
        Parameter("D: application 2", "0.908 of the work", "the period of application 1 takes 58 processes",
                  "57 to 59 processes (D)"),
        Parameter("control points", "5 in a period", "Figure 4 has four"),
        Parameter("variation", "0.5 % per interval", "the paper states low variability and no number"),
        Parameter("machine", "400 processes", "more than the paper's cases use"),
    ],
    choices=[
        Choice("writes", "How long does a write of the one file of 11.9 GB take by itself?",
               {"stated": "8.49 s in A and B (section 5.1), 4.7 s in C and D (section 2)",
                "fitted": "the same, but 6.0 s in D", "long": "8.49 s in all"},
               {"fitted": "25.1 s (D)"}),
        Choice("pace", "Are the two applications of C identical (section 5.1)?",
               {"in step": "yes", "apart": "the second computes 2.45 % faster"}, {"apart": "64.7 s (C)"}),
    ],
    crossing={},
    figures=[
        Writers("figure-1"),
        Shift("figure-13"),
        Bars("figure-14", "C", "execution time (s)", ("cpu", "transfer", "delay")),
        Bars("figure-15", "D", "I/O time (s)", ("transfer", "delay")),
        Bars("figure-16", "D", "execution time (s)", ("cpu", "transfer", "delay")),
    ],
    notes=[
        "two identical applications that wait for each other do so once: the one that waited is behind by one write "
        "from then on. In C blocking therefore costs hardly more than shifting; see docs/malleable.md",
    ],
)  # fmt: skip
