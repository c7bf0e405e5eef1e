"""Passes that explain why jobs wait play each world like those that do not."""

import dataclasses
import enum
from random import Random
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.base.options import OptionInfo
from spillway.core import NodeOrder, StorageOrder
from spillway.platforms.catalogue import platform_from
from spillway.platforms.model import Platform
from spillway.protocol.messages import Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.terms import Cadence
from spillway.schedulers.lives import LIVES
from spillway.schedulers.model.site import site_text
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.backfill import COVERED
from spillway.schedulers.policykit.ordering import MULTIFACTOR
from tests.kit.play import converse
from tests.kit.specs import session_spec
from tests.kit.story import Story
from tests.properties.buffer_cases import SHARING
from tests.properties.sites import SITES, fields_of
from tests.properties.small_world import workload

TINY = platform_from("tiny")
Row = tuple[int, int, float, int, int, int | None, bool]

WORLDS = {
    (policy, life, model): 2
    for policy in POLICIES
    for life in LIVES
    for model in (("timeshared",) if policy in SHARING else ("rigid", "io"))
    if policy not in SHARING or life == "with-nodes"
} | {
    ("pack", "two-reservations", "rigid"): 20,
    ("conservative", "with-nodes", "rigid"): 20,
    ("maxutil", "with-nodes", "malleable:moldable"): 20,
    ("easy", "with-nodes", "malleable:moldable"): 2,
}
"""Number of worlds to play; more where only a few of them showed a former difference."""


LIFE_OPTIONS = {
    "slurm": ("slurm", f"slurm:order={MULTIFACTOR}"),
    "standby": ("standby:bound=5", f"standby:bound=5,order={MULTIFACTOR}"),
}


def jobs(rng: Random) -> list[Row]:
    """Jobs that come while others wait; some exceed their walltimes."""
    span_s, share = rng.choice((5, 40, 100)), rng.random()
    return [
        (
            rng.randint(0, span_s),
            rng.choice((1, 1, 1, 2, 2, 3, 4, 5, 6, 8)),
            seconds := float(rng.choice((1, 2, 3, 5, 8, 13, 21, 34, 60))),
            rng.choice((1, 2, 3, 5)) if rng.random() < share else 0,
            rng.choice((0, 0, 40, 200)),
            int(seconds) + rng.choice((0, 1, 2, 5, 20, 60)),
            rng.random() < 0.5,
        )
        for _ in range(rng.randint(6, 20))
    ]


def value(rng: Random, info: OptionInfo) -> Any:
    """A value of an option: one of few, or near its default, or (a whole number) its lower bound."""
    if info.choices or info.type is bool:
        return rng.choice(info.choices or (False, True))
    if issubclass(info.type, enum.Enum):
        return rng.choice(list(info.type))
    assert info.low is not None
    assert info.high is not None
    near = [info.default, 2 * info.default, info.default / 2]
    if info.type is int:
        near = [info.default, *(int(info.low) + more for more in range(4))]
    return rng.choice([item for item in near if info.low <= item <= info.high])


def spec_of(rng: Random, policy: str, life: str, model: str) -> SessionSpec:
    """A session with some options and settings that go together."""
    name, _, option = model.partition(":")
    while True:
        known = POLICIES[policy].options()
        options = {info.name: value(rng, info) for info in rng.sample(known, min(len(known), rng.randint(0, 4)))}
        ordered = [info.name for info in known if MULTIFACTOR in (info.choices or ())]
        options |= dict.fromkeys(ordered, MULTIFACTOR) if rng.random() < 0.4 else {}
        settings = {
            "bb_life": rng.choice(LIFE_OPTIONS.get(life, (life,))),
            "node_order": rng.choice((NodeOrder.FIRST_FIT, *NodeOrder)).value,
            "storage_order": rng.choice((StorageOrder.NEAREST, *StorageOrder)).value,
            "estimates": rng.choice(("walltime", "walltime", "history")),
            "site": rng.choice(("", *map(site_text, SITES.values()))),
        }
        literal, cadence = rng.random() < 0.2, rng.choice((None, Cadence.EVENT))
        spec = session_spec(policy, options, name, {option: True} if option else {}, settings, literal, cadence)
        try:
            for site in (settings["site"], ""):  # a site states its options, too
                there = dataclasses.replace(spec.policy, session={**settings, "site": site})
                dataclasses.replace(spec, policy=there).session()
        except OptionError:
            continue
        return spec


def play(
    spec: SessionSpec, data: dict[str, Any], *, explain: bool = False, check: bool = False,
    platform: Platform = TINY,
) -> tuple[Any, ...]:  # fmt: skip
    """All that happens to jobs, all replies, and how far the generator was used."""
    story, replies = Story(), list[Reply]()
    session = spec.session(story, explain=explain)
    converse(session, platform, data, spec=spec, replies=replies, check=check)
    assert story.lines
    return story.lines, replies, session._views.rng.getstate()


@pytest.mark.parametrize(("policy", "life", "model"), WORLDS, ids=[" ".join(world) for world in WORLDS])
def test_every_world(policy: str, life: str, model: str) -> None:
    """Normal passes and explained ones give the same results."""
    for seed in range(WORLDS[policy, life, model]):
        rng = Random(f"{policy} {life} {model} {seed}")
        spec, data = spec_of(rng, policy, life, model), workload(model.partition(":")[0], jobs(rng))
        for stated in data["jobs"]:
            stated |= fields_of(rng)
        for number, profile in enumerate(data["profiles"].values() if life != "with-nodes" else ()):
            profile |= {"stage_in_s": (0.0, 3.0, 7.0)[number % 3], "stage_out_s": (0.0, 5.0)[number % 2]}
        expected = play(spec, data)
        assert play(spec, data, explain=True) == expected, spec


@pytest.mark.parametrize("covered", COVERED)
def test_without_spare_nodes(covered: str) -> None:
    """EASY in which nothing runs beyond the start of the first reservation, whatever this covers."""
    for seed in range(6):
        rng = Random(f"spare {covered} {seed}")
        options = {"spare": False, "covered": covered, "depth": rng.choice((1, 1, 2, 3))}
        settings = {"bb_life": rng.choice((*LIVES,)), "site": rng.choice(("", *map(site_text, SITES.values())))}
        spec, data = session_spec("easy", options, "rigid", settings=settings), workload("rigid", jobs(rng))
        for stated in data["jobs"]:
            stated |= fields_of(rng)
        assert play(spec, data, explain=True) == play(spec, data), spec
