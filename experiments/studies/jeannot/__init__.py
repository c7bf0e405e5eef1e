"""Jeannot, Pallez and Vidal 2023: list and pack scheduling of applications that take turns at the file system."""

from dataclasses import replace
from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.jeannot.play import play, policies
from spillway.experiments.studies.jeannot.statements import EfficientStretch, FewestJobs, Pace, Symptom
from spillway.experiments.studies.study import ComputedPoints
from spillway.workloads.models.jeannot import FAMILIES

_READ = read_study(
    Path(__file__).with_name("study.toml"),
    ComputedPoints(play, policies=policies, batch=20),
    measures={"fewest": FewestJobs, "symptom": Symptom, "efficient": EfficientStretch, "pace": Pace},
)
STUDY = replace(_READ, claims=sorted(_READ.claims, key=lambda claim: FAMILIES.index(claim.name.partition(":")[0])))
"""Claims family by family; families are not pooled."""
