"""Keeps what every pass noted about every waiting job: ``reasons.csv``, one row per change of mind."""

from __future__ import annotations

import csv
from pathlib import Path

from spillway.experiments.run.recorder import Recorder, open_table
from spillway.schedulers.model.explanations import Note, PassNotes
from spillway.schedulers.model.job import Allocation, Job

REASONS = "reasons.csv"
REASON_COLUMNS = ("job_id", "workload_name", "time_s", "role", "binding", "estimate_s", "blocker")


class ReasonRecorder(Recorder):
    """A recorder that also writes ``reasons.csv``; the session must have been made with ``explain``.

    A row has how a pass treated a job (``role``), what kept it from starting (``binding``, empty when it started),
    when the policy expected it to start (empty where it has no estimate), and which job's reservation was in the way.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._reasons = open_table(folder / REASONS)
        self._reason_rows = csv.writer(self._reasons, lineterminator="\n")
        self._reason_rows.writerow(REASON_COLUMNS)
        self._last: dict[str, Note] = {}

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Keep what a job was given."""
        super().started(job, allocation, now_s)
        self._last.pop(job.id, None)

    def notes(self, now_s: float, notes: PassNotes) -> None:
        """Keep what is new in a pass's notes."""
        for job_id, note in notes.notes.items():
            if self._last.get(job_id) == note:
                continue
            self._last[job_id] = note
            workload, _, name = job_id.partition("!")
            binding = "" if note.binding is None else note.binding.value
            estimate = "" if note.estimate_s is None else f"{note.estimate_s:.6f}"
            self._reason_rows.writerow(
                (name, workload, f"{now_s:.6f}", note.role.value, binding, estimate, note.blocker.partition("!")[2])
            )

    def close(self) -> None:
        """Finish the files."""
        super().close()
        self._reasons.close()
