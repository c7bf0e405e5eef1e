"""Batsim 5's protocol in its JSON form, both roles, behind the same session and simulator as Batsim 4's.

The conversation begins with a handshake: Batsim sends a length and an init string, the scheduler answers with the
format that it chooses and a hello that requests features. Requests that Batsim 5 lacks are omitted where no decision
depends on them (metadata of jobs), and else refused with a clear message.

Written from the published sources and documentation of 5.0.0-rc2 (June 2026), a release candidate, whose handshake,
submissions, executions, kills, calls and registrations were seen in runs with it.
"""

from __future__ import annotations

import math
import struct

from msgspec.structs import replace

from spillway.base.errors import LocalProtocolError, RemoteProtocolError
from spillway.protocol.batsim5.events import EVENTS
from spillway.protocol.batsim5.requests import REQUESTS, Features, Hello
from spillway.protocol.batsim5.transfers import Transfers
from spillway.protocol.messages import (
    BatsimConfig,
    CallMeLater,
    Event,
    ExecuteJob,
    JobCompleted,
    Message,
    Reply,
    Request,
    SetJobMetadata,
    SetResourceState,
    SimulationBegins,
)
from spillway.protocol.refusal import refusal

_JSON_FORMAT = 0x2
"""Flag of the hello's frame that chooses JSON."""

_NUMBER = struct.Struct("<I")

_WITHOUT_LOSS = frozenset({SetJobMetadata})
"""Requests that Batsim 5 lacks and that change no decision."""

_INCOMPLETE = frozenset({SimulationBegins, JobCompleted})
"""Events without the data that Batsim 5 does not send again."""

_END = b"\0"
"""End of a message: early release candidates need it, later ones ignore it."""


def is_hello(frame: bytes) -> bool:
    """Whether a first frame is Batsim 5's: a length and as many bytes (no JSON object has this form)."""
    return len(frame) >= _NUMBER.size and _NUMBER.unpack_from(frame)[0] == len(frame) - _NUMBER.size


class Batsim5:
    """The codec of one conversation: it keeps data that Batsim 5 does not send again, and numbers the wake-ups.

    Parameters
    ----------
    dynamic_jobs
        Whether to request the registration of jobs and profiles.
    name
        Name of the scheduler in its hello.
    """

    def __init__(self, *, dynamic_jobs: bool = False, name: str = "spillway") -> None:
        self._dynamic_jobs = dynamic_jobs
        self._name = name
        self._config = BatsimConfig()
        self._allocations: dict[str, tuple[int, ...]] = {}
        self._calls = 0
        self._transfers = Transfers()
        self._sleep_states: dict[int, set[str]] = {}
        self._asleep: set[int] = set()

    def greet(self, first: bytes, /) -> bytes | None:
        """Answer Batsim's init frame; raise :class:`RemoteProtocolError` for any other frame."""
        if not is_hello(first):
            raise RemoteProtocolError("expected Batsim 5's init frame: a length of 4 bytes and as many bytes of text")
        self._config = BatsimConfig(
            dynamic_jobs_enabled=self._dynamic_jobs,
            profile_reuse_enabled=self._dynamic_jobs,
            profiles_forwarded_on_submission=True,
            sched_config=first[_NUMBER.size :].rstrip(_END).decode(errors="backslashreplace"),
            by_handshake=True,
        )
        features = Features(self._dynamic_jobs, self._dynamic_jobs, forward_profiles_on_job_submission=True)
        text = REQUESTS.joined(0.0, [REQUESTS.text(Hello(0.0, self._name, features), 0.0)])
        return _NUMBER.pack(_JSON_FORMAT) + text + _END

    def decode_message(self, data: bytes, /) -> Message:
        """Read a message of Batsim; raise :class:`RemoteProtocolError` with the place of a bad field."""
        now, events = EVENTS.decode(data.rstrip(_END))
        return Message(now, tuple([self._completed(it) if type(it) in _INCOMPLETE else it for it in events]))

    def _completed(self, event: Event) -> Event:
        """Complete an event with the data that Batsim 5 does not send again."""
        if isinstance(event, JobCompleted):
            alloc = self._allocations.pop(event.job_id, ())
            return JobCompleted(event.timestamp, event.job_id, event.state, event.return_code, alloc)
        assert isinstance(event, SimulationBegins)
        for host in event.compute_resources:
            triplets = host.properties.get("sleep_pstates", "").split(",")
            self._sleep_states[host.id] = {triplet.partition(":")[0].strip() for triplet in triplets}
        return replace(event, config=self._config)

    def encode_reply(self, reply: Reply, /) -> bytes:
        """Write a reply; raise :class:`LocalProtocolError` for requests that Batsim 5 lacks or that would abort it."""
        before = -math.inf
        texts: list[str] = []
        for request in reply.events:
            if not before <= request.timestamp <= reply.now:
                raise LocalProtocolError(
                    f"the timestamps of requests must ascend up to the reply's now {reply.now!r}, "
                    f"got {request.timestamp!r} after {before!r}"
                )
            before = request.timestamp
            if type(request) not in _WITHOUT_LOSS:
                texts += self._texts(request, reply.now)
        return REQUESTS.joined(reply.now, texts) + _END

    def _texts(self, request: Request, now: float) -> list[str]:
        """Texts of the requests that replace one; data that Batsim 5 will not send again is kept."""
        sent = request
        if type(request) is ExecuteJob:
            self._allocations[request.job_id] = request.alloc
        elif type(request) is CallMeLater:
            self._calls += 1
            sent = replace(request, name=f"call{self._calls}")
        elif type(request) is SetResourceState:
            sent = replace(request, power=self._turns_on_or_off(request))
        try:
            return [REQUESTS.text(it, now) for it in self._transfers.replaced(sent)]
        except (KeyError, TypeError, RecursionError) as error:
            raise LocalProtocolError(f"{type(request).__name__} cannot be written for Batsim 5: {error!r}") from None

    def _turns_on_or_off(self, request: SetResourceState) -> bool:
        """Whether hosts fall asleep or wake up, for which Batsim 5 has a separate request."""
        hosts = set(request.resources)
        woken = hosts & self._asleep
        self._asleep -= hosts
        self._asleep |= {host for host in hosts if str(request.state) in self._sleep_states.get(host, ())}
        return bool(woken or hosts & self._asleep)

    def encode_refusal(self, reason: str, /) -> bytes:
        """Write the reply that ends the conversation with its reason: Batsim aborts on a member unknown to it."""
        return refusal(reason) + _END


