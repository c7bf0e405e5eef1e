"""Maximising utilisation: hand-computed passes, nothing over-committed, better than filling, always the same."""

from spillway.schedulers.model.explanations import PassNotes, Role
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policies.maxutil import MaxUtil
from tests.schedulers.policies.scenes import GB, job, started, view

MACHINE = simple_machine(10, 2, 10 * GB)


def test_notes_say_why_jobs_wait() -> None:
    """The first job is reserved, the chosen are backfilled, the others passed over."""
    notes = PassNotes()
    busy = [job(9, 4, 100.0)]
    queue = [job(0, 10, 50.0), job(1, 6, 101.0), job(2, 3, 100.0), job(3, 2, 100.0)]
    started(MaxUtil(), view(MACHINE, queue, busy=busy, notes=notes))
    assert {name: note.role for name, note in notes.notes.items()} == {
        "w0!0": Role.RESERVED,
        "w0!1": Role.PASSED_OVER,
        "w0!2": Role.BACKFILLED,
        "w0!3": Role.BACKFILLED,
    }
