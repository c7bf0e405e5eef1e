"""Malleable execution: iterations, I/O phases and reconfigurations as dynamic jobs; the size changes at control points.

A job whose profile describes an application (:mod:`schedulers.applications.application`) is rejected in Batsim's books
and replaced by sub-jobs in a workload of its own, one after another:

1. an interval of iterations up to the next control point: a delay on all its nodes, as long as its model says for
   that number of nodes (times what the interval really varies by);
2. after every ``io_every`` iterations, once the gate lets it: a collective write of ``io_bytes`` from all nodes to the
   parallel file system, which takes what the platform makes of it (on a platform without one: a delay from the model);
3. at a control point with an agreed change of size: a reconfiguration, a delay of ``overhead_s`` on the old and the new
   nodes together. Nodes that are left are free when it has ended.

Iterations are counted in whole intervals, each of which runs to its end before the size changes: no work is lost or
done twice. Other jobs run as another execution model runs them.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), sections 2, 4.2.1 (Figure 9), 4.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from schedulers.applications.application import FIELD, Application, read_application
from schedulers.controllers.prediction import Step, io_duration_s
from schedulers.controllers.running import Activity, AppView
from schedulers.controllers.scene import IoEnded
from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.errors import DecisionRefused, RemoteProtocolError
from schedulers.jobmodels import base
from schedulers.jobmodels.app_record import AppRecord
from schedulers.jobmodels.base import NOTHING, Ended, Execution, Released
from schedulers.jobmodels.gates import Gate, Shared
from schedulers.jobmodels.rigid import Rigid
from schedulers.jobmodels.running_app import Answer, RunningApp
from schedulers.jobmodels.sub_jobs import SHORTEST_WALLTIME_S, SubJobs
from schedulers.wire.messages import (
    BatsimConfig,
    CallMeLater,
    Event,
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    JsonObject,
    KillJob,
    RejectJob,
    Request,
    RequestedCall,
)

KILLED = (JobState.COMPLETED_KILLED, -2)
TIMED_OUT = (JobState.COMPLETED_WALLTIME_REACHED, -1)


class Malleable:
    """Runs malleable applications, and hands other jobs to another execution model.

    Parameters
    ----------
    rigid
        Runs the jobs that describe no application; default: rigid.
    gate
        Who may write now; default: everybody (``shared``).
    on_record
        Called with each application's record when it is through.
    """

    def __init__(
        self,
        rigid: Execution | None = None,
        gate: Gate | None = None,
        on_record: Callable[[AppRecord], None] | None = None,
    ) -> None:
        self._rigid: Execution = rigid or Rigid()
        self._gate: Gate = gate or Shared()
        self._on_record = on_record
        self._apps: dict[str, RunningApp] = {}
        self._subs: dict[str, RunningApp] = {}
        self._ended_phases: list[IoEnded] = []
        self._reuse = True
        self._dynamic = True
        self._watched = False
        self._machine: Machine

    # ------------------------------------------------------------------ what controllers see and ask

    def views(self) -> tuple[AppView, ...]:
        """The running applications, in order of their starts."""
        self._watched = True
        return tuple(app.view for app in self._apps.values())

    def take_ended_phases(self) -> tuple[IoEnded, ...]:
        """I/O phases that ended since this was last asked."""
        found = tuple(self._ended_phases)
        self._ended_phases.clear()
        return found

    def agree(self, job_id: str, steps: Sequence[Step], gained: Allocation | None, now_s: float) -> None:
        """Agree on changes of size.

        Parameters
        ----------
        steps
            Further changes; they have been checked.
        gained
            Nodes that the job holds from now on, for them.
        """
        app = self._apps[job_id]
        app.agree(steps, () if gained is None else gained.nodes, now_s)
        self._settle(app)

    def _settle(self, app: RunningApp) -> None:
        """An application stays as it is for a while: decisions will find worked out what they need of it."""
        if self._watched:
            app.settle()

    # ------------------------------------------------------------------ execution

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Learn the machine; whether dynamic jobs are allowed matters only when an application starts."""
        self._machine = machine
        self._dynamic, self._reuse = config.dynamic_jobs_enabled, config.profile_reuse_enabled
        self._rigid.begin(machine, config)

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Sequence[Request]:
        """Replace an application by its first interval; start any other job as it is."""
        description = job.profile.get(FIELD, job.extras.get(FIELD))
        if description is None:
            return self._rigid.start(job, allocation, now_s)
        if not self._dynamic:
            raise RemoteProtocolError(
                "malleable jobs need dynamic jobs: start Batsim with --enable-dynamic-jobs --enable-profile-reuse",
                "$.events[0].data.config.dynamic-jobs-enabled",
            )
        application = _read(job, description)
        subs = SubJobs.of(job.id, self._reuse, now_s + job.walltime_s)
        app = RunningApp.start(job, application, subs, allocation.nodes, now_s)
        self._apps[job.id] = app
        self._gate.enter(job.id, now_s)
        answer = Answer()
        self._compute(app, now_s, answer)
        return (*answer.requests, RejectJob(now_s, job.id))

    def kill(self, job: Job, now_s: float) -> base.Step:
        """Kill what runs of a job; its end comes with the sub-job's, or at once while it waits for its turn."""
        app = self._apps.get(job.id)
        if app is None:
            return self._rigid.kill(job, now_s)
        app.outcome = KILLED
        if app.live:
            return base.Step((KillJob(now_s, (app.live,)),))
        answer = Answer()
        self._end(app, now_s, answer)
        return answer.step()

    def handle(self, event: Event, now_s: float) -> base.Step | None:
        """Digest what concerns sub-jobs; the rest is for the other execution model."""
        if isinstance(event, JobCompleted) and event.job_id in self._subs:
            return self._completed(event, now_s)
        if isinstance(event, JobSubmitted) and event.job_id in self._subs:
            return NOTHING
        if isinstance(event, RequestedCall):
            return self._called(now_s, self._rigid.handle(event, now_s))
        found = self._rigid.handle(event, now_s)
        return NOTHING if found is None and isinstance(event, JobKilled) else found

    def check(self) -> None:
        """Prove that an application's nodes, steps and view agree; for tests."""
        for app in self._apps.values():
            app.check()
        assert {app.live for app in self._apps.values() if app.live} == self._subs.keys(), "sub-jobs and jobs differ"

    # ------------------------------------------------------------------ one thing after another

    def _completed(self, event: JobCompleted, now_s: float) -> base.Step:
        app = self._subs.pop(event.job_id)
        app.live = ""
        if event.state is not JobState.COMPLETED_SUCCESSFULLY and app.outcome is None:
            app.outcome = (event.state, event.return_code)
        answer = Answer()
        self._AFTER[app.view.activity](self, app, now_s, answer)
        return answer.step()

    def _after_interval(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        if self._end_if_stopped(app, now_s, answer):
            return
        app.passed(now_s)
        if app.application.io_due(app.view.iteration) and app.writes:
            self._ask(app, now_s, answer)
        else:
            self._control(app, now_s, answer)

    def _after_io(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        granted = self._gate.release(app.job.id, now_s)
        if not self._end_if_stopped(app, now_s, answer):
            app.written(now_s)
            self._ended_phases.append(IoEnded(app.job.id, app.asked_s, app.begin_s, now_s))
            self._control(app, now_s, answer)
            app.predicted = app.view.next_phase
        self._grant(granted, now_s, answer)

    def _after_resize(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        app.record.resize_s += now_s - app.begin_s
        if self._end_if_stopped(app, now_s, answer):
            return
        self._leave(app, now_s, answer)
        self._compute(app, now_s, answer)

    _AFTER: Mapping[Activity, Callable[[Malleable, RunningApp, float, Answer], None]] = {
        Activity.COMPUTE: _after_interval,
        Activity.IO: _after_io,
        Activity.RESIZE: _after_resize,
    }

    def _control(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        """A control point: change the size if that is agreed, then go on, or end."""
        view = app.view
        if view.iteration >= app.application.iterations:
            app.outcome = (JobState.COMPLETED_SUCCESSFULLY, 0)
            self._end(app, now_s, answer)
            return
        change, nodes = app.change_size()
        if change and app.application.overhead_s > 0:
            self._resize(app, nodes, now_s, answer)
            return
        if change:
            app.record.sizes.append((now_s, len(app.order)))
        self._leave(app, now_s, answer)
        self._compute(app, now_s, answer)

    def _leave(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        """Give nodes back that are not in use any more."""
        if app.view.activity is Activity.RESIZE:
            app.record.sizes.append((now_s, len(app.order)))
        left = app.leave(now_s)
        if left:
            answer.released.append(Released(app.job.id, left))

    # ------------------------------------------------------------------ sub-jobs

    def _compute(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        app.look(activity=Activity.COMPUTE, since_s=now_s)
        view = app.view
        seconds = app.application.interval_s(view.iteration, view.next_control, view.nodes)
        self._run(app, _delay(seconds), tuple(app.order), now_s, answer, key=f"compute-{seconds!r}")

    def _resize(self, app: RunningApp, union: tuple[int, ...], now_s: float, answer: Answer) -> None:
        overhead_s = app.application.overhead_s
        app.look(activity=Activity.RESIZE, since_s=now_s + overhead_s)
        self._run(app, _delay(overhead_s), union, now_s, answer, key="resize")

    def _ask(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        """Ask for a turn at the file system."""
        app.asked_s = now_s
        expected_s = io_duration_s(app.application, app.view.observed, app.view.nodes)
        app.look(activity=Activity.WAIT, since_s=now_s + expected_s)
        granted = self._gate.request(app.job.id, app.job.id, 0, app.application.io_bytes, now_s)
        self._grant(granted, now_s, answer)
        if app.view.activity is not Activity.WAIT:
            return
        self._settle(app)
        if app.subs.deadline_s < math.inf:
            answer.requests.append(CallMeLater(now_s, max(app.subs.deadline_s, now_s + 10 * SHORTEST_WALLTIME_S)))

    def _grant(self, granted: Sequence[str], now_s: float, answer: Answer) -> None:
        """Turns begin; whoever has no time left gives his turn to the next."""
        waiting = list(granted)
        while waiting:
            app = self._apps[waiting.pop(0)]
            if app.subs.overdue(now_s):
                waiting += self._gate.release(app.job.id, now_s)
                app.outcome = TIMED_OUT
                self._end(app, now_s, answer)
                continue
            self._write(app, now_s, answer)

    def _write(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        application, view = app.application, app.view
        expected_s = io_duration_s(application, view.observed, view.nodes)
        app.look(activity=Activity.IO, since_s=now_s + expected_s)
        if self._machine.pfs_id is None or application.io_bytes == 0:
            profile = _delay(application.model.at(view.nodes).io_s)
            self._run(app, profile, tuple(app.order), now_s, answer, key=f"io-{view.nodes}")
            return
        profile = _write_all(application.io_bytes / view.nodes)
        mapping = {"pfs": self._machine.pfs_id}
        self._run(app, profile, tuple(app.order), now_s, answer, key=f"io-{view.nodes}", mapping=mapping)

    def _run(
        self,
        app: RunningApp,
        profile: JsonObject,
        nodes: tuple[int, ...],
        now_s: float,
        answer: Answer,
        *,
        key: str,
        mapping: dict[str, int] | None = None,
    ) -> None:
        """Run a sub-job, or end the job where its walltime is over."""
        app.begin_s = now_s
        if app.subs.overdue(now_s):
            app.outcome = TIMED_OUT
            self._end(app, now_s, answer)
            return
        app.live = app.subs.run(key, profile, self._machine.alloc_ids(nodes), mapping, now_s, answer.requests)
        self._subs[app.live] = app
        self._settle(app)

    # ------------------------------------------------------------------ the end

    def _end_if_stopped(self, app: RunningApp, now_s: float, answer: Answer) -> bool:
        if app.outcome is None:
            return False
        self._end(app, now_s, answer)
        return True

    def _end(self, app: RunningApp, now_s: float, answer: Answer) -> None:
        assert app.outcome is not None
        del self._apps[app.job.id]
        granted = self._gate.withdraw(app.job.id, now_s)
        self._gate.leave(app.job.id, now_s)
        assert set(granted) <= {app.job.id}, "a withdrawn turn belongs to somebody else"
        app.count_nodes(now_s)
        app.record.end_s, app.record.state = now_s, app.outcome[0]
        if self._on_record is not None:
            self._on_record(app.record)
        answer.ended.append(Ended(app.job.id, *app.outcome))

    def _called(self, now_s: float, others: base.Step | None) -> base.Step | None:
        """End applications whose walltime ran out while they waited for their turn."""
        late = [
            app
            for app in self._apps.values()
            if app.view.activity is Activity.WAIT and not app.live and app.subs.overdue(now_s)
        ]
        if not late:
            return others
        answer = Answer()
        for app in late:
            app.outcome = TIMED_OUT
            self._end(app, now_s, answer)
        if others is None:
            return answer.step()
        return base.Step((*others.requests, *answer.requests), (*others.ended, *answer.ended), answer.released)


def _delay(seconds: float) -> JsonObject:
    return {"type": "delay", "delay": max(seconds, SHORTEST_WALLTIME_S), "ret": 0}


def _write_all(bytes_per_node: float) -> JsonObject:
    """A collective write to the storage that the execution's mapping calls ``pfs``."""
    return {
        "type": "parallel_homogeneous_pfs",
        "bytes_to_read": 0,
        "bytes_to_write": bytes_per_node,
        "storage": "pfs",
        "ret": 0,
    }


def _read(job: Job, description: Mapping[str, object]) -> Application:
    try:
        return read_application(description, job.nodes)
    except ValueError as error:
        raise DecisionRefused(job.id, str(error)) from None
