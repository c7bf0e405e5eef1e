"""Small workloads with something to play for every job model, and runs of them with everything checked."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from spillway.core import Stopwatch
from spillway.experiments.campaign.grid import expand
from spillway.experiments.run import simulation, single
from spillway.experiments.run.spec import (
    Campaign,
    Engine,
    ModelSpec,
    PolicySpec,
    PreparedInput,
    RunSpec,
    Task,
    Transport,
    WorkloadSpec,
)
from spillway.experiments.trials.world import GB as GB
from spillway.experiments.trials.world import NODES as NODES
from spillway.experiments.trials.world import TrialJob, World
from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import generate
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.core.session import Session

JOBS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.integers(1, 8),
        st.sampled_from([1.0, 7.5, 20.0, 60.0]),
        st.integers(0, 5),
        st.sampled_from([0, 0, 40]),
        st.sampled_from([None, 12, 30, 200]),
        st.booleans(),
    ),
    min_size=1,
    max_size=7,
)
"""Jobs of :func:`workload`."""


def workload(model: str, jobs: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """A Batsim workload from (submission, nodes, seconds, GB of burst buffer, I/O rate in MB/s, walltime, special)."""
    return World(tuple(TrialJob(*job) for job in jobs), model).workload()


def runs(
    root: Path, model: str, data: dict[str, Any], policies: list[str], *, bandwidth: str = "aware",
    transports: tuple[Transport, ...] = (Transport.DIRECT,), options: dict[str, Any] | None = None,
    session: dict[str, str] | None = None, machine: dict[str, Any] | None = None,
) -> list[RunSpec]:  # fmt: skip
    """Describe runs of one workload on ``tiny`` with some keys of ``machine``, inputs written to ``root``."""
    inputs = root / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    texts = {"w.json": json.dumps(data), "tiny.xml": generate(describe("tiny", machine))}
    for name, text in texts.items():
        (inputs / name).write_text(text, encoding="utf-8")
    pair = [
        PreparedInput(name=name[0], path=f"inputs/{name}", sha256=hashlib.sha256(text.encode()).hexdigest())
        for name, text in texts.items()
    ]
    settings = {"bandwidth": bandwidth} | (session or {})
    found: list[RunSpec] = []
    for transport in transports:
        campaign = Campaign(
            name="small",
            workloads=(WorkloadSpec(source="w"),),
            policies=tuple(PolicySpec(policy=name, session=settings) for name in policies),
            models=(ModelSpec(name=model, options=options or {}),),
            engine=Engine.FLUID,
            transport=transport,
        )
        found += expand(campaign, {(campaign.models[0].label, 0): [(pair[0], pair[1])]})
    return found


class Checked:
    """A session that checks after every message that ledger, cluster and runtime agree."""

    last: Session

    def __init__(self, session: Session, report: Callable[[float], None]) -> None:
        self._session = session
        self._timed = Stopwatch(session, report)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._timed, name)

    def __call__(self, message: Message) -> Reply:
        """Answer and check."""
        return self.handle(message)

    def handle(self, message: Message) -> Reply:
        """Answer and check."""
        reply = self._timed.handle(message)
        session = self._session
        session.check()
        check = getattr(session._runtime, "check", None)
        if check is not None:
            check()
        Checked.last = session
        return reply


def execute(run: RunSpec, root: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Play a run with all checks, write its folder, and give the session as it is in the end."""
    monkeypatch.setattr(simulation, "Stopwatch", Checked)
    single.execute(Task(run, root))
    return Checked.last