class Batsim5Simulator:
    """The codec of one conversation in the simulator's role.

    Attributes
    ----------
    features
        Features that the scheduler's hello requested.
    """

    def __init__(self) -> None:
        self.features = Features()

    def first_frame(self, text: str) -> bytes:
        """The frame that begins the handshake; ``text`` is for the scheduler."""
        data = text.encode()
        return _NUMBER.pack(len(data)) + data

    def read_hello(self, frame: bytes) -> Features:
        """Read the answer to the first frame; raise :class:`RemoteProtocolError` where Batsim would end."""
        flags = _NUMBER.unpack_from(frame)[0] if len(frame) >= _NUMBER.size else 0
        if flags != _JSON_FORMAT:
            raise RemoteProtocolError(
                f"expected a hello whose first four bytes choose the JSON format ({_JSON_FORMAT}), got {frame[:12]!r}"
            )
        _, events = REQUESTS.decode(frame[_NUMBER.size :].rstrip(_END))
        if len(events) != 1 or not isinstance(events[0], Hello):
            raise RemoteProtocolError("the answer to the init frame must have one event, EDCHelloEvent", "$.events")
        self.features = features = events[0].requested_simulation_features
        if features.forward_profiles_on_jobs_killed:
            raise RemoteProtocolError("forward_profiles_on_jobs_killed is not played", "$.events[0].event")
        return features

    def encode_message(self, message: Message, /) -> bytes:
        """Write a message as Batsim does; raise :class:`LocalProtocolError` for values that it cannot express."""
        events = message.events
        if not self.features.forward_profiles_on_simulation_begins:
            events = tuple([replace(it, profiles={}) if type(it) is SimulationBegins else it for it in events])
        return EVENTS.encode(message.now, events, "message") + _END

    def decode_reply(self, data: bytes, /) -> Reply:
        """Read a reply of the scheduler; raise :class:`RemoteProtocolError` with the place."""
        now, events = REQUESTS.decode(data.rstrip(_END))
        for index, event in enumerate(events):
            if isinstance(event, Hello):
                raise RemoteProtocolError("a hello belongs into the handshake", f"$.events[{index}].event_type")
        return Reply(now, events)
