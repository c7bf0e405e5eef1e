"""Faults of a peer: illegal changes of its messages, each with the outcome that it must have.

A fault gets the peer and its next message, and returns the replacement: a message, bytes, or ``None`` if the fault is
impossible now.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec

from spillway.protocol.limits import LATEST_S
from spillway.protocol.messages import (
    Event,
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    Message,
    Notify,
    NotifyKind,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
    TaskProgress,
)
from tools.fuzz.peer import Peer


class RequiredOutcome(enum.Enum):
    """Outcome that a fault must have."""

    REFUSED = "refused"
    """One RemoteProtocolError."""

    SAME = "answered"
    """A reply; nothing else has changed."""

    EITHER = "either"
    """A reply or one RemoteProtocolError; after a reply the two sides' books may differ."""


Sent = Message | bytes | None
Make = Callable[[Random, Peer, Message], Sent]


@dataclass(frozen=True)
class Fault:
    """One kind of fault."""

    make: Make
    then: RequiredOutcome


def _with(message: Message, *events: Event, rng: Random | None = None) -> Message:
    """The message with further events, at its end or anywhere."""
    found = list(message.events)
    for event in events:
        place = len(found)
        if rng is not None and rng.random() < 0.3 and not any(isinstance(one, SimulationEnds) for one in found):
            place = next((i for i, one in enumerate(found) if one.timestamp >= event.timestamp), len(found))
        found.insert(place, event)
    return Message(message.now, tuple(found))


def _live(message: Message) -> bool:
    """Whether further events may follow."""
    return not any(isinstance(event, SimulationEnds | SimulationBegins) for event in message.events)


# --------------------------------------------------------------------------- time


def _back(rng: Random, peer: Peer, message: Message) -> Sent:
    now_s = rng.choice((-1.0, -1e-6, message.now - 1e6, -1e300))
    return Message(now_s, message.events if rng.random() < 0.5 else ())


def _slightly_back(rng: Random, peer: Peer, message: Message) -> Sent:
    if not peer.last_s:
        return None
    return Message(peer.last_s - min(1e-6, peer.last_s), ())


def _late(rng: Random, peer: Peer, message: Message) -> Sent:
    now_s = rng.choice((math.nextafter(LATEST_S, math.inf), 2e13, 1.7e15, 1e23, 1e300))
    return Message(now_s, tuple(msgspec.structs.replace(event, timestamp=now_s) for event in message.events))


def _no_number(rng: Random, peer: Peer, message: Message) -> Sent:
    return Message(rng.choice((math.nan, math.inf, -math.inf)), message.events)


def _ahead(rng: Random, peer: Peer, message: Message) -> Sent:
    return _with(message, RequestedCall(message.now + rng.choice((1e-6, 1.0, 1e12))))


def _event_back(rng: Random, peer: Peer, message: Message) -> Sent:
    if not message.events or message.events[-1].timestamp <= 0:
        return None
    return _with(message, RequestedCall(message.events[-1].timestamp - rng.choice((1e-6, 1.0, 1e9))))


def _event_no_number(rng: Random, peer: Peer, message: Message) -> Sent:
    return _with(message, RequestedCall(rng.choice((math.nan, math.inf, -math.inf))))


# --------------------------------------------------------------------------- events twice, early, late, of nothing


_OWN = frozenset("%#")
"""In names that the scheduler gives (sub-jobs, further attempts): their submissions only acknowledge them."""


def _again(which: str) -> Make:
    def make(rng: Random, peer: Peer, message: Message) -> Sent:
        ids = {
            "waits": [name for name, job in peer.jobs.items() if job.state is JobState.SUBMITTED],
            "runs": [name for name, job in peer.jobs.items() if job.state is JobState.RUNNING],
            "ended": peer.reported,
        }[which]
        ids = [name for name in ids if not _OWN & set(name) and name not in peer.unsent]
        if not ids or not _live(message):
            return None
        job = {"id": "x", "subtime": message.now, "res": 1, "profile": "p0", "walltime": 10}
        return _with(message, JobSubmitted(message.now, rng.choice(ids), job))

    return make


def _completed(rng: Random, peer: Peer, message: Message) -> Sent:
    waiting = [name for name, job in peer.jobs.items() if job.state is JobState.SUBMITTED and "%" not in name]
    name = rng.choice([*waiting, *peer.reported[-5:], "w0!777777", "w9!1", "w0%0!999", "", "!", "x" * 3000])
    state = rng.choice((JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_KILLED))
    return _with(message, JobCompleted(message.now, name, state, 0, ())) if _live(message) else None


