"""Worlds in which passes are compared with the specification: plain, rich, of the fuzzers, and logs of the studies."""

import json
from functools import cache
from random import Random
from typing import Any

from spillway.base.errors import OptionError
from spillway.core import NodeOrder, Placement, StorageOrder
from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import build
from spillway.platforms.model import Platform
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Cadence, Terms
from spillway.schedulers.lives import LIVES
from spillway.schedulers.model.site import site_text
from spillway.schedulers.policies import POLICIES
from spillway.simulator.reading.workload import workload_from_object
from spillway.workloads.batsim.json_file import format_batsim
from spillway.workloads.load import load_workload
from tests.kit.play import converse
from tests.kit.specs import session_spec
from tests.properties.buffer_cases import APART, GB, Case, random_case
from tests.properties.buffer_world import play as play_case
from tests.properties.checked import play_checked
from tests.properties.mini import MiniJob, MiniMachine, play
from tests.properties.sites import SITES, fields_of
from tests.properties.small_world import workload
from tests.reference.comparison import POLICY_RULES, Comparison, compared
from tests.reference.specification import ORDERS
from tests.schedulers.runtimes import rigid

DESCRIBED = {cls: [name for name, entry in POLICIES.items() if entry.cls is cls] for cls in POLICY_RULES}
"""Policies that the specification describes, by class."""

FLAT = MiniMachine(nodes=8, storages=2, storage_bytes=10 * GB)
TREE = MiniMachine(
    nodes=8, storages=2, storage_bytes=10 * GB, io_paths=tuple(f"pfs=100/edge{i // 4}=60" for i in range(8))
)
SHORT = {"steps": 20, "evaluations": 60}
"""Short searches."""


def _options(rng: Random, policy: str) -> dict[str, Any]:
    """Options of a policy, drawn from those that the specification has, and searches cut short."""
    known = {info.name for info in POLICIES[policy].options()}
    orders = [name for name in ("order", "fill_order") if name in known]
    drawn: dict[str, Any] = {name: rng.choice(sorted(ORDERS)) for name in orders if rng.random() < 0.3}
    if "depth" in known and rng.random() < 0.4:
        drawn["depth"] = rng.randint(0, 4)
    if "covered" in known and rng.random() < 0.3:
        drawn["covered"] = rng.choice(("nodes", "nodes+bb", "all"))
    if "replan" in known and rng.random() < 0.2:
        drawn["replan"] = True
    if "balance" in known and rng.random() < 0.3:
        drawn["balance"] = rng.choice((0.0, 0.5, 3.0))
    return drawn | {name: value for name, value in SHORT.items() if name in known}


def plain_jobs(rng: Random) -> list[MiniJob]:
    """Jobs that wait for each other; some are killed at their walltimes."""
    span_s, buffers, rates = rng.choice((5, 40, 60)), rng.random(), rng.random() < 0.5
    jobs = []
    for _ in range(rng.randint(2, 16)):
        run_s, slack_s = rng.randint(1, 40), rng.choice((-1, 0, 0, 5, 30))
        size = rng.choice((1, 2, 3, 6)) * GB if rng.random() < buffers else 0
        rate = rng.choice((0, 5, 20, 40)) if rates else 0
        at = float(rng.randint(0, span_s))
        jobs.append(
            MiniJob(at, rng.choice((1, 1, 2, 3, 4, 6, 8, 9)), float(max(1, run_s + slack_s)), run_s, size, rate)
        )
    return jobs


def plain(rng: Random, policy: str, comparison: Comparison) -> None:
    """Play a plain world: jobs of given durations, without outages, tables from the ledger."""
    comparison.plain = True
    comparison.placement = Placement(rng.choice((NodeOrder.FIRST_FIT, *NodeOrder)), rng.choice((*StorageOrder,)))
    with compared(comparison):
        session = Session(
            POLICIES[policy].build(_options(rng, policy)),
            rigid(),
            terms=Terms(
                seed=3,
                cadence=rng.choice((Cadence.MESSAGE, Cadence.MESSAGE, Cadence.EVENT)),
                placement=comparison.placement,
            ),
        )
        play(session, rng.choice((FLAT, TREE)), plain_jobs(rng), rng.choice((0.0, 1e-4)))


