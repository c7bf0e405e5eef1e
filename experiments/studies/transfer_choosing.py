"""The transfer study on the odd periods, with each part of our plans left out: where settings are chosen."""

from __future__ import annotations

from spillway.experiments.studies.transfer import study
from spillway.experiments.studies.transfer.play import ABLATIONS, POLICIES, PREDICTIONS

STUDY = study("transfer-choosing", "Planning on the periods that choose", 1, [*POLICIES, *ABLATIONS, *PREDICTIONS], 1)
