"""Progress of a killed job, as it is reported."""

from __future__ import annotations

from spillway.protocol.messages import TaskProgress
from spillway.simulator.jobs.job import Job
from spillway.simulator.jobs.profiles.base import DelayWork, Node, Profile


def job_progress(job: Job, share: float, now: float) -> TaskProgress:
    """Progress of a running job.

    Parameters
    ----------
    job
        The job, before it is removed.
    share
        Done share of its running parallel task, if any.
    now
        Time (s).

    Returns
    -------
    TaskProgress
        A leaf has its share; a program the index of its running part and that part's progress, or -1 if no part runs.
    """

    def leaf(profile: Profile) -> TaskProgress:
        done = share
        if isinstance(profile.work, DelayWork):
            done = (now - job.wait_start) / profile.work.seconds
        return TaskProgress(profile.name, round(done, 6))

    def tree(node: Node) -> TaskProgress:
        if node is job.leaf:
            return leaf(node.profile)
        if node.child is None:
            return TaskProgress(node.profile.name, None, -1)
        return TaskProgress(node.profile.name, None, node.index, tree(node.child), len(node.profile.children))

    return leaf(job.profile) if job.root is None else tree(job.root)