def _completed_elsewhere(rng: Random, peer: Peer, message: Message) -> Sent:
    running = [name for name, job in peer.jobs.items() if job.state is JobState.RUNNING]
    if not running or not _live(message):
        return None
    return _with(message, JobCompleted(message.now, rng.choice(running), JobState.COMPLETED_FAILED, 1, (9999,)))


def _killed(rng: Random, peer: Peer, message: Message) -> Sent:
    names = [*peer.jobs, *peer.reported[-5:], "w0!777777"]
    progress = {name: TaskProgress("p", 0.5) for name in names[:1]}
    return _with(message, JobKilled(message.now, tuple(names[:2]), progress)) if _live(message) else None


def _killed_twice(rng: Random, peer: Peer, message: Message) -> Sent:
    found = [event for event in message.events if isinstance(event, JobKilled)]
    return _with(message, found[0]) if found else None


def _progress(rng: Random, peer: Peer, message: Message) -> Sent:
    for place, event in enumerate(message.events):
        if isinstance(event, JobKilled) and event.progress:
            task = TaskProgress("p", rng.choice((-0.5, 1.5, 1e300, math.nan, math.inf)))
            events = list(message.events)
            events[place] = msgspec.structs.replace(event, progress=dict.fromkeys(event.progress, task))
            return Message(message.now, tuple(events))
    return None


def _unknown_machine(rng: Random, peer: Peer, message: Message) -> Sent:
    event: Event = Notify(message.now, NotifyKind.MACHINE_UNAVAILABLE.value, (rng.choice((99, 2**31 - 1)),))
    if rng.random() < 0.4:
        event = ResourceStateChanged(message.now, (99,), 0)
    return _with(message, event) if _live(message) else None


def _notified_twice(rng: Random, peer: Peer, message: Message) -> Sent:
    kind = rng.choice((NotifyKind.MACHINE_UNAVAILABLE, NotifyKind.MACHINE_AVAILABLE))
    gone = peer.unavailable
    resources = tuple(sorted(gone if kind is NotifyKind.MACHINE_UNAVAILABLE else peer.available))
    return _with(message, Notify(message.now, kind.value, resources)) if _live(message) else None


def _useless(rng: Random, peer: Peer, message: Message) -> Sent:
    events = (
        RequestedCall(message.now),
        Notify(message.now, "weather", (), {"type": "weather", "text": "x" * 5000}),
        Notify(message.now, NotifyKind.NO_MORE_EXTERNAL_EVENT_TO_OCCUR.value),
    )
    return _with(message, rng.choice(events)) if _live(message) else None


def _begins_again(rng: Random, peer: Peer, message: Message) -> Sent:
    first = msgspec.structs.replace(peer.begin().events[0], timestamp=message.now)
    return _with(message, first) if peer.begun and _live(message) else None


def _before_beginning(rng: Random, peer: Peer, message: Message) -> Sent:
    if peer.begun:
        return None
    return Message(0.0, (rng.choice((RequestedCall(0.0), SimulationEnds(0.0))), *message.events))


def _after_end(rng: Random, peer: Peer, message: Message) -> Sent:
    return _with(message, SimulationEnds(message.now), RequestedCall(message.now)) if _live(message) else None


def _missing(kind: type) -> Make:
    def make(rng: Random, peer: Peer, message: Message) -> Sent:
        kept = tuple(event for event in message.events if not isinstance(event, kind))
        peer.unsent.update(event.job_id for event in message.events if kind is JobSubmitted is type(event))
        return Message(message.now, kept) if len(kept) < len(message.events) else None

    return make


def _early_end(rng: Random, peer: Peer, message: Message) -> Sent:
    return Message(message.now, (*message.events, SimulationEnds(message.now))) if _live(message) else None


# --------------------------------------------------------------------------- data of jobs

_BAD_MEMBERS: dict[str, tuple[Any, ...]] = {
    "res": (-1, True, 1.5, "4", None, 2**31, [1], 1e30),
    "walltime": (0, -3, "x", None, True, [1]),
    "subtime": (1.6e15, "0", None, {}),
    "bb": (-1, 2**62, 1e300, "1 GB", [], True),
    "io_rate": (-1.0, 1e300, "fast"),
}


def _bad_job(rng: Random, peer: Peer, message: Message) -> Sent:
    in_batsim_5 = any("extra_data" in event.job for event in message.events if isinstance(event, JobSubmitted))
    member = rng.choice([name for name in _BAD_MEMBERS if not (in_batsim_5 and name in ("subtime", "walltime"))])
    return _changed_job(rng, message, {member: rng.choice(_BAD_MEMBERS[member])}, {})


