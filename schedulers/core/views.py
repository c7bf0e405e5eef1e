"""The view that a policy gets in a pass, made of the records of the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from spillway.schedulers.core.book import Book
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.policykit.view import Running, View


class RunningJobs(Sequence[Running]):
    """Running jobs in order of their starts, as a sequence that is built only when a policy reads it."""

    __slots__ = ("_book", "_items")

    def __init__(self, book: Book) -> None:
        self._book = book
        self._items: tuple[Running, ...] | None = None

    def _get(self) -> tuple[Running, ...]:
        if self._items is None:
            self._items = tuple(self._book.running_jobs())
        return self._items

    def __len__(self) -> int:
        return self._book.running_count if self._items is None else len(self._items)

    def __iter__(self) -> Iterator[Running]:
        return iter(self._get())

    def __getitem__(self, index: Any) -> Any:
        return self._get()[index]


class Views:
    """Makes the views of one conversation.

    Parameters
    ----------
    session
        The conversation.
    terms
        See :class:`spillway.schedulers.core.session.Session`.
    """

    def __init__(self, session: Any, terms: Terms) -> None:
        self._session = session
        self._terms = terms
        self.rng = Random(terms.seed)

    def view(self) -> View:
        """The view of a pass that begins now; the book must have been advanced."""
        session = self._session
        book, pool = session.book, session.pool
        view = View(
            session.now_s,
            book.machine,
            session.line.shown(),
            RunningJobs(book),
            book.timeline.copy,
            self.rng,
            session.notebook,
            PassNotes() if self._terms.explain else None,
            book,
        )
        view.estimate_s, view.fewest_nodes = self._terms.estimator.estimate_s, self._terms.fewest_nodes
        view.held, view.filled_s, view.unavailable = book.held, session.filled_s, book.nodes_out
        if pool.requests or pool.buffers:
            view.pool = pool
        view.site = session.site
        if session.notices.rules.active:
            view.vacate = book.vacate
        if self._terms.lives is not None:
            view.stages_first = any(job.lives is not None for job in view.queue)
        return view
