"""The site's schedulers as a policy, as ``site show`` prints it."""

from spillway.experiments.run.sessions import build_policy, parse_policy, typed
from spillway.experiments.site.shown import policy_of
from spillway.schedulers.model.site import Site, Weights
from spillway.schedulers.model.site_parts import Scheduler
from spillway.schedulers.policies.slurm_backfill import SlurmBackfill


def test_the_policy_of_a_site() -> None:
    """Slurm's bf_window is in minutes; a setting that bounds no pass (bf_max_time) is no option."""
    assert policy_of(Site()) == "slurm-backfill"
    scheduler = Scheduler(
        bf_interval_s=45.0, bf_window_s=7200.0, bf_max_job_user=8, bf_licenses=True, bf_max_time_s=20.0
    )
    text = policy_of(Site(weights=Weights(age=1000), scheduler=scheduler))
    policy = build_policy(typed(parse_policy(text)))
    assert policy == SlurmBackfill(
        order="multifactor", bf_interval=45.0, bf_window=120.0, bf_max_job_user=8, bf_licenses=True
    )
