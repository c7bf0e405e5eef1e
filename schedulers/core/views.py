"""The view that a policy gets in a pass, made of the records of the conversation."""

from __future__ import annotations

from random import Random

from spillway.schedulers.core.holdings import RunningJobs
from spillway.schedulers.core.records import Records
from spillway.schedulers.core.terms import JobTerms, Passes
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.policykit.view import View


class Views:
    """Makes the views of one conversation.

    Parameters
    ----------
    records
        The records that views are made of.
    passes, jobs
        See :class:`spillway.schedulers.core.session.Session`.
    """

    def __init__(self, records: Records, passes: Passes, jobs: JobTerms) -> None:
        self._records = records
        self._passes = passes
        self._jobs = jobs
        self.rng = Random(passes.seed)

    def view(self) -> View:
        """The view of a pass that begins now; the book must have been advanced."""
        records = self._records
        book, queue, pool = records.book, records.queue, records.pool
        view = View(
            records.now_s,
            book.machine,
            queue.shown(),
            RunningJobs(book.running),
            book.timeline.copy,
            self.rng,
            records.notebook,
            PassNotes() if self._passes.explain else None,
            self._passes.estimator.estimate_s,
            self._jobs.fewest_nodes,
            book.held,
            frozenset(book.nodes_out),
            book,
            records.filled_s,
        )
        if pool.requests or pool.buffers:
            view.pool = pool
        view.demands, view.changes, view.site = queue.demands, self._changes, records.site
        if records.notices.rules.active:
            view.vacate = book.vacate
        if self._jobs.lives is not None:
            view.stages_first = any(job.lives is not None for job in view.queue)
        return view

    def _changes(self) -> int:
        """Number of changes that a policy sees; jobs added at the end of the queue do not count."""
        return self._records.book.timeline.changes + self._records.queue.changes
