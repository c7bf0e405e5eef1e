"""The core's machine, which steps between events, against the product, job by job; and by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.studies.gang.play import JobResults, run_gang
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.gang import Gang
from spillway.workloads.models.gang import LAYOUTS, MIXED, SIZES, GangJob, GangOptions, draw_gang
from tests.experiments.studies.gang.wire import run_on_wire

NAMES = ("gang", "gang-io", "gang-io-adaptive", "gang-io-migrate")
S = 1_000_000


def gang(name: str, options: dict[str, str] | None = None) -> Gang:
    """A gang policy."""
    policy = POLICIES[name].build(options or {})
    assert isinstance(policy, Gang)
    return policy


def both(name: str, jobs: list[GangJob], options: dict[str, str] | None = None) -> tuple[JobResults, JobResults]:
    """A workload by the core's machine and by the product."""
    return run_gang(jobs, gang(name, options), 320), run_on_wire(jobs, gang(name, options))


@pytest.mark.slow
def test_hundreds_of_jobs() -> None:
    """One whole setting, with more than 100 migrations, through the protocol quantum by quantum."""
    options = GangOptions(
        jobs=520, mean_gap_s=300.0, seed=1, mean_time_s=2482, intensities=(0.1, 0.33, 0.5), layout="neighbours"
    )
    machine, wire = both("gang-io-migrate", draw_gang(options))
    assert machine == wire
    assert machine.migrations > 100


def test_by_hand() -> None:
    """Figure 7 with slices of 10 s: the job comes home with slice 3, and ends at 147 s; at once it ends at 142 s (for
    the reasons see the tests of the execution)."""
    jobs = [
        GangJob(0, 2, 15 * S, 0, (0, 1)),
        GangJob(0, 2, 200 * S, 0, (2, 3)),
        GangJob(0, 1, 200 * S, 0, (1,)),
        GangJob(0, 2, 30 * S, 1000, (0, 1)),
    ]
    options = {"level": "2", "quantum": "10", "migration_cost": "2"}
    ran = run_gang(jobs, gang("gang-io-migrate", options), 4)
    assert (ran.end_us[0], ran.end_us[3]) == (25 * S, 147 * S)
    at_once = run_gang(jobs, gang("gang-io-migrate", {**options, "migration_start": "at-once"}), 4)
    assert (at_once.end_us[0], at_once.end_us[3]) == (25 * S, 142 * S)
    assert ran.local == [True, True, True, True]
    assert ran.migrations == 1


WORLDS = st.fixed_dictionaries(
    {
        "queue": st.sampled_from(["stop", "scan"]),
        "migration_start": st.sampled_from(["next-quantum", "at-once"]),
        "migration_limit": st.sampled_from(["0", "5", "64", "320"]),
        "level": st.sampled_from(["1", "2", "5", "7"]),
        "quantum": st.sampled_from(["200", "70.5", "13"]),
    }
)


@settings(max_examples=12)
@given(
    name=st.sampled_from(NAMES),
    world=WORLDS,
    seed=st.integers(0, 50),
    layout=st.sampled_from(list(LAYOUTS)),
    sizes=st.sampled_from(list(SIZES)),
    gap_s=st.sampled_from([100.0, 583.0]),
)
def test_the_machine_is_the_product(
    name: str, world: dict[str, str], seed: int, layout: str, sizes: str, gap_s: float
) -> None:
    """Starts, ends, places and migrations of 60 jobs, under all options."""
    jobs = draw_gang(GangOptions(jobs=60, seed=seed, mean_gap_s=gap_s, intensities=MIXED, layout=layout, sizes=sizes))
    machine, product = both(name, jobs, world)
    assert machine == product
