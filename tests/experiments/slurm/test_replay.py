"""The policy and the life of buffers, held to recordings of real Slurms."""

from pathlib import Path

import msgspec
import pytest

from spillway.base.dates import seconds_of
from spillway.experiments.slurm.configuration import Settings, Submission
from spillway.experiments.slurm.deviations import Priorities, deviations, priorities
from spillway.experiments.slurm.recording import RecordedJob, Recording, read
from spillway.experiments.slurm.replay import replayed, site_of_recording, starts
from spillway.experiments.slurm.validate import beside
from tests.kit.cases import cases

DATA = Path(__file__).parents[2] / "data" / "slurm"


NAMES = sorted(path.name for path in DATA.iterdir())

DIFFERENT = {
    "repeat-324-3.json.xz": 27,
    "site-seed-11.json.xz": 5,
    "site-seed-25.json.xz": 6,
    "site-seed-27.json.xz": 6,
    "site-seed-29.json.xz": 3,
    "site-seed-315.json.xz": 2,
    "site-seed-316.json.xz": 32,
    "site-seed-322.json.xz": 1,
    "site-seed-35.json.xz": 5,
}
"""Number of priorities of some recordings that are not as ``sprio`` printed them: of jobs submitted within 4 ms after a
whole second, in ``29``, ``35``, ``315`` and ``322`` of five others, in ``316`` of one instant: Slurm calculated 0.08 s
late, and in ``324-3`` of one calculation, 3 ms after a whole second; see ``docs/slurm.md``."""

MISSED = {
    "site-seed-26.json.xz": ("median 0.002 s, p95 74.968 s, largest 229.870 s", Priorities(476, 0, 6)),
    "site-seed-311.json.xz": ("median 0.001 s, p95 0.016 s, largest 0.054 s", Priorities(204, 28, 3)),
    "site-seed-312.json.xz": ("median 0.001 s, p95 0.005 s, largest 1.138 s", Priorities(279, 0, 0)),
    "site-seed-321.json.xz": ("median 0.002 s, p95 23.353 s, largest 200.581 s", Priorities(258, 34, 13)),
    "site-seed-324.json.xz": ("median 0.001 s, p95 9.933 s, largest 22.083 s", Priorities(186, 0, 0)),
    "site-seed-37.json.xz": ("median 0.001 s, p95 0.013 s, largest 0.080 s", Priorities(407, 4, 0)),
    "site-hour.json.xz": ("median 0.001 s, p95 0.001 s, largest 0.623 s", Priorities(66, 0, 0)),
}
"""Recordings that are not wholly as Slurm had them, and their errors; see ``docs/slurm.md``.

In ``321`` and ``324`` nodes come back in the ms in which a pass begins, and the log does not show which was first; two
further runs of each (``repeat-321-2`` ...) are wholly as Slurm had them.
"""


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("site")])
def test_every_start_is_as_slurm_had_it(name: str) -> None:
    """Median within 1 s, 95th percentile within bf_interval + 2 s, no job left out."""
    recording = read(DATA / name)
    found = deviations(recording, starts(recording, passes=True))
    assert found.passes, f"{name}: {found}"


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("site") and name not in MISSED])
def test_sites_are_as_slurm_had_them(name: str) -> None:
    """Every start to 20 ms, on nodes of 8 CPUs (recorded on a loaded machine) to 0.2 s, and at ten instants the
    priority of each waiting job in each of its partitions as ``sprio`` printed it, to the last unit.

    The site is imported from the output of its Slurm.
    """
    recording = read(DATA / name)
    simulated = replayed(recording, passes=True)
    assert len(recording.instants) == 10
    found = priorities(recording, simulated.priorities)
    assert found.compared > 150
    assert (found.different, found.missing) == (DIFFERENT.get(name, 0), 0)
    assert deviations(recording, simulated.starts).largest_s < (0.02 if recording.settings.cpus == 1 else 0.2)


@pytest.mark.parametrize("name", MISSED)
def test_what_is_missed_is_as_measured(name: str) -> None:
    """Starts and priorities of the named exceptions: a change that brings them nearer, or farther, is seen."""
    recording = read(DATA / name)
    simulated = replayed(recording, passes=True)
    found = str(deviations(recording, simulated.starts)), priorities(recording, simulated.priorities)
    assert found == MISSED[name]


