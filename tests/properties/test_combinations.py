"""Every policy x job model x life, with and without settings: assembled, or refused with the golden list's reason.

A line is a policy and a model, a letter of it
the verdict on a life and settings. ``python -m tests.properties.test_combinations`` prints it anew.
"""

import re
import string
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.base.plugins import split_spec
from spillway.experiments.run.sessions import complete_model
from spillway.experiments.run.spec import ModelSpec, PolicySpec
from spillway.schedulers.assembly import SessionSpec, spec_from
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.lives import LIVES
from spillway.schedulers.policies import POLICIES
from tests.kit.specs import session_spec

GOLDEN = Path(__file__).with_name("combinations.txt")

EVERY_MODEL = (*MODELS, "io:book_stages=1", "malleable:moldable=true")
EVERY_LIFE = (*LIVES, "slurm:order=sjf", "slurm:overtake=false")
SETTINGS: tuple[Mapping[str, Any], ...] = (
    {},
    {"storage_order": "rack"},
    {"bandwidth": "ignorant"},
    {"bandwidth": "ignorant", "foreign": 0.1},
    {"on_outage": "shrink"},
    {"restart": "checkpoint"},
    {"restart": "checkpoint", "on_outage": "requeue"},
    {"io_order": "stretch"},
    {"io_control": "exclusive", "io_order": "stretch"},
    {"io_control": "exclusive", "io_node_depth": 1},
    {"history": 3},
)


def spec(policy: str, model: str, life: str, settings: Mapping[str, Any], *, literal: bool = False) -> SessionSpec:
    """The session that they would make."""
    name, options = split_spec(model)
    return session_spec(policy, {}, name, options, {"bb_life": life, **settings}, literal=literal)


def specs(policy: str, model: str) -> Iterator[SessionSpec]:
    """Sessions with all lives and settings, then with the published experiment's rules."""
    for life in EVERY_LIFE:
        for settings in SETTINGS:
            yield spec(policy, model, life, settings)
        yield spec(policy, model, life, {}, literal=True)
    yield spec(policy, model, "with-nodes", {"storage_order": "rack"}, literal=True)


def verdict(chosen: SessionSpec) -> str:
    """The reason for refusal, without the names of the parts; empty where the session is assembled."""
    cls, words = POLICIES[chosen.policy.policy].cls.__name__, answer(chosen.session)
    life = split_spec(chosen.policy.session["bb_life"])[0]
    for name, part in (
        (f"policy {cls}", "policy"),
        (f"--bb-life {life}", "life"),
        (f"--model {chosen.model.name}", "model"),
    ):
        words = re.sub(rf"{name}(?=[ :])", f"{name.split()[0]} {{{part}}}", words, count=1)
    return words


def golden() -> dict[tuple[str, str], list[str]]:
    """Verdicts by policy and model."""
    texts, rows = GOLDEN.read_text().split("\n\n")
    meaning = {line[0]: line[2:] for line in texts.splitlines()}
    found = {}
    for row in rows.splitlines():
        policy, model, letters = row.split()
        found[policy, model] = [meaning[letter] for letter in letters]
    return found


def answer(ask: Callable[[], object]) -> str:
    """The refusal; empty if accepted."""
    try:
        ask()
    except OptionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("policy", POLICIES)
def test_verdicts(policy: str) -> None:
    """Those of the list, in the same words."""
    before = golden()
    for model in EVERY_MODEL:
        for chosen, words in zip(specs(policy, model), before[policy, model], strict=True):
            assert verdict(chosen) == words, chosen


@pytest.mark.parametrize("model", EVERY_MODEL)
def test_doors(model: str) -> None:
    """Campaigns and pybatsim refuse the same combinations as the session, in the same words."""
    name, options = split_spec(model)
    for policy in POLICIES:
        for life in EVERY_LIFE:
            campaign = PolicySpec(policy=policy, session={"bb_life": life})
            given = {"policy": policy, "model": model, "bb_life": life}
            asks: list[Callable[[], object]] = [
                spec(policy, model, life, {}).session,
                partial(complete_model, campaign, ModelSpec(name=name, options=dict(options))),
                lambda given=given: spec_from(given).session(),  # type: ignore[misc]
            ]
            answers = [answer(ask) for ask in asks]
            assert len(set(answers)) == 1, answers


if __name__ == "__main__":
    every = {
        (policy, model): [verdict(item) for item in specs(policy, model)]
        for policy in POLICIES
        for model in EVERY_MODEL
    }
    known = dict(zip(dict.fromkeys(words for row in every.values() for words in row), string.printable, strict=False))
    print("\n".join(f"{letter} {words}" for words, letter in known.items()), end="\n\n")
    for (policy, model), row in every.items():
        print(policy, model, "".join(known[words] for words in row))
