"""Spillway's policies under pybatsim's own launcher.

Start it by ``pybatsim schedulers/service/pybatsim.py -o '{"policy": "easy"}'``: the launcher takes the path of a file
and a class named like it. Its options are those of ``spillway serve``, as a JSON object: ``policy``, ``options`` (the
policy's own, an object), and the others by their long names::

    {"policy": "easy", "options": {"depth": 2}, "seed": 1, "model": {"name": "io", "max_phases": 5},
     "location_shape": [3, 3, 4]}

pybatsim 3.2.1 pins an old pyzmq without wheels for current Pythons, and has a top-level package ``schedulers``, too.
Both are harmless when it is installed into a separate folder::

    pip install --no-deps --target FOLDER pybatsim==3.2.1 docopt procset sortedcontainers
    PYTHONPATH=FOLDER python -m batsim.cmds.launcher PATH/TO/schedulers/service/pybatsim.py -o '{"policy": "easy"}'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NoReturn

import msgspec
from batsim.batsim import BatsimScheduler
from batsim.batsim import Job as BatsimJob
from procset import ProcSet

from spillway.base.errors import LocalProtocolError, PeerLost
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import (
    CallMeLater,
    ChangeJobState,
    Event,
    ExecuteJob,
    KillJob,
    Message,
    NotifyRegistration,
    QueryEnergy,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    Request,
    SetJobMetadata,
    SetResourceState,
    ToJobMsg,
)
from spillway.schedulers.assembly import spec_from
from spillway.schedulers.service.door import LINGER_MS
from spillway.schedulers.service.session_notes import OneLineErrors, say_notes


class Pybatsim(BatsimScheduler):  # type: ignore[misc]  # pybatsim has no types
    """A session of spillway behind pybatsim's callbacks.

    Parameters
    ----------
    options
        The launcher's options.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self._events: list[Event] = []
        with OneLineErrors():
            spec = spec_from(options)
            self._session = spec.session()
            say_notes(spec)

    # ------------------------------------------------------------------ reports of pybatsim

    def onBeforeEvents(self) -> None:  # noqa: N802
        """Begin a message."""
        self._events = []

    def onNoMoreEvents(self) -> None:  # noqa: N802
        """End a message: let the session answer it."""
        with OneLineErrors(self._refuse):
            reply = self._session.handle(Message(self.bs.time(), tuple(self._events)))
            batsim4.encode_reply(reply)  # raises for requests on which Batsim would abort
            for request in reply.events:
                enact = self._ENACT.get(type(request))
                if enact is None:
                    raise LocalProtocolError(f"pybatsim has nothing for a {type(request).__name__}")
                enact(self, request)

    def onSimulationBegins(self) -> None:  # noqa: N802
        """Report the machine."""
        bs = self.bs
        data = {
            "allow_compute_sharing": bs.allow_compute_sharing,
            "allow_storage_sharing": bs.allow_storage_sharing,
            "config": bs.batconf,
            "compute_resources": bs.machines["compute"],
            "storage_resources": bs.machines["storage"],
            "workloads": bs.workloads,
            "profiles": bs.profiles,
        }
        self._note("SIMULATION_BEGINS", data)

    def onSimulationEnds(self) -> None:  # noqa: N802
        """Report the end."""
        self._note("SIMULATION_ENDS", {})

    def onJobSubmission(self, job: Any) -> None:  # noqa: N802
        """Report a submission."""
        self._note("JOB_SUBMITTED", {"job_id": job.id, "job": job.json_dict, "profile": job.profile_dict})

    def onJobCompletion(self, job: Any) -> None:  # noqa: N802
        """Report a completion, at its own time."""
        data = {
            "job_id": job.id,
            "job_state": job.job_state.name,
            "return_code": job.return_code,
            "alloc": "" if job.allocation is None else str(job.allocation),
        }
        self._note("JOB_COMPLETED", data, job.finish_time)

    def onJobsKilled(self, jobs: Iterable[Any]) -> None:  # noqa: N802
        """Report kills."""
        progress = {job.id: job.progress for job in jobs if job.progress is not None}
        self._note("JOB_KILLED", {"job_ids": [job.id for job in jobs], "job_progress": progress})

    def onRequestedCall(self) -> None:  # noqa: N802
        """Report a wake-up."""
        self._note("REQUESTED_CALL", {})

    def onNoMoreJobsInWorkloads(self) -> None:  # noqa: N802
        """Report that no more static jobs come."""
        self._note("NOTIFY", {"type": "no_more_static_job_to_submit"})

    def onNoMoreExternalEvents(self) -> None:  # noqa: N802
        """Report that no more external events come."""
        self._note("NOTIFY", {"type": "no_more_external_event_to_occur"})

    def onNotifyEventMachineUnavailable(self, machines: Any) -> None:  # noqa: N802
        """Report a failure."""
        self._note("NOTIFY", {"type": "event_machine_unavailable", "resources": str(machines)})

    def onNotifyEventMachineAvailable(self, machines: Any) -> None:  # noqa: N802
        """Report a repair."""
        self._note("NOTIFY", {"type": "event_machine_available", "resources": str(machines)})

    def onNotifyGenericEvent(self, event_data: Any) -> None:  # noqa: N802
        """Report a user event."""
        self._note("NOTIFY", event_data)

    def onMachinePStateChanged(self, nodeid: tuple[int, int], pstate: Any) -> None:  # noqa: N802
        """Report a change of power state."""
        self._note("RESOURCE_STATE_CHANGED", {"resources": f"{nodeid[0]}-{nodeid[1]}", "state": str(pstate)})

    def onReportEnergyConsumed(self, consumed_energy: float) -> None:  # noqa: N802
        """Report the answer to a query."""
        self._note("ANSWER", {"consumed_energy": consumed_energy})

    def onJobMessage(self, timestamp: float, job: Any, message: Any) -> None:  # noqa: N802
        """Report a job's message."""
        self._note("FROM_JOB_MSG", {"job_id": job.id, "msg": message}, timestamp)

    def onDeadlock(self) -> NoReturn:  # noqa: N802
        """End: Batsim has been silent for longer than the launcher's ``--timeout`` (ms)."""
        with OneLineErrors():
            raise PeerLost("Batsim is silent: it died, deadlocked, or needs a longer --timeout")
        raise AssertionError

    def _note(self, kind: str, data: Any, timestamp: float | None = None) -> None:
        """Make a neutral event of the data that pybatsim has decoded, by the codec of its protocol."""
        now = self.bs.time()
        event = {"timestamp": now if timestamp is None else timestamp, "type": kind, "data": data}
        with OneLineErrors(self._refuse):
            message = batsim4.decode_message(msgspec.json.encode({"now": now, "events": [event]}))
        self._events.extend(message.events)

    def _refuse(self, reason: str) -> None:
        """Answer with the reason: Batsim waits for a reply, and pybatsim would end without one."""
        network = self.bs.network
        network.connection.linger = LINGER_MS
        network.connection.send(batsim4.encode_refusal(reason))
        network.close()
        network.context.term()

    # ------------------------------------------------------------------ calls of pybatsim

    def _execute(self, request: ExecuteJob) -> None:
        job = self.bs.jobs[request.job_id]
        job.allocation = ProcSet(*request.alloc)
        if request.mapping is not None:
            job.mapping = {str(executor): host for executor, host in request.mapping.items()}
        if request.storage_mapping is not None:
            job.storage_mapping = dict(request.storage_mapping)
        extra = request.additional_io_job
        if extra is None:
            self.bs.execute_job(job)
            return
        io_job = {"alloc": str(ProcSet(*extra.alloc)), "profile_name": extra.profile_name}
        self.bs.execute_job(job, io_job if extra.profile is None else io_job | {"profile": extra.profile})

    def _reject(self, request: RejectJob) -> None:
        self.bs.reject_jobs_by_id([request.job_id])

    def _kill(self, request: KillJob) -> None:
        self.bs.kill_jobs([self.bs.jobs[job_id] for job_id in request.job_ids])

    def _call(self, request: CallMeLater) -> None:
        self.bs.wake_me_up_at(request.at)

    def _register_profile(self, request: RegisterProfile) -> None:
        self.bs.register_profiles(request.workload_name, {request.profile_name: request.profile})

    def _register_job(self, request: RegisterJob) -> None:
        job = request.job
        self.bs.register_job(request.job_id, job["res"], job.get("walltime", -1), job["profile"], job["subtime"])

    def _notify(self, request: NotifyRegistration) -> None:
        if request.finished:
            self.bs.notify_registration_finished()
        else:
            self.bs.notify_registration_continue()

    def _set_state(self, request: SetResourceState) -> None:
        self.bs.set_resource_state(ProcSet(*request.resources), request.state)

    def _set_metadata(self, request: SetJobMetadata) -> None:
        self.bs.set_job_metadata(request.job_id, request.metadata)

    def _change_state(self, request: ChangeJobState) -> None:
        self.bs.change_job_state(self.bs.jobs[request.job_id], BatsimJob.State[request.state.value])

    def _query(self, request: QueryEnergy) -> None:
        self.bs.request_consumed_energy()

    def _tell_job(self, request: ToJobMsg) -> None:
        self.bs.send_message_to_job(self.bs.jobs[request.job_id], request.msg)

    _ENACT: ClassVar[dict[type[Request], Callable[[Pybatsim, Any], None]]] = {
        ExecuteJob: _execute,
        RejectJob: _reject,
        KillJob: _kill,
        CallMeLater: _call,
        RegisterProfile: _register_profile,
        RegisterJob: _register_job,
        NotifyRegistration: _notify,
        SetResourceState: _set_state,
        SetJobMetadata: _set_metadata,
        ChangeJobState: _change_state,
        QueryEnergy: _query,
        ToJobMsg: _tell_job,
    }