def test_a_job_may_end_in_the_second_in_which_a_reservation_begins() -> None:
    """In ``39`` job 53 of a minute starts at 175.981 s on nodes of the maintenance of 235 s: whole seconds count."""
    recording = read(DATA / "site-seed-39.json.xz")
    site = site_of_recording(recording)
    assert site is not None
    assert site.reservations[0].start_s - seconds_of(recording.begins) == 235.0
    assert starts(recording, passes=True)[52] == pytest.approx(175.981, abs=0.002)


def test_licenses_are_kept_until_nodes_are_idle(reference: Path) -> None:
    """Seed 103: all starts and priorities, where job 37, logged at 55.000 s, was submitted in the second before."""
    recording = read(reference / "data" / "cases" / "slurm" / "site-103.json.xz")
    jobs = list(recording.jobs)
    assert jobs[36].submitted == 55.0
    jobs[36] = msgspec.structs.replace(jobs[36], submitted=54.999)
    recording = msgspec.structs.replace(recording, jobs=jobs)
    simulated = replayed(recording, passes=True)
    assert priorities(recording, simulated.priorities) == Priorities(533, 0, 0)
    assert deviations(recording, simulated.starts).largest_s < 0.05


def test_a_pass_that_ended_early_decides_who_gets_a_buffer() -> None:
    """In ``26`` the backfill pass at 256.004 s, 4 ms after a whole second, gives a buffer to job 63, the first pair of
    the lower tier, although several that were submitted before it could start as soon, the first of which does not fit
    into the pool: it planned no job after 63, or no job after the next one. With that every start is as Slurm had it.

    This recording does not state which passes were cut: later ones do.
    """
    recording = read(DATA / "site-seed-26.json.xz")
    assert not recording.cut
    recording = msgspec.structs.replace(recording, cut=[(256.004, 63, "batch")])
    simulated = replayed(recording, passes=True)
    assert priorities(recording, simulated.priorities) == Priorities(482, 0, 0)
    assert deviations(recording, simulated.starts).largest_s < 0.02


def test_a_site_is_imported_from_what_its_slurm_printed() -> None:
    """Tiers and factors of partitions, shares, QOS, licenses, weights and schedulers, as that Slurm was set."""
    recording = read(DATA / "site-seed-1.json.xz")
    told, found = recording.settings.site, site_of_recording(recording)
    assert told is not None
    assert found is not None
    assert [(partition.name, partition.tier, partition.factor) for partition in found.partitions] == [
        (partition.name, partition.tier, partition.factor) for partition in told.partitions
    ]
    assert [partition.nodes for partition in found.partitions] == [
        f"{partition.first - 1}-{partition.last - 1}" for partition in told.partitions
    ]
    assert {
        (association.account, association.user): association.shares
        for association in found.associations
        if association.account != "root"
    } == (
        {(name, ""): shares for name, shares in told.accounts.items()}
        | {(user.account, user.name): user.shares for user in told.users}
    )
    assert {quality.name: quality.priority for quality in found.qos} == {"normal": 0} | told.qos
    assert {license_.name: license_.count for license_ in found.licenses} == told.licenses
    weights = found.weights
    assert told.weights == {
        "Age": weights.age,
        "Fairshare": weights.fairshare,
        "JobSize": weights.size,
        "Partition": weights.partition,
        "QOS": weights.qos,
    }
    assert (weights.half_life_s, weights.period_s, weights.longest_age_s) == (120.0, 60.0, 600.0)
    assert found.scheduler.bf_interval_s == recording.settings.bf_interval_s


@pytest.mark.parametrize("name", ["seed-1", "seed-2", "seed-3"])
def test_buffers_bind_in_the_recordings(name: str) -> None:
    """Nodes are not the only limit: some jobs wait for buffers, both schedulers start some."""
    recording = read(DATA / f"{name}.json")
    assert len(recording.jobs) >= 60
    assert recording.settings.nodes >= 8
    assert sum(reason == "BurstBufferResources" for _, _, _, reason in recording.states) >= 10
    assert 5 < sum(job.backfilled for job in recording.jobs) < 55


