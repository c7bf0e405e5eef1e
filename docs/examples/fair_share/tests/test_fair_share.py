"""Users without usage come before users with much usage."""

from random import Random

from fair_share import FairShare

from spillway.core import Timeline
from spillway.schedulers.model.decisions import Start
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.history import FinishedJob, FinishedJobs, Usage
from spillway.schedulers.policykit.view import View


class Past:
    """One job of ann's that has ended."""

    def finished(self):
        """The job, which held four nodes for a hundred seconds."""
        return FinishedJobs(
            [FinishedJob("w0!0", "ann", 0.0, 0.0, 100.0, 200.0, 4, "COMPLETED_SUCCESSFULLY", Usage(400.0))]
        )

    def usage(self, queue, now_s):
        """Its usage, by user."""
        return {"ann": Usage(400.0)}


def test_least_used_first():
    """Ann's job was submitted first, ben's starts."""
    machine = simple_machine(4)
    jobs = [
        Job("w0!1", 1, 90.0, 50.0, 4, extras={"user": "ann"}),
        Job("w0!2", 2, 95.0, 50.0, 4, extras={"user": "ben"}),
    ]
    view = View(100.0, machine, jobs, (), lambda: Timeline(machine, 100.0), Random(0), {}, past=Past())
    assert list(FairShare()(view)) == [Start(jobs[1], Allocation((0, 1, 2, 3)))]
