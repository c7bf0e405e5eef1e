"""The malleable model: iterations, I/O phases and reconfigurations; the size changes at control points.

A job that describes an application (:mod:`spillway.schedulers.applications.application`) runs, one after another:

1. an interval of iterations up to the next control point, as long as in its model for that number of nodes (times the
   real variation of the interval);
2. after every ``io_every`` iterations, in its turn at the gate: a collective write of ``io_bytes`` from all nodes to
   the parallel file system, which takes its time on the platform (without a file system: the model's time);
3. at a control point with an agreed change of size: a reconfiguration of ``overhead_s`` on the old and the new nodes
   together. Nodes that are given back are free when it has ended.

Iterations are counted in whole intervals, each of which runs to its end before the size changes: no work is lost or
done twice. Other jobs run as they were submitted.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), sections 2, 4.2.1 (Figure 9), 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from spillway.base.errors import RemoteProtocolError, shown
from spillway.base.options import option
from spillway.protocol.messages import JobState, JsonObject
from spillway.schedulers.applications.application import FIELD, Application, read_application
from spillway.schedulers.applications.moldable import Moldable
from spillway.schedulers.controllers.control import Control
from spillway.schedulers.controllers.prediction import io_duration_s
from spillway.schedulers.controllers.running_application import Activity
from spillway.schedulers.controllers.sampling import Predictor
from spillway.schedulers.controllers.scene import IoEnded
from spillway.schedulers.jobmodels.app_record import finished
from spillway.schedulers.jobmodels.base import (
    Compute,
    Done,
    GiveBack,
    Granted,
    JobModel,
    Needs,
    Operation,
    Place,
    Program,
    Publish,
    Report,
    Submitted,
    Transfer,
)
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.running_app import RunningApp
from spillway.schedulers.jobmodels.sub_jobs import SHORTEST_WALLTIME_S
from spillway.schedulers.model.job import BURST_BUFFER_FIELD, TOTAL_FIELD, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.rules import NODES_CHANGE, Rules, Trait


@dataclass(frozen=True)
class Malleable(Control, JobModel):
    """Jobs that describe a malleable application run as one, under controllers; others run as they were submitted."""

    source: ClassVar[str] = "Singh & Carretero 2019"
    needs: ClassVar[Needs] = Needs(gate=True)
    fields: ClassVar[tuple[str, ...]] = (FIELD,)
    only_with_fields: ClassVar[bool] = True
    shrinks: ClassVar[bool] = True
    stages: ClassVar[tuple[str, ...]] = ("compute", "transfer", "resize")
    moved: ClassVar[tuple[str, ...]] = ("transfer",)
    columns: ClassVar[tuple[str, ...]] = ("iterations", "resizes", "most_nodes", "node_seconds")

    moldable: bool = option(
        False, help="whether jobs may start on fewer nodes than they request, down to their minimum"
    )

    def rules(self) -> Rules:
        """Resized jobs hold their burst buffers with their nodes; moldable jobs need a policy that chooses sizes."""
        return Rules({Trait.FEWER_NODES: (":moldable=true", "")} if self.moldable else {}, NODES_CHANGE)

    def fewest_nodes(self) -> Callable[[Job], int] | None:
        """Return the minimum sizes of applications, if jobs are moldable."""
        return Moldable() if self.moldable else None

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Run section 2 of the paper: intervals, I/O phases, control points."""
        application = _described(job)
        if application is None:
            yield Submitted()
            return
        measured = self.predictor is Predictor.ONLINE
        app = RunningApp.start(
            job, application, granted.allocation.nodes, granted.start_s, watched=self.active, measured=measured
        )
        yield Publish(app)
        now_s = granted.start_s
        while True:
            now_s = yield from _interval(app, (yield from _without_lost(app, now_s)))
            if application.io_due(app.view.iteration) and app.writes:
                now_s = yield from _io_phase(app, machine, now_s)
            if app.view.iteration >= application.iterations:
                return
            now_s = yield from _control_point(app, (yield from _without_lost(app, now_s)))

    def refuses(self, job: Job) -> str | None:
        """Refuse a striped buffer, which no resize could divide; RemoteProtocolError for a wrong description."""
        if _described(job) is None or not job.stripes:
            return None
        return (
            f"its field {TOTAL_FIELD!r} is a burst buffer of the whole job, while an application that changes its size "
            f"has one per node: state {BURST_BUFFER_FIELD!r} instead"
        )

    def cells(self, record: JobRecord) -> Mapping[str, str]:
        """Iterations, resizes, most nodes, and nodes held times seconds; nothing for a job that is no application."""
        app = finished(record)
        if app is None:  # also an application that ended before it had begun
            return {}
        return {
            "iterations": str(app.iterations),
            "resizes": str(len(app.sizes) - 1),
            "most_nodes": str(max(nodes for _, nodes in app.sizes)),
            "node_seconds": f"{app.node_seconds:.6f}",
        }


