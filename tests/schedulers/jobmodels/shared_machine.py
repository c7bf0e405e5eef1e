"""Plays a few jobs under a policy that shares four nodes in time, through the embedded simulator."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from spillway.platforms.catalogue import platform_from
from spillway.protocol.messages import Message, Reply, Request
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.jobmodels.base import JobModel
from spillway.schedulers.policykit.view import Policy
from spillway.simulator.engines.native import FixedEngine
from tests.kit.play import converse
from tests.kit.story import Story

NODES = 4


class Shown(Story):
    """What happens, by the jobs' names, and the requests."""

    def __init__(self) -> None:
        super().__init__("name")
        self.requests: list[Request] = []

    def count(self, kind: type) -> int:
        """Requests of a kind that were sent."""
        return sum(isinstance(request, kind) for request in self.requests)


def job(name: str, nodes: int, seconds: float, submit_s: float = 0.0, **extras: Any) -> dict[str, Any]:
    """A job with a delay profile; ``walltime``, ``io_blocks``, ``file_nodes`` and others as extras."""
    profile = extras.pop("profile", {"type": "delay", "delay": seconds})
    return {"id": name, "subtime": submit_s, "res": nodes, "profile": name, "#profile": profile, **extras}


def play(
    policy: Policy,
    jobs: list[dict[str, Any]],
    model: JobModel | None = None,
    *,
    settings: Settings | None = None,
    dynamic: bool = True,
    platform: str = "serverless",
    nodes: int = NODES,
    paths: Sequence[str] = (),
    watch: Callable[[Message, Reply], None] | None = None,
) -> Shown:
    """Run to the end; the ledger is checked after every message, and ``watch`` called with it and its answer.

    ``paths`` are the links to the file system (``io_path``) of node after node, where the platform states no links.
    """
    shown = Shown()
    session = assemble(policy, settings or Settings(), model, observer=shown)
    data = {
        "nb_res": nodes,
        "jobs": [{key: value for key, value in entry.items() if key != "#profile"} for entry in jobs],
        "profiles": {entry["profile"]: entry["#profile"] for entry in jobs},
    }
    machine = platform_from(platform)
    if paths:
        names = sorted(host.name for host in machine.hosts if host.name.startswith("node"))  # Batsim's order
        stated = {name: {"io_path": path} for name, path in zip(names, paths, strict=False)}
        hosts = [replace(host, properties=stated.get(host.name, host.properties)) for host in machine.hosts]
        machine = replace(machine, hosts=tuple(hosts))
    replies = list[Reply]()
    converse(
        session, machine, data, engine=FixedEngine, replies=replies, after=watch,
        dynamic_jobs=dynamic, fail_on_deadlock=True, machine_limit=nodes,
    )  # fmt: skip
    shown.requests = [request for reply in replies for request in reply.events]
    return shown
