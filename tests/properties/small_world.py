"""Small workloads with something to play for every job model, and runs of them with everything checked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from experiments import single
from experiments.grid import expand
from experiments.spec import Campaign, Engine, ModelSpec, Player, PolicySpec, Prepared, RunSpec, WorkloadSpec
from experiments.stopwatch import TimedSession
from platforms.catalogue import describe
from platforms.generate import generate
from schedulers.core.session import Session
from schedulers.wire.messages import Message, Reply

GB = 10**9
NODES = 8
"""Nodes of the platform ``tiny``: two switches of four nodes with a burst buffer of 10 GB each, a file system."""

MALLEABLE = {
    "iterations": 6, "io_every": 4, "control_every": 2, "minimum": 1, "maximum": 8, "overhead": 1.0,
    "io_bytes": 2e9, "model": {"work": 40.0},
}  # fmt: skip

SPECIAL: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "rigid": ({}, {}),
    "stream": ({}, {"io_bytes": 10**9}),
    "io": ({}, {}),
    "operations": ({"periods": {"count": 2, "compute_s": 7.0, "io_bytes": 10**9}}, {}),
    "malleable": ({"malleable": MALLEABLE}, {}),
    "timeshared": ({}, {"io_blocks": 30}),
}
"""What a job of each model says in its profile and beside it."""


def profile(kind: str, seconds: float, bb_bytes: int) -> dict[str, Any]:
    """A time, or computation and communication, with a burst buffer."""
    own = {"type": "delay", "delay": seconds} if kind == "delay" else {
        "type": "parallel_homogeneous", "cpu": seconds * 1e9, "com": 1e6
    }  # fmt: skip
    return own | ({"bb": bb_bytes} if bb_bytes else {})


def workload(model: str, jobs: list[tuple[int, int, float, int, int, int | None, bool]]) -> dict[str, Any]:
    """A Batsim workload from (submission, nodes, seconds, GB of burst buffer, I/O rate in MB/s, walltime, special)."""
    in_profile, in_job = SPECIAL[model]
    found: dict[str, Any] = {"nb_res": NODES, "jobs": [], "profiles": {}}
    for number, (submit_s, nodes, seconds, bb_gb, rate, walltime_s, special) in enumerate(jobs):
        kind = "delay" if model == "timeshared" or (special and in_profile) or number % 2 else "parallel_homogeneous"
        name = f"p{number}"
        found["profiles"][name] = profile(kind, seconds, bb_gb * GB) | (in_profile if special else {})
        job: dict[str, Any] = {
            "id": str(number),
            "subtime": submit_s,
            "res": nodes,
            "profile": name,
            "user": number % 2,
            "site_wait_s": 7 * (number % 3),
        }
        job |= {"io_rate": rate * 10**6} if rate else {}
        job |= {"walltime": walltime_s} if walltime_s is not None else {}
        stream = model == "stream" and kind == "delay"
        job |= in_job if special and not stream else {}
        found["jobs"].append(job)
    return found


def runs(
    root: Path, model: str, data: dict[str, Any], policies: list[str], *, bandwidth: str = "aware",
    players: tuple[Player, ...] = (Player.DIRECT,), options: dict[str, Any] | None = None,
    session: dict[str, str] | None = None,
) -> list[RunSpec]:  # fmt: skip
    """Describe runs of one workload on ``tiny``, inputs written to ``root``."""
    inputs = root / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    texts = {"w.json": json.dumps(data), "tiny.xml": generate(describe("tiny"))}
    for name, text in texts.items():
        (inputs / name).write_text(text, encoding="utf-8")
    pair = [
        Prepared(name=name[0], path=f"inputs/{name}", sha256=hashlib.sha256(text.encode()).hexdigest())
        for name, text in texts.items()
    ]
    settings = {"bandwidth": bandwidth} | (session or {})
    found: list[RunSpec] = []
    for player in players:
        campaign = Campaign(
            name="small",
            workloads=(WorkloadSpec(source="w"),),
            policies=tuple(PolicySpec(policy=name, session=settings) for name in policies),
            models=(ModelSpec(name=model, options=options or {}),),
            engine=Engine.FLUID,
            player=player,
        )
        found += expand(campaign, {(campaign.models[0].label, 0): [(pair[0], pair[1])]})
    return found


class Checked(TimedSession):
    """A session whose ledger, cluster and runtime are proven to agree after every message."""

    last: Session

    def handle(self, message: Message) -> Reply:
        """Answer and check."""
        reply = super().handle(message)
        session = self._session
        session.check()
        check = getattr(session._runtime, "check", None)
        if check is not None:
            check()
        Checked.last = session
        return reply


def execute(run: RunSpec, root: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Play a run with all checks, write its folder, and give the session as it is in the end."""
    monkeypatch.setattr(single, "TimedSession", Checked)
    single.execute(single.Task(run, root, 600.0))
    return Checked.last
