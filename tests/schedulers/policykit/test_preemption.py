"""Preemption, worked out by hand: eight nodes, jobs of partition ``high`` preempt those of ``low``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from spillway.base.errors import DecisionRefused, OptionError
from spillway.protocol.messages import JobState
from spillway.schedulers.model.decisions import Decision, Preempt, Start
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.site import License, Partition, Qos, Site, site_text
from spillway.schedulers.model.site_parts import Scheduler
from spillway.schedulers.policykit.view import View
from spillway.simulator.reading.workload import workload_from_object
from tests.kit.play import converse
from tests.kit.specs import session_spec
from tests.kit.story import Preempted, Story
from tests.kit.workloads import delays
from tests.properties.checked import TINY, play_checked

GB = 10**9


def tiers(mode: str = "cancel", grace_s: float = 0.0, exempt_s: float = 0.0, **more: Any) -> Site:
    """Partition ``low`` of tier 1, with preemptible jobs, and ``high`` of tier 2; both have all nodes."""
    scheduler = Scheduler(preempt="partition_prio", exempt_s=exempt_s)
    low = Partition("low", default=True, preempts=mode, grace_s=grace_s)  # type: ignore[arg-type]  # a mode
    return Site(partitions=(low, Partition("high", tier=2)), scheduler=scheduler, **more)


def job(at: float, nodes: int, seconds: float, partition: str = "low", **fields: Any) -> dict[str, Any]:
    """A job that runs so long, and may run a second longer."""
    return {"subtime": at, "res": nodes, "walltime": seconds + 1, "seconds": seconds, "partition": partition, **fields}


def play(
    site: Site,
    jobs: Sequence[Mapping[str, Any]],
    policy: str = "easy",
    model: str = "rigid",
    *,
    policy_options: Mapping[str, Any] | None = None,
    model_options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Story:
    """Play jobs 1, 2, ... on eight nodes; queue, book and runtime are proven to agree after every message."""
    settings = {"site": site_text(site), **settings}
    spec = session_spec(policy, policy_options or {}, model, model_options or {}, settings=settings)
    story = Story("name", 0)
    assert play_checked(spec, workload_from_object(delays(8, jobs)), story).finished
    return story


def states(story: Story) -> dict[str, str]:
    """Final state of each attempt, in a word."""
    return {name: state.value.partition("_")[2].lower() for name, (_, state) in story.ends.items()}


WIDE = job(0, 8, 100)
URGENT = job(10, 4, 20, "high")
HELD = Scheduler(preempt="partition_prio", requeue_hold_s=121.0)
PATIENT = tiers("cancel", exempt_s=30.0, qos=(Qos("normal"), Qos("long", exempt_s=50.0)))
FILLED = (
    {"subtime": 0, "res": 8, "walltime": 60, "seconds": 50},
    {"subtime": 2, "res": 8, "walltime": 30, "seconds": 20, "bb": GB, "partition": "high"},
    {"subtime": 200, "res": 1, "walltime": 30, "seconds": 20},
)
STORIES: dict[str, tuple[Site, Sequence[Mapping[str, Any]], dict[str, Any], dict[str, int], list[Preempted]]] = {
    # Job 1 has all nodes for 100 s; at 10 s job 2 of ``high`` needs four of them: job 1 is cancelled, 2 starts.
    "cancel": (tiers(), [WIDE, URGENT], {}, {"1": 0, "2": 10}, [Preempted("1", "2", "killed", 10, 10, 80)]),
    # The partition says so, or neither partition nor site states a mode: job 2 waits for the end of job 1.
    "mode off": (tiers("off"), [WIDE, URGENT], {}, {"1": 0, "2": 100}, []),
    "no mode": (tiers(""), [WIDE, URGENT], {}, {"1": 0, "2": 100}, []),
    # Job 1 waits again: it starts over when job 2 has ended. It lost 8 * 10 node-s.
    "requeue": (
        tiers("requeue"), [WIDE, URGENT], {}, {"1": 0, "2": 10, "1#2": 30},
        [Preempted("1", "2", "requeued as 1#2", 10, 10, 80)],
    ),
    # It cannot start before 131 s at a site that says so; job 3 starts when job 2 has ended, at 30 s.
    "requeued and held": (
        msgspec.structs.replace(tiers("requeue"), scheduler=HELD), [WIDE, URGENT, job(12, 8, 40)], {},
        {"1": 0, "2": 10, "3": 30, "1#2": 131}, [Preempted("1", "2", "requeued as 1#2", 10, 10, 80)],
    ),
    # Job 1 has six nodes, and 15 s left when it is chosen at 10 s for job 2, which needs seven and starts at 25 s. Of
    # the two free nodes one is promised to job 2 meanwhile. So of the jobs that come at 11 s job 4, of one node for 5
    # s, starts at once, and job 3, of two nodes, when job 2 has ended.
    "grace": (
        tiers("cancel", 15.0), [job(0, 6, 100), job(10, 7, 20, "high"), job(11, 2, 5), job(11, 1, 5)], {},
        {"1": 0, "2": 25, "3": 45, "4": 11}, [Preempted("1", "2", "killed", 10, 25, 150)],
    ),
    # Job 1 would have until 30 s, and ends of its own accord at 20 s: it is not killed, and job 2 starts then.
    "an end within the grace time": (tiers("cancel", 20.0), [job(0, 8, 20), URGENT], {}, {"1": 0, "2": 20}, []),
    # Until it has run 30 s job 1 is exempt; at 30 s nothing else happens, and job 2 starts.
    "exempt": (
        tiers("cancel", exempt_s=30.0), [WIDE, URGENT], {}, {"1": 0, "2": 30},
        [Preempted("1", "2", "killed", 30, 30, 240)],
    ),
    # 50 s for jobs of QOS ``long``, 30 s for all others.
    "exempt by QOS": (
        PATIENT, [WIDE | {"qos": "long"}, URGENT], {}, {"1": 0, "2": 50}, [Preempted("1", "2", "killed", 50, 50, 400)]
    ),
    # Job 3 of ``high`` needs all nodes, but job 2 of ``high`` holds four until 60 s: job 1 continues until then.
    "nobody goes in vain": (
        tiers(), [job(0, 4, 100), job(0, 4, 60, "high"), job(10, 8, 20, "high")], {}, {"1": 0, "2": 0, "3": 60},
        [Preempted("1", "3", "killed", 60, 60, 240)],
    ),
    # Four nodes are free: job 2 starts there, and job 1 continues.
    "free nodes": (tiers(), [job(0, 4, 100), URGENT], {}, {"1": 0, "2": 10}, []),
    # Jobs 2 and 3 of ``low`` wait before job 4 comes. When job 1 has been cancelled job 4 gets its nodes first; of the
    # others job 2 gets the four that are left.
    "those that may preempt come first": (
        tiers(), [WIDE, job(1, 4, 50), job(2, 4, 50), URGENT], {}, {"1": 0, "2": 10, "3": 30, "4": 10},
        [Preempted("1", "4", "killed", 10, 10, 80)],
    ),
    # Jobs 1 and 2 hold 8 of 10 GB on a storage node each; nodes are free, and job 3 needs 10 GB: the younger one goes.
    "a buffer": (
        tiers(), [job(0, 1, 100, bb=8 * GB), job(1, 1, 100, bb=8 * GB), job(10, 1, 20, "high", bb=10 * GB)], {},
        {"1": 0, "2": 1, "3": 10}, [Preempted("2", "3", "killed", 10, 10, 9)],
    ),
    # Job 1 holds the only license, job 2 of ``high`` needs it.
    "a license": (
        tiers("cancel", licenses=(License("matlab", 1),)),
        [job(0, 1, 100, licenses="matlab:1"), job(10, 1, 20, "high", licenses="matlab:1")], {}, {"1": 0, "2": 10},
        [Preempted("1", "2", "killed", 10, 10, 10)],
    ),
    # Under expansion factors, as with the age of priorities, a requeued job has waited for nothing yet. Job 1 is
    # requeued at 100 s, job 3 has waited since 50 s: when job 2 ends, job 3 has the larger wait over its walltime.
    "its wait begins anew": (
        tiers("requeue"), [job(0, 8, 200), job(100, 8, 20, "high"), job(50, 8, 200)],
        {"policy_options": {"order": "expansion"}}, {"1": 0, "2": 100, "3": 120, "1#2": 320},
        [Preempted("1", "2", "requeued as 1#2", 100, 100, 800)],
    ),
    # Jobs start and preempt only in Slurm's passes; the first one after an event comes after 3 s at the earliest. Job 3
    # comes at 10 s, and job 1 is preempted in the main pass then, the last one until 13 s. Job 4 comes at 11.5 s.
    "Slurm's passes": (
        tiers(), [job(0, 4, 100), job(0, 4, 100), job(10, 4, 50, "high"), job(11.5, 4, 50, "high")],
        {"policy": "slurm-backfill"}, {"1": 0, "2": 0, "3": 10, "4": 13},
        [Preempted("2", "3", "killed", 10, 10, 40), Preempted("1", "4", "killed", 13, 13, 52)],
    ),
    # The log says when each job started; no job is preempted for it, and no job that might preempt starts before. Job 2
    # has free nodes from 10 s on, and started at 40 s at its site. Job 3 is due at 50 s, when job 1 has the nodes that
    # it needs: it starts when job 1 has ended.
    "replay": (
        tiers(), [
            job(0, 4, 100, site_wait_s=0), job(10, 4, 200, "high", site_wait_s=30),
            job(20, 4, 10, "high", site_wait_s=30),
        ], {"policy": "replay"}, {"1": 0, "2": 40, "3": 100}, [],
    ),
    # Job 2 needs a buffer, which it is given at 10 s and fills in 5 s; then job 1 is preempted and requeued, and starts
    # again when job 2 has ended, at 35 s.
    **{
        life: (
            tiers("requeue"), [WIDE | {"bb": GB}, URGENT | {"bb": GB, "stage_in_s": 5.0}], {"bb_life": life},
            {"1": 0, "2": 15, "1#2": 35}, [Preempted("1", "2", "requeued as 1#2", 15, 15, 120)],
        )
        for life in ("slurm", "standby")
    },
    # Job 2 needs all nodes and a buffer, which it is given when it comes, at 2 s; with nothing to stage in it is filled
    # in the same pass, after those that may preempt were looked at. It waits a call, not until job 1 has ended at 50 s,
    # with no other message between.
    **{
        f"filled at once, {life}": (
            tiers("requeue"), FILLED, {"bb_life": life}, {"1": 0, "2": 2, "1#2": 22, "3": 200},
            [Preempted("1", "2", "requeued as 1#2", 2, 2, 16)],
        )
        for life in ("slurm", "standby:bound=5")
    },
}  # fmt: skip
"""Site, jobs, settings; starts, and preempted jobs."""


@pytest.mark.parametrize("name", STORIES)
def test_stories(name: str) -> None:
    """Who starts when, and who is preempted; the last part of every job ends well, unless it was cancelled."""
    site, jobs, settings, starts, told = STORIES[name]
    story = play(site, jobs, **settings)
    assert story.starts == starts
    assert story.preemptions == told
    killed = {preemption.job for preemption in told}
    assert {part for part, state in states(story).items() if state == "killed"} == killed
    assert {part for part, state in states(story).items() if state == "successfully"} == starts.keys() - killed


def test_requeue_from_a_checkpoint() -> None:
    """Job 1 computes ten times 10 s, and writes a checkpoint in 1 s after each: at 25 s it has two, of 20 s.

    It continues from the second one when job 2 has ended, at 35 s: it reads for 2 s, computes eight times and writes
    seven times, until 35 + 2 + 80 + 7 = 124 s. Lost: 25 s but for 20 s of computing, on eight nodes.
    """
    options = {"interval": 10.0, "checkpoint": 1.0, "restart": 2.0}
    jobs = [job(0, 8, 100, bb=GB) | {"walltime": 200}, job(25, 4, 10, "high")]
    story = play(tiers("requeue"), jobs, model="checkpointed", model_options=options, restart="checkpoint")
    assert story.starts == {"1": 0, "2": 25, "1#2": 35}
    assert story.ends["1#2"] == (35 + 2 + 80 + 7, JobState.COMPLETED_SUCCESSFULLY)
    assert story.preemptions == [Preempted("1", "2", "requeued as 1#2", 25, 25, 40)]


def by_qos(**more: Any) -> Site:
    """Jobs of QOS ``urgent`` preempt those of ``scavenger`` and no others; the site cancels."""
    found = (Qos("normal", 5), Qos("urgent", 9, preempt=("scavenger",)), Qos("scavenger", 1, **more))
    return Site(qos=found, scheduler=Scheduler(preempt="qos", preempts="cancel"))


@pytest.mark.parametrize(("preemptor", "victim", "start_s"), [
    ("urgent", "scavenger", 10), ("urgent", "normal", 100), ("normal", "scavenger", 100), ("scavenger", "urgent", 100),
])  # fmt: skip
def test_the_list_of_a_qos(preemptor: str, victim: str, start_s: int) -> None:
    """A QOS preempts only those that it lists, whatever the priorities."""
    jobs = [job(0, 8, 100, qos=victim), job(10, 4, 20, qos=preemptor)]
    for each_job in jobs:
        del each_job["partition"]
    assert play(by_qos(), jobs).starts == {"1": 0, "2": start_s}


def test_a_qos_states_what_happens_to_its_jobs() -> None:
    """The site cancels; QOS ``scavenger`` requeues, after 5 s."""
    jobs = [job(0, 8, 100, qos="scavenger"), job(10, 4, 20, qos="urgent")]
    for each_job in jobs:
        del each_job["partition"]
    story = play(by_qos(preempts="requeue", grace_s=5.0), jobs)
    assert story.starts == {"1": 0, "2": 15, "1#2": 35}


def test_one_makes_room_where_one_suffices() -> None:
    """Jobs 1 (two nodes, at 0 s), 2 (five, at 1 s) and 3 (one, at 2 s) run. Job 4 needs five nodes.

    Youngest first: job 3 alone gives one, jobs 3 and 2 give six. Without job 3 there are five, too: job 2 alone goes.
    """
    jobs = [job(0, 2, 100), job(1, 5, 100), job(2, 1, 100), job(10, 5, 20, "high")]
    story = play(tiers(), jobs)
    assert [preemption.job for preemption in story.preemptions] == ["2"]
    assert states(story) == {"1": "successfully", "2": "killed", "3": "successfully", "4": "successfully"}
    assert story.given["4"].nodes == story.given["2"].nodes


def test_the_lowest_tier_goes_first_then_the_youngest() -> None:
    """Tiers 1 (job 1 at 0 s, job 3 at 2 s) and 2 (job 2 at 1 s, job 4 at 3 s), two nodes each.

    A job of tier 3 needs four nodes: jobs 3 and 1 are preempted. With preempt_youngest_first jobs 4 and 3 are.
    """
    own = {"preempts": "cancel"}
    partitions = (Partition("a", **own), Partition("b", tier=2, **own), Partition("c", tier=3))  # type: ignore[arg-type]
    jobs = [job(0, 2, 50, "a"), job(1, 2, 50, "b"), job(2, 2, 50, "a"), job(3, 2, 50, "b"), job(10, 4, 9, "c")]
    for others, gone in (((), {"1", "3"}), (("preempt_youngest_first",), {"3", "4"})):
        site = Site(partitions=partitions, scheduler=Scheduler(preempt="partition_prio", others=others))
        story = play(site, jobs)
        assert {preemption.job for preemption in story.preemptions} == gone
        assert story.starts["5"] == 10


SUSPENDING = tiers("suspend")


def test_suspension_is_refused() -> None:
    """Unless a replacement is stated."""
    with pytest.raises(OptionError, match=r"preempted jobs of partition low are suspended \(PreemptMode=SUSPEND\)"):
        play(SUSPENDING, [job(0, 8, 9)])
    jobs = [job(0, 8, 100), job(10, 4, 20, "high")]
    assert play(SUSPENDING, jobs, suspend="requeue").starts == {"1": 0, "2": 10, "1#2": 30}
    assert play(SUSPENDING, jobs, suspend="cancel").starts == {"1": 0, "2": 10}
    assert play(SUSPENDING, jobs, suspend="off").starts == {"1": 0, "2": 100}


def test_what_cannot_be_combined() -> None:
    """Gang scheduling; a site that only cancels, and restarts."""
    with pytest.raises(OptionError, match="policy Gang and setting site cannot be combined: jobs that take turns"):
        session_spec("gang", settings={"site": site_text(by_qos())}).check()
    with pytest.raises(OptionError, match="restart=checkpoint needs on_outage=requeue, or a site that requeues"):
        play(tiers(), [job(0, 8, 9)], model="checkpointed", restart="checkpoint")


class Rogue:
    """Starts the first job, and then yields a preemption.

    Parameters
    ----------
    decide
        Makes it of the pass.
    """

    def __init__(self, decide: Callable[[View], Preempt]) -> None:
        self._decide = decide

    def __call__(self, view: View) -> Iterator[Decision]:
        """Run one pass."""
        if view.running and view.queue:
            yield self._decide(view)
        elif view.queue:
            yield Start(view.queue[0], Allocation(tuple(range(view.queue[0].nodes))))


@pytest.mark.parametrize(("decide", "partitions", "exempt_s", "words"), [
    (lambda v: Preempt(v.queue[0], v.queue[0], (0,)), ("low", "low"), 0.0, "only a running job can be preempted"),
    (lambda v: Preempt(v.running[0].job, v.running[0].job, (0,)), ("low", "low"), 0.0, "is not waiting"),
    (lambda v: Preempt(v.running[0].job, v.queue[0], (0,)), ("low", "low"), 0.0, "the site does not let job"),
    (lambda v: Preempt(v.running[0].job, v.queue[0], (0,)), ("high", "low"), 0.0, "the site does not let job"),
    (lambda v: Preempt(v.running[0].job, v.queue[0], (1,)), ("low", "high"), 50.0, "not be preempted for another 40 s"),
])  # fmt: skip
def test_the_guard(decide: Callable[[View], Preempt], partitions: tuple[str, str], exempt_s: float, words: str) -> None:
    """Of a policy's decisions only those allowed by the site are enacted: job 1 runs since 0 s, job 2 waits at 10 s."""
    jobs = [job(0, 8, 100, partitions[0]), job(10, 8, 20, partitions[1])]
    spec = session_spec("easy", settings={"site": site_text(tiers(exempt_s=exempt_s))})
    session = spec.session(policy=Rogue(decide))
    with pytest.raises(DecisionRefused, match=words):
        converse(session, TINY, workload_from_object(delays(8, jobs)))


def test_what_the_simulator_must_offer() -> None:
    """Requeued jobs are registered anew; without requeueing Batsim may run without dynamic jobs."""
    needs = [session_spec("easy", settings={"site": site_text(tiers(mode))}).needs() for mode in ("requeue", "cancel")]
    assert [(need.dynamic_jobs, need.profile_reuse) for need in needs] == [(True, True), (False, False)]
