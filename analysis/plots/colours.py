"""Colours of policies and jobs: the same in every picture, page and report, whichever others are shown.

References
----------
Okabe, Ito, *Color universal design*, 2008; Tol, *Colour schemes*, SRON/EPS/TN/09-002, 2021 (both made for readers
with every common colour blindness).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from spillway.analysis.tables.jobs import JobTable

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#6B6B6B", "#332288", "#882255")
"""Okabe and Ito's colours, then two of Tol's: for names other than policies."""

NODES = "#0072B2"
"""Compute nodes, in charts with burst buffers."""

STORAGE = "#E69F00"
"""Burst buffers."""

OF_TIMES = {"cpu": NODES, "transfer": STORAGE, "delay": "#D55E00"}
"""Parts of a job's time: computation, I/O, waiting for its turn."""

RAMP = ("#281C9B", "#5080BA", "#ADD2FF", "#FFC48F", "#ED7B26", "#7C1723")
"""From little to much: short waits, small jobs, small buffers come first. All steps, and the grey of :data:`NOTHING`,
are far from each other, also in dichromatic vision."""

NOTHING = "#C9C9CF"
"""A quantity of 0, or a name that is not in the legend."""

OF_POLICIES = {
    "replay": "#111111",
    "fcfs": "#0072B2",
    "filler": "#E69F00",
    "filler-sjf": "#F0E442",
    "easy-no-bb": "#009E73",
    "easy": "#CC79A7",
    "sjf-easy": "#56B4E9",
    "conservative": "#332288",
    "maxutil": "#661100",
    "window": "#999933",
    "bbsched": "#8C6D31",
    "plan": "#D55E00",
    "plan-mean": "#AA4499",
    "plan-sum": "#882255",
    "plan-square": "#44AA99",
    "plan-cube": "#6B6B6B",
    "plan-start": "#DDCC77",
    "list": "#117733",
    "pack": "#CC6677",
    "gang": "#004488",
    "gang-io": "#BB5566",
    "gang-io-adaptive": "#DDAA33",
    "gang-io-migrate": "#228833",
    "slurm-backfill": "#6699CC",
}
"""Built-in policies; those that are often compared have the colours that are easiest to tell apart."""

OTHERS = (
    *("#67260C", "#C1C476", "#5E244D", "#3A5C41", "#E2AFAE", "#AC713E", "#293871", "#376479", "#7792EE", "#64D1D7"),
    *("#F19A4B", "#83B478", "#9C3A11", "#48807C", "#766840", "#AB87C7", "#36499F", "#583224", "#6C4557", "#674F8D"),
    *("#0C7B60", "#279EA4", "#B8C499", "#3B4668", "#829821", "#B9914B", "#746F96", "#1C6402"),
)
"""For external policies and policies with options: far from each other and from the frequent colours above, also in
dichromatic vision."""


def colour_of(policy: str) -> str:
    """Colour (``#RRGGBB``) of a policy by its name in the results.

    A name that is not in the table (an external policy, one with options) has one of 28 colours, which follows from
    the name; two such names can have the same colour.
    """
    if policy in OF_POLICIES:
        return OF_POLICIES[policy]
    return OTHERS[int.from_bytes(hashlib.sha256(policy.encode()).digest()[:4], "big") % len(OTHERS)]


def in_order(names: Iterable[str]) -> dict[str, str]:
    """Colours for names other than policies, by their place; the palette repeats after its end."""
    return {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(names)}


@dataclass(frozen=True)
class Scale:
    """Steps of a quantity, each with a colour of the ramp.

    Attributes
    ----------
    borders
        Upper ends of all steps but the last, ascending.
    names
        Names of the steps, for a legend.
    zero
        Name of the value 0, which the report draws in grey; "": 0 is in the first step.
    """

    borders: tuple[float, ...]
    names: tuple[str, ...]
    zero: str = ""

    def colour(self, value: float) -> str:
        """Colour of a value."""
        return RAMP[sum(value > border for border in self.borders)]


WAIT = Scale((60.0, 600.0, 3600.0, 21_600.0, 86_400.0), ("≤ 1 min", "≤ 10 min", "≤ 1 h", "≤ 6 h", "≤ 1 day", "longer"))
SIZE = Scale((1, 4, 16, 64, 256), ("1", "≤ 4", "≤ 16", "≤ 64", "≤ 256", "more"))
BUFFER = Scale(
    (1e9, 1e10, 1e11, 1e12, 1e13), ("≤ 1 GB", "≤ 10 GB", "≤ 100 GB", "≤ 1 TB", "≤ 10 TB", "more"), zero="none"
)
"""Steps of waiting times (s), of requested nodes, and of the bytes of burst buffer over all nodes of a job."""


def by_wait(table: JobTable) -> list[str]:
    """Colours of jobs by waiting time, one for each row."""
    return [WAIT.colour(value) for value in table.wait_s.tolist()]
