"""The grid: order, stable names, and the differences that make another run."""

import re
from typing import Any

import msgspec
import pytest

from spillway.analysis.tables.names import slug
from spillway.experiments.campaign.grid import expand, with_labels
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import (
    Campaign,
    Engine,
    ModelSpec,
    PolicySpec,
    PreparedInput,
    RunSpec,
    Transport,
    WorkloadSpec,
)

PLATFORM = PreparedInput(name="thesis", path="inputs/thesis.xml", sha256="f" * 64)
PARTS = [PreparedInput(name=f"part-{i}", path=f"inputs/part-{i}.json", sha256=str(i) * 64) for i in range(2)]
PAIRS = [(part, PLATFORM) for part in PARTS]


def runs_of(**changes: Any) -> tuple[RunSpec, ...]:
    """Runs of a campaign of two parts and two policies."""
    given: dict[str, Any] = {
        "name": "x",
        "workloads": (WorkloadSpec(source="part-*.json"),),
        "policies": (PolicySpec(policy="fcfs"), PolicySpec(policy="easy", options={"depth": 2})),
    }
    campaign = Campaign(**(given | changes))
    return expand(campaign, {(model.label, seed): PAIRS for model in campaign.models for seed in campaign.seeds})


def test_order_and_names() -> None:
    """Workloads outermost, policies innermost; the name describes the run."""
    runs = runs_of()
    assert [(run.workload.name, run.policy.label) for run in runs] == [
        ("part-0", "fcfs"),
        ("part-0", "easy depth=2"),
        ("part-1", "fcfs"),
        ("part-1", "easy depth=2"),
    ]
    assert re.fullmatch(r"part-0_easy-depth=2_fluid-rigid_s0_[0-9a-f]{8}", runs[1].id)


def test_names_are_stable() -> None:
    """The same description gives the same names in every process; this one is pinned."""
    assert [run.id for run in runs_of()] == [run.id for run in runs_of()]


def test_settings_include_defaults() -> None:
    """A default that changes in a later version must change the name."""
    assert runs_of()[1].settings["depth"] == 2
    assert runs_of()[1].settings["fill_order"] == "fcfs"
    assert runs_of()[0].settings["backfilling"] is False


def test_a_given_default_is_the_same_run() -> None:
    """Stating an option's default changes the label but not the digest."""
    plain = runs_of(policies=(PolicySpec(policy="easy"),))[0]
    stated = runs_of(policies=(PolicySpec(policy="easy", options={"depth": 1}),))[0]
    assert plain.id.rsplit("_", 1)[1] == stated.id.rsplit("_", 1)[1]


@pytest.mark.parametrize("change", [
    {"seeds": (1,)},
    {"engine": Engine.FIXED},
    {"models": (ModelSpec(name="io"),)},
    {"models": (ModelSpec(name="rigid"),), "transport": Transport.BYTES},
    {"policies": (PolicySpec(policy="fcfs", literal=True),)},
    {"policies": (PolicySpec(policy="filler"),)},
])  # fmt: skip
def test_what_matters_changes_the_digest(change: dict[str, Any]) -> None:
    """Everything that the outcome depends on is in the digest."""
    assert runs_of(**change)[0].id.rsplit("_", 1)[1] != runs_of()[0].id.rsplit("_", 1)[1]


def test_contents_of_inputs_matter_places_do_not() -> None:
    """A changed file is another run; a moved file is the same."""
    run = runs_of()[0]
    from spillway.experiments.campaign.grid import digest

    moved = msgspec.structs.replace(run, workload=msgspec.structs.replace(run.workload, path="elsewhere.json"))
    changed = msgspec.structs.replace(run, workload=msgspec.structs.replace(run.workload, sha256="a" * 64))
    assert digest(moved) == digest(run) != digest(changed)


def test_the_same_policy_twice_is_refused() -> None:
    """Two columns of one name could not be distinguished."""
    with pytest.raises(SpecError, match="two policies are called 'fcfs'"):
        runs_of(policies=(PolicySpec(policy="fcfs"), PolicySpec(policy="fcfs")))


def test_the_same_run_twice_is_refused() -> None:
    """Seeds given twice would write the same folder twice."""
    with pytest.raises(SpecError, match="the same run twice"):
        runs_of(seeds=(3, 3))


def test_literal_is_told_apart_only_where_needed() -> None:
    """The published names stay; beside its better self the policy as published says so."""
    both = with_labels([PolicySpec(policy="easy"), PolicySpec(policy="easy", literal=True)])
    assert [spec.label for spec in both] == ["easy", "easy literal"]
    assert with_labels([PolicySpec(policy="easy", literal=True)])[0].label == "easy"


def test_what_the_site_did_is_called_replay() -> None:
    """The baseline is found by this name: settings of the session were part of it, so that there was no baseline."""
    staged = {"bb_life": "slurm"}
    found = with_labels([PolicySpec(policy="replay", session=staged), PolicySpec(policy="easy", session=staged)])
    assert [spec.label for spec in found] == ["replay", "easy bb_life=slurm"]
    two = with_labels([PolicySpec(policy="replay", session=staged), PolicySpec(policy="replay")])
    assert [spec.label for spec in two] == ["replay bb_life=slurm", "replay"]


def test_slug() -> None:
    """Names become safe file names."""
    assert slug("a b/c:d=1.5") == "a-b-c-d=1.5"
    assert slug("../") == "x"