_ODD_MEMBERS: dict[str, tuple[Any, ...]] = {
    "res": (0, 100, 2**31 - 1),
    "walltime": (1e-9, LATEST_S, 1e13, -1.0),
    "subtime": (-5, 1e9),
    "bb": (0.5, 10**10 + 1, 2**61),
    "io_rate": (1, 2**61),
    "profile": ("nowhere", "x" * 5000, 7, None, ["p0"]),
    "user": ([1], {}, "x" * 5000, None, 1.5),
    "requested_s": (math.pi, "x", -1, 1e308, 10**30, None, True),
    "io_bytes": (-1, "x", 1e308, None),
    "io_blocks": (-1, 1.5, "x", 10**30),
    "file_nodes": ([0, 0], [99], ["x"], "01", {}, [True]),
    "malleable": ({}, [], "x", {"iterations": 10**18}, {"iterations": 0}),
    "\u00b2": ("\u00b2",),
}
"""Values of members that may be refused, rejected or played."""

_ODD_PROFILES: tuple[Any, ...] = (
    {"type": "composed", "seq": ["p0"] * 5, "repeat": 10**9},
    {"type": "x" * 4000},
    {"type": "delay", "delay": 1e-300},
    {"type": "delay", "delay": 5.0, "bb": "x"},
    {"type": "parallel", "cpu": [1e9] * 3, "com": [0] * 9},
    {"type": "parallel", "cpu": [], "com": []},
    {"type": "parallel_homogeneous", "cpu": 1e300, "com": 1e300},
    {"type": "parallel_homogeneous", "cpu": 1e9, "com": None},
    {"type": "delay", "delay": 5.0, "periods": {"count": 10**18, "compute_s": 1e-9, "io_bytes": 0}},
    {"type": "delay", "delay": 5.0, "periods": {"count": 1, "compute_s": 1e300, "io_bytes": 1e300}},
    {"type": "delay", "delay": 5.0, "operations": [{"compute_s": "x"}]},
    {"type": "delay", "delay": 5.0, "operations": [{}] * 1000},
    {"type": "delay", "delay": 5.0, "malleable": {"iterations": 5, "model": {"work": 1e308, "serial": 1e308}}},
    {"type": "delay", "delay": 5.0, "malleable": {"iterations": 10**15, "model": {"work": 1.0}}},
    {"type": "delay", "delay": 5.0, "malleable": {"iterations": 5, "maximum": 10**9, "model": {"work": 1.0}}},
    {"type": "delay", "delay": 5.0, "malleable": {"iterations": 5, "model": {"nodes": 5}}},
    {"type": "delay", "delay": 5.0, "malleable": {"iterations": 5, "model": {"nodes": [], "cpu": []}}},
    {"delay": 5.0},
    {},
)


def _odd_job(rng: Random, peer: Peer, message: Message) -> Sent:
    if rng.random() < 0.5:
        return _changed_job(rng, message, {}, rng.choice(_ODD_PROFILES))
    member = rng.choice(list(_ODD_MEMBERS))
    return _changed_job(rng, message, {member: rng.choice(_ODD_MEMBERS[member])}, {})


def _changed_job(rng: Random, message: Message, changes: dict[str, Any], profile: dict[str, Any]) -> Sent:
    submitted = [(place, event) for place, event in enumerate(message.events) if isinstance(event, JobSubmitted)]
    places = [place for place, event in submitted if not _OWN & set(event.job_id)]
    if not places:
        return None
    events = list(message.events)
    event = events[place := rng.choice(places)]
    assert isinstance(event, JobSubmitted)
    given = profile or event.profile
    extra = event.job.get("extra_data")
    if isinstance(extra, dict) and not changes.keys() & {"id", "subtime", "res", "walltime", "profile"}:
        changes = {"extra_data": extra | changes}  # Batsim 5 passes nothing else on
    events[place] = msgspec.structs.replace(event, job=event.job | changes, profile=given)
    return Message(message.now, tuple(events))


def _long_id(rng: Random, peer: Peer, message: Message) -> Sent:
    name = rng.choice(("w0!" + "x" * 5000, "x" * 256, "", "!", "w0!", "!1", "w0!1!2", "%!%"))
    job = {"id": name, "subtime": 0, "res": 1, "profile": "p0"}
    return _with(message, JobSubmitted(message.now, name, job)) if _live(message) else None


# --------------------------------------------------------------------------- bytes

_NASTY: tuple[Any, ...] = (
    None, True, -1, 0, 1e300, -1e300, 2**63, 10**30, "", "\u00b2", "x" * 5000, "9" * 5000, "0-99999999", [], {}, [[]],
    {"a": {"a": {}}}, 0.1, "nan", "-0", "w0!0", "1e400",
)  # fmt: skip