def rich(rng: Random, policy: str, comparison: Comparison) -> None:
    """Play a world with a site, lives of burst buffers, estimates and job models on the embedded simulator."""
    comparison.plain = False
    life, model = rng.choice((*LIVES,)), rng.choice(("rigid", "rigid", "io"))
    jobs = [
        (
            rng.randint(0, 40),
            rng.choice((1, 1, 2, 3, 4, 6, 8)),
            seconds := float(rng.choice((1, 3, 8, 21, 60))),
            rng.choice((0, 1, 2, 3, 5)),
            rng.choice((0, 0, 40, 200)),
            int(seconds) + rng.choice((0, 2, 20, 60)),
            rng.random() < 0.5,
        )
        for _ in range(rng.randint(3, 14))
    ]
    data = workload(model, jobs)
    for stated in data["jobs"]:
        stated |= fields_of(rng)
    for number, profile in enumerate(data["profiles"].values() if life in APART else ()):
        profile |= {"stage_in_s": (0.0, 3.0, 7.0)[number % 3], "stage_out_s": (0.0, 5.0)[number % 2]}
    settings = {
        "bb_life": life,
        "node_order": rng.choice((*NodeOrder,)).value,
        "storage_order": rng.choice((*StorageOrder,)).value,
        "estimates": rng.choice(("walltime", "walltime", "history")),
        "site": rng.choice(("", *map(site_text, SITES.values()))),
    }
    spec = session_spec(policy, _options(rng, policy), model, {}, settings)
    with compared(comparison):
        try:
            play_checked(spec, workload_from_object(data), Observer())
        except OptionError:
            comparison.outside["a combination that is refused"] += 1


def fuzzed(rng: Random, policy: str, comparison: Comparison) -> None:
    """Play a world of the fuzzers (burst buffers of all kinds, outages, drains), in this process, under a policy."""
    comparison.plain = False
    case: Case = random_case(rng)._replace(policy=policy, way="whole")
    with compared(comparison):
        try:
            play_case(case)
        except OptionError:
            comparison.outside["a combination that is refused"] += 1


@cache
def _thesis() -> Platform:
    return build(describe("thesis", None))


def logged(rng: Random, policy: str, comparison: Comparison) -> None:
    """Play a log as the studies do, on the thesis's machine, tables from the ledger; long queues are left out."""
    placement = Placement(storage_order=rng.choice([order for order in StorageOrder if order is not StorageOrder.RACK]))
    comparison.plain, comparison.placement, comparison.most = True, placement, 12
    log = load_workload(f"kth-like:jobs={rng.choice((40, 80))},seed={rng.randrange(1000)}")
    rules = {"storage_order": placement.storage_order.value}
    spec = session_spec(policy, _options(rng, policy), settings=rules)
    with compared(comparison):
        converse(spec.session(Observer()), _thesis(), json.loads(format_batsim(log)), spec=spec, check=False)


WORLDS = {"plain": plain, "rich": rich, "fuzzed": fuzzed, "logged": logged}
"""Kinds of worlds by name."""


def policy_of(number: int) -> str:
    """The policy of a world: each class in turn, and of the class each policy."""
    turn, place = divmod(number, len(DESCRIBED))
    names = [*DESCRIBED.values()][place]
    return names[turn % len(names)]


def play_all(kind: str, worlds: int, first: int = 0) -> Comparison:
    """Play worlds of a kind, under the policies in turn; an AssertionError names the world that differs."""
    comparison = Comparison()
    for number in range(first, first + worlds):
        policy = policy_of(number)
        try:
            WORLDS[kind](Random(f"{kind} {number}"), policy, comparison)
        except AssertionError as error:
            raise AssertionError(f"{kind} world {number}, {policy}: {error}") from error
    return comparison
