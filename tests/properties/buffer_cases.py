"""Cases of burst buffers: policy x life x kind of buffer x rule of placement, and granules, limits, outages, models.

One more kind of buffer is one more entry of :data:`KINDS`.
"""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from spillway.core import StorageOrder
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.lives import LIVES
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.timesharing.sharing import NodeSharingPolicy

GB = 10**9


class Case(NamedTuple):
    """One point of the product.

    Attributes
    ----------
    policy, life, kind, rule
        By their names; ``kind`` of :data:`KINDS`, or mixed.
    granule
        Bytes.
    outage
        Treatment of running jobs when storage nodes and nodes go out and come back; "": no outages.
    limited
        Whether there is a limit for each user.
    machine
        Of :data:`MACHINES`.
    model
        Name of a job model.
    drained
        Whether parts of storage nodes are drained and come back.
    way
        Way to play the conversation, of :data:`WAYS`.
    seed
        Of jobs, outages and options.
    """

    policy: str
    life: str
    kind: str
    rule: str
    granule: int = 1
    outage: str = ""
    limited: bool = False
    machine: str = "two"
    model: str = "rigid"
    drained: bool = False
    way: str = "whole"
    seed: int = 0


WAYS = ("whole", "single", "bytes", "socket")
"""In this process with all sub-jobs of an operation in one request; with a request for each; with messages as text of
Batsim 4; with such text over a socket. All must have the same results.
"""

BATSIM_5 = "batsim5"
"""The way of a conversation in Batsim 5's protocol over a socket, from its handshake on."""

BY_ITS_CLOCK = "whole, by Batsim 5's clock"
"""As whole, with twelve decimals of a second and calls at whole milliseconds: same results as :data:`BATSIM_5`."""

PERSISTENT = "persistent"
"""Jobs with and without nodes that create, use and destroy persistent buffers; some have one of their own, too."""

KINDS: Mapping[str, Callable[[Random, int], dict[str, Any]]] = {
    "per-node": lambda rng, size: {"bb": size},
    "striped": lambda rng, size: {
        "bb_total": rng.choice((size, 2 * size + 1, 3 * size)),
        "bb_stripes": rng.choice((2, 2, 3, 4)),
    },
    "one": lambda rng, size: {"bb_total": rng.choice((size, 2 * size))},
    PERSISTENT: lambda rng, size: {"bb_total": size} if rng.random() < 0.3 else {},
}
"""Fields of a job with a buffer of a kind, from a size that fits on a storage node."""

MIXED = "mixed"
"""Jobs of all kinds side by side."""

MACHINES: Mapping[str, tuple[int, int]] = {"two": (2, 10), "four": (4, 4)}
"""Racks of the machine of eight nodes, and GB of the one storage node of each."""

RULES = tuple(rule.value for rule in StorageOrder)
GRANULES = (1, 1, GB, 3 * 10**8)
OUTAGES = ("", "", "continue", "kill", "requeue")
SHARING = frozenset(name for name, entry in POLICIES.items() if issubclass(entry.cls, NodeSharingPolicy))
PACKING = frozenset(name for name, entry in POLICIES.items() if getattr(entry.cls, "packs_buffers", False))
ON_NODES = ("malleable", "timeshared")
"""Models with jobs that change their nodes: not where buffers have lives of their own."""

APART = tuple(life for life in LIVES if life != "with-nodes")


def refused(case: Case) -> bool:
    """Whether policy, life, rule and model cannot be combined, as the documentation states it."""
    apart = case.life in APART
    return (
        (apart and case.model in ON_NODES)
        or (case.policy in SHARING and case.model != "timeshared")
        or (case.rule == "rack" and (apart or case.policy in PACKING | SHARING))
    )


def random_case(rng: Random, *, crowded: bool = False) -> Case:
    """A case, one of a few hundred thousand; some of them are refused.

    A ``crowded`` one has a life of buffers, persistent buffers, outages and drains at once.
    """
    policy, life = rng.choice(list(POLICIES)), rng.choice(list(LIVES))
    if crowded:
        policy, life = rng.choice([name for name in POLICIES if name not in SHARING]), rng.choice(APART)
    models = [name for name in (*MODELS, "io", "io") if life not in APART or name not in ON_NODES]
    return Case(
        policy,
        life,
        rng.choice((PERSISTENT, MIXED) if crowded else (*KINDS, MIXED)),
        rng.choice([rule for rule in RULES if not crowded or rule != "rack"]),
        rng.choice(GRANULES),
        rng.choice([rule for rule in OUTAGES if rule or not crowded]),
        rng.random() < 0.3,
        rng.choice(list(MACHINES)),
        "timeshared" if policy in SHARING else rng.choice(models),
        crowded or rng.random() < 0.4,
        rng.choice(WAYS),
        rng.randrange(1 << 30),
    )


def covering(policy: str) -> Iterator[Case]:
    """A case for each rule, so that over all policies each pair of policy, life, kind and rule occurs that can be
    played (:func:`refused`); everything else goes round.
    """
    place, kinds, lives = list(POLICIES).index(policy), (*KINDS, MIXED), tuple(LIVES)
    for step, rule in enumerate(RULES):
        life = lives[(place + step) % len(lives)]
        if rule == "rack" or policy in SHARING:
            life = "with-nodes"
        if rule == "rack" and policy in PACKING | SHARING:
            continue
        kind = kinds[(place // len(lives) + step) % len(kinds)]
        models = [name for name in MODELS if life not in APART or name not in ON_NODES]
        yield Case(
            policy,
            life,
            kind,
            rule,
            GRANULES[(place + step // 2) % len(GRANULES)],
            OUTAGES[(2 * place + step) % len(OUTAGES)],
            (place + step) % 3 == 0,
            list(MACHINES)[(place + step // 4) % len(MACHINES)],
            "timeshared" if policy in SHARING else models[(place + 3 * step) % len(models)],
            (place + step) % 4 == 1,
            WAYS[(place + step // 2) % len(WAYS)],
            step,
        )