def _mutated(rng: Random, peer: Peer, message: Message) -> Sent:
    data = json.loads(peer.write(message))
    for _ in range(rng.randint(1, 2)):
        places = list(_places(data, []))
        *way, last = rng.choice(places)
        holder = data
        for key in way:
            holder = holder[key]
        kind = rng.random()
        if kind < 0.7:
            holder[last] = rng.choice(_NASTY)
        elif kind < 0.85 or not isinstance(holder, list):
            del holder[last]
        else:
            holder.insert(last, holder[last])
        if not isinstance(data, dict) or not data:
            break
    return json.dumps(data).encode()


def _places(value: Any, way: list[Any]) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*way, key)
        yield from _places(item, [*way, key])


def _cut(rng: Random, peer: Peer, message: Message) -> Sent:
    data = peer.write(message)
    return data[: rng.randrange(len(data))]


def _noise(rng: Random, peer: Peer, message: Message) -> Sent:
    return rng.choice((
        b"", b"\0", b"null", b"[]", b"{}", rng.randbytes(rng.randint(1, 200)), b"[" * 100_000, b'{"a":' * 100_000,
        b'{"now":NaN,"events":[]}', b'{"now":1e999,"events":[]}', b'{"now":0,"events":[' + b"{}," * 1000 + b"{}]}",
        b'{"now":0,"events":{}}', b'{"now":"0","events":[]}', b"\xff\xfe" + b"x" * 50, b"9" * 100_000,
    ))  # fmt: skip


FAULTS: dict[str, Fault] = {
    "time goes back": Fault(_back, RequiredOutcome.REFUSED),
    "time goes back by a microsecond": Fault(_slightly_back, RequiredOutcome.REFUSED),
    "time beyond the limit": Fault(_late, RequiredOutcome.REFUSED),
    "time is no number": Fault(_no_number, RequiredOutcome.REFUSED),
    "event ahead of now": Fault(_ahead, RequiredOutcome.REFUSED),
    "event before the one before": Fault(_event_back, RequiredOutcome.REFUSED),
    "event's time is no number": Fault(_event_no_number, RequiredOutcome.REFUSED),
    "submitted again, waits": Fault(_again("waits"), RequiredOutcome.REFUSED),
    "submitted again, runs": Fault(_again("runs"), RequiredOutcome.REFUSED),
    "submitted again, has ended": Fault(_again("ended"), RequiredOutcome.REFUSED),
    "end of a job that does not run": Fault(_completed, RequiredOutcome.REFUSED),
    "end of a job on unknown machines": Fault(_completed_elsewhere, RequiredOutcome.REFUSED),
    "kill confirmed, never requested": Fault(_killed, RequiredOutcome.REFUSED),
    "kill confirmed twice": Fault(_killed_twice, RequiredOutcome.REFUSED),
    "progress out of range": Fault(_progress, RequiredOutcome.REFUSED),
    "outage of an unknown machine": Fault(_unknown_machine, RequiredOutcome.REFUSED),
    "outage or return notified twice": Fault(_notified_twice, RequiredOutcome.SAME),
    "useless event": Fault(_useless, RequiredOutcome.SAME),
    "SIMULATION_BEGINS again": Fault(_begins_again, RequiredOutcome.REFUSED),
    "event before SIMULATION_BEGINS": Fault(_before_beginning, RequiredOutcome.REFUSED),
    "event after SIMULATION_ENDS": Fault(_after_end, RequiredOutcome.REFUSED),
    "SIMULATION_ENDS too early": Fault(_early_end, RequiredOutcome.EITHER),
    "missing submissions": Fault(_missing(JobSubmitted), RequiredOutcome.EITHER),
    "missing ends of jobs": Fault(_missing(JobCompleted), RequiredOutcome.EITHER),
    "missing kill confirmations": Fault(_missing(JobKilled), RequiredOutcome.EITHER),
    "missing outages": Fault(_missing(Notify), RequiredOutcome.EITHER),
    "missing calls": Fault(_missing(RequestedCall), RequiredOutcome.EITHER),
    "job data of the wrong kind or range": Fault(_bad_job, RequiredOutcome.REFUSED),
    "odd job data and profiles": Fault(_odd_job, RequiredOutcome.EITHER),
    "ids that cannot be": Fault(_long_id, RequiredOutcome.REFUSED),
    "members changed, dropped, doubled": Fault(_mutated, RequiredOutcome.EITHER),
    "message cut": Fault(_cut, RequiredOutcome.REFUSED),
    "noise": Fault(_noise, RequiredOutcome.REFUSED),
}
"""Every kind of fault by name."""

NOT_IN_BATSIM_5 = frozenset({
    "end of a job on unknown machines", "outage of an unknown machine", "outage or return notified twice",
    "missing outages",
})  # fmt: skip
"""Batsim 5 does not state the nodes of a job that has ended, and has no outages. It also writes no wrong walltime, and
no submission time other than the event's (:func:`_bad_job`)."""
