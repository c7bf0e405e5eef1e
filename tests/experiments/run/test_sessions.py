"""Settings of a session: given ones, those of a policy, the defaults."""

import pytest

from spillway.base.errors import OptionError
from spillway.experiments.run.sessions import complete, complete_model
from spillway.experiments.run.spec import ModelSpec, PolicySpec


@pytest.mark.parametrize(("spec", "order"), [
    (PolicySpec(policy="plan-square"), "nearest"),
    (PolicySpec(policy="plan"), "fullest-at-end"),
    (PolicySpec(policy="plan-mean"), "fullest-at-end"),
    (PolicySpec(policy="plan-mean", session={"storage_order": "by-id"}), "by-id"),
    (PolicySpec(policy="plan-mean", literal=True), "nearest"),
])  # fmt: skip
def test_a_policy_brings_settings_unless_others_are_chosen(spec: PolicySpec, order: str) -> None:
    """Under the published rules it brings no setting."""
    assert complete(spec)["storage_order"] == order


def test_the_published_rules_free_a_killed_job_early() -> None:
    """An option of the IO-Aware model under ``--thesis-literal``."""
    io = ModelSpec(name="io")
    assert complete_model(PolicySpec(policy="plan-mean", literal=True), io)[1]["early_release"] is True
    assert complete_model(PolicySpec(policy="plan-mean"), io)[1]["early_release"] is False


def test_unknown_setting() -> None:
    """The message names the setting."""
    with pytest.raises(OptionError, match="colour"):
        complete(PolicySpec(policy="plan-mean", session={"colour": "blue"}))
