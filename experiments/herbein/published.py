"""What the paper states, with the section; nothing is read off its figures.

Herbein et al., *Scalable I/O-aware job scheduling for burst buffer enabled HPC clusters*, HPDC 2016
(DOI 10.1145/2907294.2907316), EASY backfilling on CTS-1, 2,500 jobs.
"""

from __future__ import annotations

from dataclasses import dataclass

PROVISIONINGS = ("cts1", "cts1-10", "cts1-20", "cts1-30")
"""Platforms by falling bandwidth of the file system: 70, 63, 56, 49 GB/s."""

IGNORANT, AWARE = "ignorant", "aware"


@dataclass(frozen=True, slots=True)
class Published:
    """One figure of the paper.

    Attributes
    ----------
    platform, scheduler
        One of :data:`PROVISIONINGS`; :data:`IGNORANT`, :data:`AWARE`, or "" for a ratio of both.
    quantity
        Column of our summary.
    text
        The value as the paper states it.
    section
        Where it does.
    """

    platform: str
    scheduler: str
    quantity: str
    text: str
    section: str


VALUES = (
    Published("cts1", IGNORANT, "computing_percent", "100", "5.2"),
    Published("cts1-30", IGNORANT, "computing_percent", "79.1", "5.2"),
    *(Published(platform, AWARE, "computing_percent", "100", "5.2") for platform in PROVISIONINGS),
    Published("cts1", IGNORANT, "least_job_percent", "100", "5.3"),
    Published("cts1-30", IGNORANT, "least_job_percent", "66.7", "5.3"),
    *(Published(platform, AWARE, "least_job_percent", "100", "5.3") for platform in PROVISIONINGS),
    *(Published(platform, IGNORANT, "contended_percent", "55-65", "4.4") for platform in PROVISIONINGS[1:]),
    *(Published(platform, AWARE, "contended_percent", "0", "4.4") for platform in PROVISIONINGS),
    *(Published(platform, IGNORANT, "decision_p75_s", "0.07 s", "5.4") for platform in PROVISIONINGS),
    *(Published(platform, IGNORANT, "decision_p95_s", "1.43 s", "5.4") for platform in PROVISIONINGS),
    *(Published(platform, AWARE, "decision_p75_s", "0.12 s", "5.4") for platform in PROVISIONINGS),
    *(Published(platform, AWARE, "decision_p95_s", "1.97-6.64 s", "5.4") for platform in PROVISIONINGS),
    Published("cts1", "", "efficiency_ratio", "1.00", "5.5"),
    Published("cts1", "", "turnaround_ratio", "1.00", "5.5"),
    Published("cts1-30", "", "efficiency_ratio", "1.29", "5.5"),
    Published("cts1-30", "", "turnaround_ratio", "1.52", "5.5"),
    Published("cts1", IGNORANT, "state_change_s", "31.7", "5.4"),
)
"""Everything that the paper gives as a number. Its efficiency ratio of 1.29 is not that of its own shares of computing
time (100 / 79.1 = 1.26); how the two are averaged is not stated. Ours is the ratio of the shares."""


def published(platform: str, scheduler: str, quantity: str) -> str:
    """The paper's value, "" where it states none."""
    found = [value.text for value in VALUES if (value.platform, value.scheduler, value.quantity) == (
        platform, scheduler, quantity
    )]  # fmt: skip
    return found[0] if found else ""
