"""The smallest world that still fails: parts of it are left out, the rest is simplified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from spillway.experiments.trials.world import TrialJob, World


def shrink(
    world: World, simpler: Callable[[World], Iterable[World]], fails: Callable[[World], bool], most: int
) -> World:
    """Make a failing world smaller.

    Parameters
    ----------
    world
        A world that fails.
    simpler
        Returns the worlds that are simpler by one step, the largest steps first.
    fails
        Whether a world fails in the same way.
    most
        Maximum number of worlds tried: the effort does not depend on the machine.

    Returns
    -------
    World
        A world that fails, too; no simpler world that was tried does.
    """
    tried, place, better = 0, 0, False
    while True:
        for at, candidate in enumerate(simpler(world)):
            if at < place:
                continue  # this step was tried already in this round, on a larger world
            if tried >= most:
                return world
            tried += 1
            if fails(candidate):
                world, place, better = candidate, at, True
                break
        else:
            if not better:
                return world
            place, better = 0, False


def halves(world: World) -> Iterator[World]:
    """Worlds with one half of the jobs."""
    half = len(world.jobs) // 2
    if half > 1:
        yield replace(world, jobs=world.jobs[:half])
        yield replace(world, jobs=world.jobs[half:])


def _without_one(world: World) -> Iterator[World]:
    """Worlds without one of the jobs."""
    for place in range(len(world.jobs) if len(world.jobs) > 1 else 0):
        yield replace(world, jobs=world.jobs[:place] + world.jobs[place + 1 :])


def fewer_jobs(world: World) -> Iterator[World]:
    """Worlds with a part of the jobs, the smallest first."""
    yield from halves(world)
    yield from _without_one(world)


def simpler(world: World) -> Iterator[World]:
    """Worlds that are simpler by one step, the largest steps first; in each, every job that fitted fits."""
    yield from halves(world)
    if world.changes:
        yield replace(world, changes=())
    if world.drains:
        yield replace(world, drains=())
    yield from _without_one(world)
    if world.plain:
        yield from _smaller_machine(world)
    jobs = world.jobs
    for place, job in enumerate(jobs):
        before_s = jobs[place - 1].submit_s if place else 1
        for trial_job in _plainer(job, before_s) if world.plain else _plainer_on_tiny(job):
            if trial_job != job and trial_job.nodes:
                yield replace(world, jobs=(*jobs[:place], trial_job, *jobs[place + 1 :]))
    for name in sorted(world.options):
        yield replace(world, options={key: value for key, value in world.options.items() if key != name})


def _smaller_machine(world: World) -> Iterator[World]:
    """Simpler plain worlds: the first submission at 1 s, no storage nodes if no job requests bytes, one node less."""
    jobs = world.jobs
    early_s = jobs[0].submit_s - 1
    if early_s:
        yield replace(world, jobs=tuple(job._replace(submit_s=job.submit_s - early_s) for job in jobs))
    if world.storages and not any(job.gb for job in jobs):
        yield replace(world, storages=0, gb=0)
    fewer = replace(world, nodes=world.nodes - 1)
    if fewer.plain and all(fewer.fits(job) for job in jobs if world.fits(job)):
        yield fewer


def _plainer_on_tiny(job: TrialJob) -> list[TrialJob]:
    plainer = [job._replace(special=False), job._replace(gb=0), job._replace(io_rate_mb_s=0)]
    plainer += [job._replace(submit_s=0), job._replace(run_s=1.0), job._replace(walltime_s=200)]
    return [*plainer, job._replace(nodes=1), job._replace(nodes=job.nodes // 2)]


def _plainer(job: TrialJob, before_s: int) -> list[TrialJob]:
    plainer = [job._replace(gb=0), job._replace(run_s=0), job._replace(nodes=1), job._replace(nodes=job.nodes - 1)]
    plainer += [job._replace(submit_s=before_s)]
    walltime_s = job.walltime_s or 0
    return plainer + ([job._replace(walltime_s=walltime_s // 2)] if walltime_s > 3 and not job.run_s else [])
