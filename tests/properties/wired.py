"""A session behind a codec in this process: each message and reply is written and read again, as on a socket."""

import json
from typing import Any, NamedTuple

from spillway.platforms.model import Platform
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim5.codec import Batsim5, Batsim5Simulator
from spillway.protocol.messages import ExecuteJob, Message, Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.options import BATSIM_5, SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.workloads.batsim.batsim5 import to_batsim5
from spillway.workloads.batsim.json_file import format_batsim, parse_batsim


class Wired:
    """A conversation over bytes.

    Attributes
    ----------
    starts
        Of each job, also of sub-jobs: when it started (s), and its compute hosts.
    replies
        All replies as they were written.
    """

    def __init__(self, spec: SessionSpec, batsim: int, nodes: int) -> None:
        self._session = spec.session()
        self._nodes = nodes
        self._ours: Any = batsim4
        self._theirs: Any = batsim4
        if batsim == 5:
            self._ours, self._theirs = Batsim5(dynamic_jobs=spec.needs().dynamic_jobs), Batsim5Simulator()
            self._theirs.read_hello(self._ours.greet(self._theirs.first_frame("")))
        self.starts: dict[str, tuple[float, tuple[int, ...]]] = {}
        self.replies: list[bytes] = []

    def exchange(self, message: Message) -> Reply:
        """Pass a message on, and its reply back."""
        heard = self._ours.decode_message(self._theirs.encode_message(message))
        said = self._session.handle(heard)
        self._session.check()
        for request in said.events:
            if isinstance(request, ExecuteJob):
                nodes = tuple([host for host in request.alloc if host < self._nodes])
                self.starts[request.job_id] = (request.timestamp, nodes)
        self.replies.append(self._ours.encode_reply(said))
        reply: Reply = self._theirs.decode_reply(self.replies[-1])
        return reply

    def close(self) -> None:
        """Nothing is open."""


class Talk(NamedTuple):
    """Result of a conversation: its link, its end (s), and the number of successful jobs."""

    link: Wired
    end_s: float
    success: int


def play(platform: Platform, data: dict[str, Any], spec: SessionSpec, batsim: int) -> Talk:
    """Simulate a workload of Batsim 4, translated where Batsim 5 is to play it."""
    needs = spec.needs()
    options = SimulationOptions(
        dynamic_jobs=needs.dynamic_jobs, profile_reuse=needs.profile_reuse, fail_on_deadlock=True, forward_profiles=True
    )
    if batsim == 5:
        options = SimulationOptions(
            dynamic_jobs=needs.dynamic_jobs,
            profile_reuse=needs.dynamic_jobs,
            fail_on_deadlock=True,
            forward_profiles=True,
            compute_sharing=True,
            rules=BATSIM_5,
        )
        data = json.loads(format_batsim(to_batsim5(parse_batsim(json.dumps(data)))))
    workload = workload_from_object(data, rules=options.rules)
    nodes = sum(host.speed > 0 and host.properties.get("role", "") == "" for host in platform.hosts)
    link = Wired(spec, batsim, nodes)
    with FluidEngine(platform) as engine:
        result = Simulation(platform, [workload], engine, link, options).run()
    return Talk(link, result.end_s, result.totals.success)