@pytest.mark.parametrize(
    ("seed", "expected"),
    cases("slurm-replay"),
)
def test_the_noise_floor_is_that_of_three_real_runs(seed: int, expected: str) -> None:
    """With regular passes; 201 has a site, 321 and 324 nodes of 8 CPUs, too, and a first run that is a seed's."""
    first = f"site-seed-{seed}" if seed > 300 else f"repeat-{seed}-1"
    runs = [read(DATA / f"{name}.json.xz") for name in (first, f"repeat-{seed}-2", f"repeat-{seed}-3")]
    assert beside(runs) == expected


@pytest.mark.parametrize("passes", [True, False])
def test_four_jobs_start_in_slurms_order(passes: bool) -> None:
    """Three jobs of which only one fits into the pool, one without a buffer; also with regular passes."""
    recording = read(DATA / "four-jobs.json")
    simulated = starts(recording, passes=passes)
    assert _order(simulated) == _order([job.started or 0.0 for job in recording.jobs]) == [4, 1, 2, 3]
    assert deviations(recording, simulated).largest_s < 2.0


def test_four_jobs_of_another_machine() -> None:
    """The same jobs as first run on another machine, submitted from 48:02 to 48:04: within 2 s, in the same order.

    Only whole seconds are known of that run. Passes at whole seconds and half a second later are an assumption.
    """
    seen = [8.0, 31.0, 55.0, 4.0]  # s after 48:00, as jobcomp/filetxt had them
    recording = msgspec.structs.replace(read(DATA / "four-jobs.json"), main=[0.0], backfill=[0.5])
    simulated = starts(_shifted(recording, [2.0, 2.7, 3.4, 4.0]), passes=False)
    assert _order(simulated) == _order(seen)
    assert max(abs(one - other) for one, other in zip(simulated, seen, strict=True)) <= 2.0


def _order(starts: list[float]) -> list[int]:
    return [number + 1 for number in sorted(range(len(starts)), key=starts.__getitem__)]


def _shifted(recording: Recording, submitted: list[float]) -> Recording:
    """The same jobs, submitted at other times."""
    for job, at_s in zip(recording.jobs, submitted, strict=True):
        job.submitted = at_s
    return recording


def job(
    nodes: int, submitted_s: float, started_s: float, ended_s: float, idle_s: float, licenses: str = ""
) -> RecordedJob:
    """A job for at most a minute."""
    request = Submission(at_s=submitted_s, nodes=nodes, units=0, runtime_s=1.0, limit_min=1, licenses=licenses)
    return RecordedJob(request=request, submitted=submitted_s, started=started_s, ended=ended_s, idle=idle_s)


@pytest.mark.parametrize("release", ["22.05", "24.11"])
def test_licenses_are_back_with_nodes(release: str) -> None:
    """Job 1 has three of four nodes and the only license from 1 s on; it ends at 5.0 s, its nodes are back at 5.5 s.

    Main passes are at 1.0, 4.9, 5.2 and 5.6 s. Job 2, which needs a node and the license, and job 3, which needs three
    nodes, start at 5.6 s.
    """
    jobs = [job(3, 0.5, 1.0, 5.0, 5.5, "x:1"), job(1, 0.6, 5.6, 9.0, 9.0, "x:1"), job(3, 0.7, 5.6, 9.0, 9.0)]
    settings = Settings(nodes=4, pool_units=10, release=release, licenses={"x": 1})
    recording = Recording(slurm=release, settings=settings, main=[1.0, 4.9, 5.2, 5.6], backfill=[99.0], jobs=jobs)
    assert starts(recording, passes=True) == pytest.approx([1.0, 5.6, 5.6], abs=1e-6)


def test_what_depends_on_a_job_waits_for_its_nodes() -> None:
    """Job 2, which needs another node, waits until job 1 has given its node back at 5.5 s, not for its end at 5.0 s.

    There is a site, with a license that no job needs: without a site no dependency is played.
    """
    jobs = [job(1, 0.5, 1.0, 5.0, 5.5), job(1, 0.6, 5.6, 9.0, 9.0)]
    jobs[1].request = Submission(at_s=0.6, nodes=1, units=0, runtime_s=1.0, limit_min=1, depends="afterany:1")
    settings = Settings(nodes=4, pool_units=10, licenses={"x": 1})
    recording = Recording(slurm="22.05", settings=settings, main=[1.0, 4.9, 5.2, 5.6], backfill=[99.0], jobs=jobs)
    assert starts(recording, passes=True) == pytest.approx([1.0, 5.6], abs=1e-6)
