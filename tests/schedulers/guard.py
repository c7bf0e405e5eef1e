"""The core's guard against a book alone, without a session."""

from typing import Any

import spillway.core as native
from spillway.base.errors import DecisionRefused
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.guard import check_layers
from spillway.schedulers.core.words import Numbers, refusal
from spillway.schedulers.model.job import Allocation, Job


class _Words:
    """Raises the core's refusals about one book in words."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def _refuse(self, code: int, job_id: str, *numbers: Any) -> None:
        raise refusal(code, job_id, Numbers(self._book, 0.0, "", *numbers))


def check_start(book: Book, job: Job, allocation: Allocation) -> None:
    """Refuse to start a waiting job on an allocation that is not free, too small or too large."""
    native.check_start(_Words(book), book, True, job, job.nodes, allocation)
    check_layers(book, job, allocation)


def why_not(book: Book, job: Job, allocation: Allocation) -> str | None:
    """Return the reason why a job cannot be given an allocation now; ``None`` when it can."""
    try:
        check_start(book, job, allocation)
    except DecisionRefused as refused:
        return refused.reason
    return None
