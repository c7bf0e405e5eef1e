"""The transfer study on the odd periods, which are used to choose settings, with ablations of our plans."""

from __future__ import annotations

from spillway.experiments.studies.transfer import study
from spillway.experiments.studies.transfer.play import ABLATIONS, POLICIES, PREDICTIONS

STUDY = study(
    "transfer-choosing", "Planning on periods used to choose settings", 1, [*POLICIES, *ABLATIONS, *PREDICTIONS], 1
)