Part = Generator[Operation, Done, float]
"""A part of the program; returns the time of its end."""


def _interval(app: RunningApp, now_s: float) -> Part:
    """Run the iterations up to the next control point."""
    app.show(activity=Activity.COMPUTE, since_s=now_s)
    view = app.view
    seconds = app.application.interval_s(view.iteration, view.next_control, view.nodes)
    done = yield Compute(_delay(seconds), tuple(sorted(app.order)))
    app.passed(done.ended_s - done.began_s, done.ended_s)
    return done.ended_s


def _without_lost(app: RunningApp, now_s: float) -> Part:
    """Give back nodes that became unavailable; a smaller size takes a reconfiguration on the others."""
    while app.lost:
        shrunk = app.drop_lost()
        yield GiveBack(app.leave(now_s))
        if shrunk:
            now_s = yield from _reconfigure(app, tuple(sorted(app.order)), now_s)
            app.record.sizes.append((now_s, len(app.order)))
    return now_s


def _io_phase(app: RunningApp, machine: Machine, now_s: float) -> Part:
    """Write collectively in turn; the write is planned again if nodes are lost before."""
    while True:
        now_s = yield from _without_lost(app, now_s)
        done = yield from _write(app, machine, now_s)
        now_s = done.ended_s
        if done.state is not JobState.COMPLETED_KILLED:
            app.written(done.ready_s, done.began_s, done.ended_s)
            yield Report(IoEnded(app.job.id, done.ready_s, done.began_s, done.ended_s))
            return now_s


def _write(app: RunningApp, machine: Machine, now_s: float) -> Generator[Operation, Done, Done]:
    """Attempt one write."""
    application, view = app.application, app.view
    expected_s = io_duration_s(application, view.observed, view.nodes)

    def began(began_s: float) -> None:
        app.show(activity=Activity.IO, since_s=began_s + expected_s)

    app.show(activity=Activity.WAIT, since_s=now_s + expected_s)
    size, nodes = application.io_bytes, tuple(sorted(app.order))
    if machine.pfs_id is None or not size:
        profile = _delay(application.model.at(view.nodes).io_s)
        return (yield Compute(profile, nodes, "transfer", turn_bytes=size, began=began))
    return (yield Transfer(Place.NODES, Place.PFS, size / view.nodes, "transfer", nodes, began=began))


def _control_point(app: RunningApp, now_s: float) -> Part:
    """Change the size if that was agreed on, and give back the nodes that are not used any more."""
    change, nodes = app.change_size()
    if change:
        now_s = yield from _reconfigure(app, nodes, now_s)
        app.record.sizes.append((now_s, len(app.order)))
    yield GiveBack(app.leave(now_s))
    return now_s


def _reconfigure(app: RunningApp, nodes: tuple[int, ...], now_s: float) -> Part:
    """Run the overhead of a change of size."""
    overhead_s = app.application.overhead_s
    if overhead_s <= 0:
        return now_s
    app.show(activity=Activity.RESIZE, since_s=now_s + overhead_s)
    done = yield Compute(_delay(overhead_s), nodes, "resize")
    app.record.resize_s += done.ended_s - done.began_s
    return done.ended_s


def _delay(seconds: float) -> JsonObject:
    return {"type": "delay", "delay": max(seconds, SHORTEST_WALLTIME_S), "ret": 0}


def _described(job: Job) -> Application | None:
    description = job.profile.get(FIELD, job.extras.get(FIELD))
    if description is None:
        return None
    try:
        return read_application(description, job.nodes)
    except ValueError as error:
        raise RemoteProtocolError(f"job {shown(job.id)}: {error}", f"$.profile.{FIELD}") from None
