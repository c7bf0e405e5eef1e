"""The smallest world in which a check still fails: jobs, outages and drains are left out, the rest is made plainer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from experiments.checks.world import World


def shrink(world: World, fails: Callable[[World], bool], most: int) -> World:
    """Make a failing world smaller.

    Parameters
    ----------
    world
        Fails.
    fails
        Whether a world fails in the same way.
    most
        How many worlds are tried at most: the effort does not depend on the machine.

    Returns
    -------
    World
        Fails, too; none of the simpler worlds that were tried does.
    """
    tried = 0
    better = True
    while better:
        better = False
        for simpler in _simpler(world):
            if tried >= most:
                return world
            tried += 1
            if fails(simpler):
                world, better = simpler, True
                break
    return world


def _simpler(world: World) -> Iterator[World]:
    """Worlds that are simpler by one step, the largest steps first."""
    change = msgspec.structs.replace
    jobs, outages = world.jobs, world.changes
    half = len(jobs) // 2
    if half > 1:
        yield change(world, jobs=jobs[:half])
        yield change(world, jobs=jobs[half:])
    if outages:
        yield change(world, changes=())
    if world.drains:
        yield change(world, drains=())
    for place in range(len(jobs)):
        if len(jobs) > 1:
            yield change(world, jobs=jobs[:place] + jobs[place + 1 :])
    for place, job in enumerate(jobs):
        plainer = [job._replace(special=False), job._replace(bb_gb=0), job._replace(io_rate_mb_s=0)]
        plainer += [job._replace(submit_s=0), job._replace(seconds=1.0), job._replace(walltime_s=200)]
        plainer += [job._replace(nodes=1), job._replace(nodes=job.nodes // 2)] if job.nodes > 1 else []
        for one in plainer:
            if one != job:
                yield change(world, jobs=(*jobs[:place], one, *jobs[place + 1 :]))
    for name in sorted(world.options):
        yield change(world, options={key: value for key, value in world.options.items() if key != name})
