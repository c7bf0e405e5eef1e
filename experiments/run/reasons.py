"""Records the passes' notes on waiting jobs: ``reasons.csv``, one row per changed note, and ``priorities.csv``."""

from __future__ import annotations

import csv
from pathlib import Path

from spillway.experiments.run.recorder import Recorder, open_table
from spillway.protocol.messages import JobState
from spillway.schedulers.model.explanations import Note, PassNotes, Priority
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Running

REASONS = "reasons.csv"
REASON_COLUMNS = ("job_id", "workload_name", "time_s", "role", "binding", "estimate_s", "blocker")
PRIORITIES = "priorities.csv"
_PRIORITY_COLUMNS = ("job_id", "workload_name", "time_s", *Priority._fields)
"""Columns of ``priorities.csv``, which is written only if a policy considered jobs in the order of their priorities."""


class ReasonRecorder(Recorder):
    """A recorder that also writes ``reasons.csv``; the session must have been made with ``explain``.

    A row has a job's role in a pass (``role``), the resource or rule that delayed it (``binding``, empty when it
    started), its expected start by the policy (empty without an estimate), and the job whose reservation blocked it.
    ``priorities.csv`` has the terms of each job's priority in the first and in the last pass that considered it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._reasons = open_table(folder / REASONS)
        self._reason_rows = csv.writer(self._reasons, lineterminator="\n")
        self._reason_rows.writerow(REASON_COLUMNS)
        self._last: dict[str, Note] = {}
        self._folder = folder
        self._first_seen: dict[str, tuple[float, Priority]] = {}
        self._last_seen: dict[str, tuple[float, Priority]] = {}
        self._priorities: list[tuple[str, ...]] = []

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Record a job's allocation; notes of an earlier attempt no longer suppress rows."""
        super().started(job, allocation, now_s)
        self._last.pop(job.id, None)

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Record the priorities of a job that has ended."""
        super().ended(running, state, now_s)
        self._keep(running.job.id)

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Record the priorities of a job that was rejected while it waited."""
        super().rejected(job, reason, now_s)
        self._keep(job.id)

    def notes(self, now_s: float, notes: PassNotes) -> None:
        """Record the changes in a pass's notes."""
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

        for job_id, priority in notes.priorities.items():
            self._first_seen.setdefault(job_id, (now_s, priority))
            self._last_seen[job_id] = now_s, priority

    def close(self) -> None:
        """Finish the files."""
        for job_id in [*self._first_seen]:
            self._keep(job_id)
        super().close()
        self._reasons.close()
        if self._priorities:
            with open_table(self._folder / PRIORITIES) as stream:
                csv.writer(stream, lineterminator="\n").writerows((_PRIORITY_COLUMNS, *self._priorities))

    def _keep(self, job_id: str) -> None:
        """Record a job's first and last priority, if it had one."""
        if job_id not in self._first_seen:
            return
        workload, _, name = job_id.partition("!")
        first, last = self._first_seen.pop(job_id), self._last_seen.pop(job_id)
        for time_s, (priority, *terms, assumed) in (first, last) if first != last else (first,):
            texts = (f"{term:.6f}" for term in terms)
            self._priorities.append((name, workload, f"{time_s:.6f}", str(priority), *texts, assumed))
