"""Persistent buffers that wait for free bytes beside jobs with buffers: every life x policy, random worlds.

The sizes make creations wait: the check for free bytes and the booking must then be one step.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.terms import Cadence
from spillway.schedulers.lives import LIVES
from spillway.schedulers.policies import POLICIES
from tests.properties.buffer_cases import APART, GB, MACHINES, PERSISTENT, SHARING, Case
from tests.properties.buffer_world import OPTIONS, play_jobs
from tests.properties.small_world import NODES

NAMES = ("a", "b", "c", "d")
WORLDS = 6
"""Worlds for each life and policy."""


def jobs(case: Case, rng: Random) -> dict[str, Any]:
    """Jobs with buffers of their own, jobs that create large persistent ones, and jobs that use and destroy these."""
    racks, size = MACHINES[case.machine]
    data: dict[str, Any] = {"nb_res": NODES, "jobs": [], "profiles": {"none": {"type": "delay", "delay": 1.0}}}
    for number in range(rng.randint(3, 7)):
        profile: dict[str, Any] = {"type": "delay", "delay": rng.choice((0.01, 5.0, 20.0, 90.0))}
        if case.model == "io" or case.life in APART:
            profile |= {"stage_in_s": rng.choice((0.0, 7.0, 30.0)), "stage_out_s": rng.choice((0.0, 2.0, 11.0))}
        nodes, share = rng.choice((1, 1, 2, 4, 8)), rng.choice((size * GB // 10, size * GB // 3, size * GB // 2))
        own: dict[str, Any] = {"bb_total": share} if rng.random() < 0.5 else {"bb_total": 2 * share, "bb_stripes": 2}
        if nodes <= 4 and rng.random() < 0.5:
            own = {"bb": share // nodes}
        job = {
            "id": str(number),
            "subtime": rng.choice((0, 0, 1, rng.randint(0, 30), round(rng.uniform(0, 30), 3))),
            "res": nodes,
            "profile": f"p{number}",
            "site_wait_s": rng.choice((0, 0, 7)),
            "user": number % 2,
            **own,
        }
        if rng.random() < 0.8:
            job["walltime"] = rng.choice((5, 30, 100, 200))
        if rng.random() < 0.25:
            job["bb_use"] = [rng.choice(NAMES)]
        data["profiles"][f"p{number}"] = profile
        data["jobs"].append(job)
    for name in NAMES[: rng.randint(1, 4)]:
        pieces = rng.choice((1, 2, 2, racks))
        total = rng.choice((size * GB // 2, size * GB * 4 // 5, size * GB)) * pieces
        from_s = rng.choice((0, 1, rng.randint(0, 40)))
        made: dict[str, Any] = {"bb_create": [{"name": name, "bytes": total, "stripes": pieces}]}
        for at, fields in ((from_s, made), (from_s + rng.randint(0, 60), {"bb_destroy": [name]})):
            if fields is made or rng.random() < 0.6:
                job = {"id": f"{name}-{len(data['jobs'])}", "subtime": at, "res": rng.choice((0, 0, 1))}
                data["jobs"].append(job | {"profile": "none", "walltime": 60, "site_wait_s": 0, "user": 0} | fields)
    data["jobs"].sort(key=lambda job: job["subtime"])
    return data


def world(policy: str, life: str, seed: int) -> tuple[Case, SessionSpec, dict[str, Any]]:
    """A case, its session, and its jobs."""
    rng = Random(f"{policy} {life} {seed}")
    model = "timeshared" if policy in SHARING else rng.choice(("rigid", "io", "io", "checkpointed"))
    case = Case(policy, life, PERSISTENT, "nearest", machine=rng.choice(list(MACHINES)), model=model, seed=seed)
    options = "" if policy == "slurm-backfill" else rng.choice(OPTIONS[life])
    spec = SessionSpec(
        policy,
        model=model,
        model_options={"phase_target": 5e9} if model == "io" else {},
        settings={"bb_life": life + options},
        cadence=rng.choice((None, Cadence.EVENT)),
        seed=seed,
    )
    return case, spec, jobs(case, rng)


@pytest.mark.parametrize(
    ("policy", "life"),
    [(policy, life) for policy in POLICIES for life in LIVES if policy not in SHARING or life not in APART],
)
def test_question_and_booking_are_one(policy: str, life: str) -> None:
    """No run ends with an error or waits for ever, and all books agree after every message."""
    counts: Counter[str] = Counter()
    for seed in range(WORLDS):
        case, spec, data = world(policy, life, seed)
        try:
            counts += play_jobs(case, spec, data).counts
        except Exception as error:
            error.add_note(f"in the world {seed}: {spec}, {data}")
            raise
    assert counts["started"]
    assert counts["created"]
