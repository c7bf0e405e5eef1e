"""Log of a session's events in lines, as they happen (``spillway serve -v``)."""

from __future__ import annotations

from collections.abc import Callable

from spillway.protocol.intervals import format_intervals
from spillway.protocol.messages import JobState
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.explanations import Note, PassNotes
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Running


class Narrator(Observer):
    """Writes one line per submission, start, end and rejection; if the session explains, also why jobs wait.

    Parameters
    ----------
    write
        Receives each line.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._last: dict[str, Note] = {}

    def submitted(self, job: Job, now_s: float) -> None:
        """A job entered the queue."""
        each = f"in each of {job.stripes} stripes" if job.stripes else "each"
        buffers = f", {job.bb_bytes:.4g} B of burst buffer {each}" if job.bb_bytes else ""
        self._write(f"t = {now_s:g} s: {job.id} submitted: {job.nodes} nodes for {job.walltime_s:g} s{buffers}")

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """A job was refused for good."""
        self._write(f"t = {now_s:g} s: {job.id} rejected: {reason}")

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """A job started."""
        self._last.pop(job.id, None)
        waited_s = now_s - job.submit_time_s
        nodes = format_intervals(allocation.nodes)
        self._write(f"t = {now_s:g} s: {job.id} started on nodes {nodes} after waiting {waited_s:g} s")

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """A job ended."""
        took_s = now_s - running.start_s
        self._write(f"t = {now_s:g} s: {running.job.id} ended after {took_s:g} s: {state.value}")

    def interrupted(self, job: Job, what: str, reason: str, now_s: float, lost_node_s: float = 0.0) -> None:
        """An outage had consequences for a running job."""
        self._write(f"t = {now_s:g} s: {job.id} {what}: {reason}")

    def preempted(self, job: Job, by: str, what: str, told_s: float, now_s: float, lost_node_s: float) -> None:
        """A job was preempted for another one."""
        self._write(f"t = {now_s:g} s: {job.id} {what}: preempted by {by}, chosen at t = {told_s:g} s")

    def drained(self, storage: str, drained_bytes: int, left_bytes: int, now_s: float) -> None:
        """A part of a storage node is drained, or available again."""
        free = f"{left_bytes} B are free" if left_bytes >= 0 else f"nothing is free, {-left_bytes} B more are held"
        self._write(f"t = {now_s:g} s: storage node {storage}: {drained_bytes} B are drained, {free}")

    def notes(self, now_s: float, notes: PassNotes) -> None:
        """Write why jobs wait, each reason once until it changes."""
        for job_id, note in notes.notes.items():
            if note.binding is None or self._last.get(job_id) == note:
                continue
            self._last[job_id] = note
            blocker = f" of {note.blocker}" if note.blocker else ""
            start = "" if note.estimate_s is None else f", start expected at t = {note.estimate_s:g} s"
            self._write(f"t = {now_s:g} s: {job_id} waits ({note.role.value}): {note.binding.value}{blocker}{start}")
