"""Points of the study, with changes."""

from spillway.experiments.studies import Point
from spillway.experiments.studies.jeannot import STUDY
from spillway.experiments.studies.points import Value


def point(**changes: Value) -> Point:
    """The first point of the study with other values of some axes."""
    return STUDY.points()[0].replaced(**changes)
