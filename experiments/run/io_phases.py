"""I/O phases of malleable applications, with their predictions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from spillway.base import durable
from spillway.schedulers.jobmodels.app_record import AppRecord

PHASES = "io_phases.csv"
"""One row per I/O phase: the times at which the application was ready, began and ended, and the earlier prediction."""

_PHASE_COLUMNS = (
    "job_id",
    "asked_s",
    "begin_s",
    "end_s",
    "nodes",
    "predicted_start_s",
    "predicted_duration_s",
    "error_s",
)
"""``error_s`` is the standard error that the prediction stated; the last three are empty without a prediction."""


def write_phases(folder: Path, records: Iterable[AppRecord]) -> None:
    """Write :data:`PHASES`, applications in the order of their ends."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_PHASE_COLUMNS)
    for record in records:
        for phase in record.phases:
            guess = phase.predicted
            known = ("", "", "") if guess is None else (guess.start_s, guess.duration_s, guess.error_s)
            values = (phase.asked_s, phase.begin_s, phase.end_s, phase.nodes, *known)
            writer.writerow(
                (record.job.id, *(f"{value:.6f}" if isinstance(value, float) else value for value in values))
            )
    durable.write_text(folder / PHASES, text.getvalue(), sync=False)
