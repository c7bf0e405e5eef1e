"""A running malleable application: its nodes by use, agreed changes of size, and observations."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

from spillway.schedulers.applications.application import Application
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.prediction import Phase, Step, most_taken
from spillway.schedulers.controllers.running_application import Activity, AppView
from spillway.schedulers.controllers.sampling import learned
from spillway.schedulers.jobmodels.app_record import AppRecord, PhaseSeen
from spillway.schedulers.model.job import Job


@dataclass(slots=True)
class RunningApp:
    """A running application.

    Attributes
    ----------
    job, application, record
        The job, its description, its record.
    order
        Nodes in use, those that came last at the end.
    view
        View for controllers; :meth:`look` replaces it.
    spare, leaving
        Nodes held for later, and nodes that it is about to give back.
    counted_s
        Time up to which its nodes are counted (s).
    predicted
        Last prediction of its next I/O phase.
    watched
        Whether controllers decide about it.
    wrote
        Whether an I/O phase has ended and the next one has not been predicted since.
    lost
        Nodes that became unavailable, which it does not use in its next operation.
    measured
        Whether controllers get a model from measurements instead of the one that the job describes.
    """

    job: Job
    application: Application
    record: AppRecord
    order: list[int]
    view: AppView
    spare: list[int] = field(default_factory=list)
    leaving: list[int] = field(default_factory=list)
    counted_s: float = 0.0
    predicted: Phase | None = None
    watched: bool = False
    wrote: bool = False
    lost: set[int] = field(default_factory=set)
    measured: bool = False

    @classmethod
    def start(
        cls,
        job: Job,
        application: Application,
        nodes: Sequence[int],
        now_s: float,
        *,
        watched: bool = False,
        measured: bool = False,
    ) -> RunningApp:
        """Begin on these nodes; nothing has been observed of it yet."""
        size = len(nodes)  # fewer than it requests if it is moldable
        view = AppView(
            job.id, application, Observations(), Activity.COMPUTE, 0, now_s, size, size, size,
            deadline_s=now_s + job.walltime_s, places=tuple(nodes), known=not measured,
        )  # fmt: skip
        record = AppRecord(job, now_s, sizes=[(now_s, size)])
        return cls(
            job,
            application,
            record,
            list(nodes),
            view,
            counted_s=now_s,
            predicted=view.next_phase,
            watched=watched,
            measured=measured,
        )

    @property
    def held(self) -> int:
        """Number of nodes that it holds."""
        return len(self.order) + len(self.spare) + len(self.leaving)

    @property
    def writes(self) -> bool:
        """Whether an I/O phase does anything."""
        return self.application.io_bytes > 0 or self.application.model.at(self.view.nodes).io_s > 0

    def look(self, **changes: object) -> None:
        """Show the controllers a new view."""
        self.view = replace(self.view, held=self.held, **changes)  # type: ignore[arg-type]

    def show(self, **changes: object) -> None:
        """Show a view that lasts for a while: predict the phase after one that ended, prepare decisions."""
        self.look(**changes)
        if self.wrote:
            self.predicted, self.wrote = self.view.next_phase, False
        if self.watched:
            _ = self.view.facts  # computed here, so that a decision only has to read it

    def count_nodes(self, now_s: float) -> None:
        """Add the node-seconds held since the last call; call it before the number of nodes changes."""
        self.record.node_seconds += self.held * (now_s - self.counted_s)
        self.counted_s = now_s

    def agree(self, steps: Sequence[Step], gained: Sequence[int], now_s: float) -> None:
        """Agree on further changes of size; ``gained`` are nodes that it holds from now on, for them."""
        if gained:
            self.count_nodes(now_s)
            self.spare += gained
        merged = tuple(sorted((*self.view.steps, *steps), key=lambda step: step.iteration))
        wanted = self.application.requested_nodes(steps[0].iteration)
        base = self.view.base
        if wanted is not None:  # its own request is no expansion
            base = min(wanted, self.view.nodes + sum(step.change for step in merged))
        self.look(steps=merged, base=base)
        self.predicted = self.view.next_phase

    def lose(self, nodes: Set[int]) -> bool:
        """Plan to continue without these nodes; false, with no plan, if fewer than its minimum would be left."""
        left = [node for node in self.order if node not in nodes and node not in self.lost]
        if len(left) < self.application.minimum:
            return False
        self.lost |= nodes
        return True

    def drop_lost(self) -> bool:
        """Give up lost nodes, and reduce agreed changes to the others; return whether its size changed."""
        lost, self.lost = self.lost, set()
        size = len(self.order)
        for held in (self.order, self.spare):
            self.leaving += [node for node in held if node in lost]
            held[:] = [node for node in held if node not in lost]
        nodes, spare, steps = len(self.order), len(self.spare), []
        for step in self.view.steps:
            change = min(step.change, spare) if step.change > 0 else max(step.change, self.application.minimum - nodes)
            nodes, spare = nodes + change, spare - max(change, 0)
            steps += [Step(step.iteration, change)] if change else []
        self.look(steps=tuple(steps), nodes=len(self.order), places=tuple(self.order))
        return len(self.order) < size

    def passed(self, seconds: float, now_s: float) -> None:
        """Count an interval of ``seconds`` that has ended, and observe its duration."""
        view = self.view
        end = view.next_control
        self.record.compute_s += seconds
        self.record.iterations = end
        self.record.intervals += 1
        observed = view.observed.interval(view.nodes, end - view.iteration, seconds)
        self.look(iteration=end, observed=observed, since_s=now_s)
        if self.measured:
            self._learn()

    def _learn(self) -> None:
        """Show the model measured so far; it is known once two sizes have been measured and no change is due."""
        observed = self.view.observed
        known = self.view.known or (len(observed.per_iteration) > 1 and not self.view.steps)
        self.look(application=learned(self.application, observed), known=known)

    def written(self, ready_s: float, began_s: float, ended_s: float) -> None:
        """Record an I/O phase that has ended, with its prediction, and observe its duration."""
        self.record.phases.append(PhaseSeen(ready_s, began_s, ended_s, self.view.nodes, self.predicted))
        self.wrote = True
        self.look(observed=self.view.observed.io_phase(ended_s - began_s), since_s=ended_s)

    def change_size(self) -> tuple[int, tuple[int, ...]]:
        """Make the changes that are due at the control point it has reached.

        Returns
        -------
        int
            Change of the number of nodes.
        tuple of int
            Nodes in use before or now, ascending: a reconfiguration runs on them.
        """
        view = self.view
        due = [step for step in view.steps if step.iteration <= view.iteration]
        later = view.steps[len(due) :]
        change = sum(step.change for step in due)
        if change > 0:
            self.order += self.spare[:change]
            del self.spare[:change]
        nodes = tuple(sorted(self.order))
        if change < 0:
            self.leaving += self.order[change:]
            del self.order[change:]
        needed = most_taken(later)
        self.leaving += self.spare[needed:]
        del self.spare[needed:]
        if due:
            self.look(steps=later, nodes=len(self.order), places=tuple(self.order))
            if self.measured:
                self._learn()
        return change, nodes

    def leave(self, now_s: float) -> tuple[int, ...]:
        """Give up the nodes that it is about to give back; returns them, ascending."""
        left = tuple(sorted(self.leaving))
        if left:
            self.count_nodes(now_s)
            self.leaving = []
        self.look()
        return left

    def check(self) -> None:
        """Prove that nodes, steps and view agree; for tests."""
        view, name = self.view, self.job.id
        assert view.held == self.held, f"{name}: holds {self.held} nodes, shown are {view.held}"
        assert tuple(self.order) == view.places, f"{name}: uses {self.order} nodes, shown are {view.places}"
        assert len(self.order) == view.nodes, f"{name}: uses {len(self.order)} nodes, shown are {view.nodes}"
        nodes = [*self.order, *self.spare, *self.leaving]
        assert len(nodes) == len(set(nodes)), f"{name}: a node is counted twice"
        assert self.application.minimum <= view.nodes <= self.application.maximum, f"{name}: no such size"
