"""Jeannot, Pallez and Vidal 2023: list and pack scheduling of applications that take turns at the file system."""

from __future__ import annotations

from spillway.experiments.studies import SEEDS, Choice, Computed, Parameter, Study
from spillway.experiments.studies.jeannot.claims import CLAIMS
from spillway.experiments.studies.jeannot.figures import FIGURES
from spillway.experiments.studies.jeannot.play import USUAL, play, policies, same
from spillway.workloads.jeannot import FAMILIES

CHOICES = (
    Choice(
        "volume",
        "volumes are scaled by the share of the processors (I/O behavior generation), but the mean size of the uniform "
        "protocol follows without it (Uniform generation protocol)",
        {
            "proportional": "v = X w Q / P, as printed: jobs that fit on the processors fit in the bandwidth, too",
            "whole": "v = X w: jobs that fit on the processors may need more bandwidth than there is",
        },
    ),
    Choice(
        "sizes",
        "sizes of U are uniform in 1, 2, 4 ... 2048 and have a mean of P E / (alpha (1 + E)) (Uniform generation "
        "protocol)",
        {
            "uniform": "all sizes alike",
            "formula": "the largest sizes, so that the mean is that: at most alpha (1 + E) / E jobs run at a time",
        },
        crossed=False,
    ),
    Choice(
        "shares",
        "the share of I/O of No is normal, and 0.1 is called its variance and sigma (I/O behavior generation)",
        {"variance": "a variance of 0.1, as BN has it", "deviation": "a standard deviation of 0.1"},
        crossed=False,
    ),
    Choice(
        "durations",
        "durations on Mira have a variance of ten percent of the median, a time (Mira-based generation protocol)",
        {"deviation": "a standard deviation of a tenth of it", "variance": "a variance of a tenth of it, in hours"},
        crossed=False,
    ),
    Choice(
        "limit",
        "the median is 1 h below 4K nodes and 2 h from 4K to 16K: 4,096 are either (Mira-based generation protocol)",
        {"long": "2 h", "short": "1 h"},
        crossed=False,
    ),
    Choice(
        "list",
        "lists and packs are backfilled if an application fits (Backfilling); whether a waiting job has a reservation "
        "is not said",
        {"reserve": "the first waiting job has a reservation", "greedy": "every job that fits starts, in order"},
        crossed=False,
    ),
)
assert {choice.axis: choice.usual for choice in CHOICES} == USUAL

STUDY = Study(
    name="jeannot",
    title="List and pack scheduling with exclusive I/O",
    source="Jeannot, Pallez, Vidal, IO-aware Job-Scheduling, IJHPCA 2023, DOI 10.1177/10943420231175854",
    play=Computed(play, policies=policies, batch=20, same=same),
    grids=[
        {
            "family": FAMILIES,
            "load": [0.2, 0.4, 0.6, 0.8],
            "jobs": [100],
            "kinds": ["independent"],
            "literal": [False],
            "constraint": ["average"],
            "io_control": ["exclusive"],
            "io_order": ["fifo"],
            "policy": ["LS", "Random", "Max", "Char"],
            "seed": range(40),
        }
    ],
    claims=CLAIMS,
    quick={"load": [0.2, 0.8], "seed": SEEDS},
    choices=CHOICES,
    crossing={"seed": range(10)},
    parameters=[
        Parameter("jobs", "100", "the paper does not state it"),
        Parameter("load", "volumes times one factor for a family", "else truncation moves the load away from alpha"),
        Parameter("steady state", "from 0.1 to 0.6 of the execution", "the paper does not say where it lies"),
        Parameter("constant", "changes by at most 10 %", "the paper gives no number"),
        Parameter("same pace", "slopes within 25 % of each other", "the paper gives no number"),
    ],
    figures=FIGURES,
)
