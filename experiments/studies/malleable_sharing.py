"""Singh & Carretero 2019, sections 5.2 and 7: idle processes shared among four applications by three rules.

Percentages are whole in the paper, so 0.5 are allowed on both sides; everything else that it states is an order.
"""

from __future__ import annotations

from dataclasses import replace

from spillway.experiments.studies.claims import Choice, Claim, Parameter, at_least, at_most, within
from spillway.experiments.studies.malleable.four import COMMUNICATIONS, TOTALS, play, same
from spillway.experiments.studies.malleable.jacobi import OVERHEAD_S
from spillway.experiments.studies.malleable.sharing_figure import draw
from spillway.experiments.studies.measures import change, difference, largest, mean
from spillway.experiments.studies.study import SEEDS, Computed, Study

FAIR, SPEEDUP, IO = ({"rule": rule} for rule in ("fair", "speed-up", "I/O"))
EACH = {"processes": TOTALS}
ORDER = ("speed-up over fair", "I/O over speed-up")
"""Claims by which readings were chosen, of 75 combinations."""
OPEN = ("weight", "order", "communication", "overhead")
"""Choices and parameters that all claims but those of Table 2 depend on."""
RATIOS = {"A1": 3.5, "A2": 10.8, "A3": 6.0, "A4": 11.0}
"""Table 2, in percent."""

TABLE = [
    Claim(f"ratio {name}", "Table 2, Eq. 3", f"I/O ratio of {name} (one digit is printed, cut off)",
          within(value, 0.1), mean(f"ratio_{name}", processes=36, **FAIR), "%", depends=(), exact=True)
    for name, value in RATIOS.items()
]  # fmt: skip

_WHO_GETS = [
    Claim("all to A1", "5.2, Fig. 17", "36 processes: I/O-based gives all 8 idle ones to A1", within(8, 0),
          mean("gained_A1", processes=36, **IO)),
    Claim("A1 and A3", "5.2, Fig. 17", "82 and 135: A1 and A3 get some by I/O-based", at_least(1),
          mean("least_of_A1_A3", **IO), each={"processes": (82, 135)}),
    Claim("all four", "5.2, Fig. 17", "210: all get some by I/O-based", at_least(1),
          mean("least_of_all", processes=210, **IO)),
    Claim("A1, A3 more", "5.2, Fig. 17", "210: A1 and A3 each get more than A2 and A4", at_least(1),
          mean("A1_A3_over_A2_A4", processes=210, **IO)),
    Claim("A3 least", "5.2, Fig. 17", "speed-up-based gives A1, A2 and A4 more than A3", at_least(1),
          mean("A3_behind", **SPEEDUP), each=EACH),
]  # fmt: skip

DELAYS = [
    Claim("delay I/O, fair", "5.2, Fig. 18", "in general less delay by I/O-based than by fair", at_most(0),
          difference("delay", IO, FAIR), "s"),
    Claim("delay speed-up, fair", "5.2, Fig. 18", "speed-up-based lies between: no more than fair", at_most(0),
          difference("delay", SPEEDUP, FAIR), "s"),
    Claim("delay speed-up, I/O", "5.2, Fig. 18", "and no less than I/O-based", at_least(0),
          difference("delay", SPEEDUP, IO), "s"),
]  # fmt: skip

FLOPS = [
    Claim("speed-up over fair", "5.2, Fig. 19", "more FLOPS by speed-up-based than by fair", at_least(0),
          change("flops", SPEEDUP, FAIR), "%", each=EACH),
    Claim("I/O over speed-up", "5.2, Fig. 19", "most by I/O-based: more than by speed-up-based", at_least(0),
          change("flops", IO, SPEEDUP), "%", each=EACH),
    Claim("10 %", "1, 7", "I/O-based over fair, up to", within(10, 0.5),
          largest(change("flops", IO, FAIR), "processes", TOTALS), "%"),
    Claim("8 %", "7", "I/O-based over speed-up-based, up to", within(8, 0.5),
          largest(change("flops", IO, SPEEDUP), "processes", TOTALS), "%"),
]  # fmt: skip

STUDY = Study(
    name="malleable-sharing",
    title="Singh & Carretero 2019: idle processes shared among four applications",
    source="D. E. Singh, J. Carretero, J. Syst. Softw. 148, 2019 (DOI 10.1016/j.jss.2018.11.006), sections 5.2 and 7",
    play=Computed(play, same=same, batch=4),
    grids=[{"processes": TOTALS, "rule": ["fair", "speed-up", "I/O"], "seed": SEEDS}],
    claims=[*TABLE, *(replace(claim, depends=OPEN) for claim in (*_WHO_GETS, *DELAYS, *FLOPS))],
    quick={"processes": [36, 82], "seed": [0]},
    parameters=[
        Parameter("entry", "1.17e-8 s per entry of the matrix", "Table 2: the same for A1, A2 and A4"),
        Parameter("iterations", "100 between two I/O phases, A3 340", "Table 2's CPU times at that speed"),
        Parameter("overhead", OVERHEAD_S, "seconds of a reconfiguration: from 24 processes and 3.4 s of use case B, no "
                  "number of section 5.2", between=(0.3, 3.0)),
        Parameter("file system", "a write takes Table 2's time with any number of processes", "nothing is stated"),
        Parameter("span", "1,500 s, 300 s of them not counted", "about 20 periods of the slowest"),
    ],
    choices=[
        Choice("weight", "How are the gain in speed-up and the I/O ratio r balanced (Algorithm 6)?",
               {1.0: "gain / r", 2.0: "gain / r^2", 0.5: "gain / sqrt(r)"}, {2.0: ORDER}),
        Choice("order", "Which application writes next when several wait (5.2; not said)?",
               {"fifo": "the first to come", "shortest": "the one with least to write"}, {"shortest": ORDER}),
        Choice("communication", "How much of a CPU time is communication (Table 2; not said)?",
               {name: f"{process:g} s per process and {row:g} s per row"
                for name, (process, row) in COMMUNICATIONS.items()},
               dict.fromkeys(("picked", "half"), ORDER)),
    ],
    crossing={},
    draws=10,
    varying={"seed": [0, 1]},
    figures=[draw],
    notes=["fabric follows from section 5 alone; picked, with weight 2 and the smallest write first, were the best of "
           "75 combinations, and half is half of picked"],
)  # fmt: skip
