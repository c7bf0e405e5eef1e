"""A site's ``[scheduler]`` as the options of the policy that plays it, at every interface."""

from pathlib import Path

import pytest

from spillway.base.errors import OptionError
from spillway.base.options import build, split_assignments
from spillway.schedulers.assembly import spec_from
from spillway.schedulers.model.site import Site, Weights, site_text
from spillway.schedulers.model.site_parts import Scheduler
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.slurm_backfill import SlurmBackfill
from spillway.schedulers.policykit.slurm.site_scheduler import site_options
from tests.kit.specs import session_spec

SLURM = POLICIES["slurm-backfill"].options()


def test_what_is_not_stated_stays():
    """A site that states nothing leaves the policy's defaults, and says nothing."""
    found = site_options(Site(), SLURM, {})
    assert (found.options, found.without, found.text, found.words({})) == ({}, (), "", "")


def test_parameters_become_options():
    """Seconds, counts and flags by Slurm's names; bf_window is in minutes; weights of priority are an order."""
    scheduler = Scheduler(sched_interval_s=10.0, bf_window_s=172_800.0, bf_licenses=True, bf_max_job_user=3)
    found = site_options(Site(weights=Weights(age=1), scheduler=scheduler), SLURM, {})
    assert found.text == "order=multifactor,sched_interval=10,bf_window=2880,bf_max_job_user=3,bf_licenses=true"
    read = build(SlurmBackfill, split_assignments(found.text.split(",")))
    assert read == build(SlurmBackfill, found.options)
    assert found.without == ()


@pytest.mark.parametrize("given", [{"order": "fcfs"}, {"order": "sjf"}])
def test_a_least_priority_needs_priorities(given: dict[str, str]):
    """In an order without them the site's is left out with a note, as on a site without weights."""
    scheduler = Scheduler(bf_min_prio_reserve=500)
    weighed = Site(weights=Weights(age=1), scheduler=scheduler)
    assert site_options(weighed, SLURM, {}).options == {"order": "multifactor", "bf_min_prio_reserve": 500}
    for found in (site_options(weighed, SLURM, given), site_options(Site(scheduler=scheduler), SLURM, {})):
        assert "bf_min_prio_reserve" not in found.options
        assert found.without == ("bf_min_prio_reserve (jobs have no priorities)",)


def test_what_has_no_option_is_named():
    """By Slurm's names; preemption is played elsewhere."""
    others = ("assoc_limit_stop", "preempt_youngest_first")
    scheduler = Scheduler(
        backfill=False, partition_job_depth=5, preempt="qos", preempts="cancel", exempt_s=5.0, others=others
    )
    found = site_options(Site(scheduler=scheduler), SLURM, {})
    assert found.without == ("SchedulerType=sched/builtin", "partition_job_depth", "assoc_limit_stop")


def test_a_value_out_of_range_is_refused():
    """With the table and the option."""
    site = Site(scheduler=Scheduler(bf_interval_s=0.0))
    with pytest.raises(OptionError, match=r"setting site: table scheduler: option 'bf_interval' must be a number from"):
        site_options(site, SLURM, {})


def test_an_order_without_weights_is_said():
    """Without weights ``order=multifactor`` changes nothing, in any option that takes it; a site that has some is
    silent, and so is another order."""
    weighted, bare = (site_text(Site(weights=Weights(age=least, half_life_s=60.0))) for least in (1000, 0))
    for settings in ({}, {"site": bare}):
        for name in ("order", "fill_order"):
            (note,) = session_spec("easy", {name: "multifactor"}, settings=settings).notes()
            assert note.startswith(f"policy easy: {name}=multifactor: no site states weights of priority")
    assert session_spec("easy", {"order": "multifactor"}, settings={"site": weighted}).notes() == []
    assert session_spec("easy", {"order": "sjf"}).notes() == []


def test_every_door_of_the_scheduler(tmp_path: Path):
    """A file or its text, the service and pybatsim's launcher: the site's value, unless one is given."""
    (tmp_path / "site.toml").write_text("[scheduler]\nbf_interval_s = 45.0\nbf_max_job_test = 9\n")
    text = site_text(Site(scheduler=Scheduler(bf_interval_s=45.0, bf_max_job_test=9)))
    for site in (str(tmp_path / "site.toml"), text):
        given = {"policy": "slurm-backfill", "options": {"bf_max_job_test": 5}, "site": site}
        for spec in (
            spec_from(given),
            session_spec("slurm-backfill", {"bf_max_job_test": "5"}, settings={"site": site}),
        ):
            assert spec.make_policy() == SlurmBackfill(bf_interval=45.0, bf_max_job_test=5)
            assert spec.notes() == [
                "policy slurm-backfill: from the site: bf_interval=45; given in place of the site's: bf_max_job_test"
            ]
    assert session_spec("easy", settings={"site": text}).notes() == []
    assert session_spec("slurm-backfill").notes() == []
