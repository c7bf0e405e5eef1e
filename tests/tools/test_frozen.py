"""The table of frozen runs: a sample is played again, and every policy, model, life, engine and choice occurs in it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spillway.base.options import describe
from spillway.schedulers.assembly import Settings
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.lives import LIVES
from spillway.schedulers.policies import POLICIES
from tools.frozen import check
from tools.frozen.__main__ import main
from tools.frozen.draws import Draws
from tools.frozen.play import NOTHING, Digests, PlayFailed, play
from tools.frozen.recipe import WAYS, Recipe, parse
from tools.frozen.table import TABLE, read, write
from tools.frozen.worlds import FEATURES, HERE, MACHINES, events, workload

EVERY = 46
"""One of so many rows is played."""

FEWEST = 3
"""Rows for each name of a registry."""

ORDERS = ("order", "fill_order")
"""Options with orders of the queue, of one table: each order occurs under some policy, not under every one."""

RECIPES = [parse(name) for name in read()]


def spec(text: str) -> tuple[str, dict[str, str]]:
    """``NAME:KEY=VALUE,...``, taken apart."""
    name, _, options = text.partition(":")
    return name, dict(part.split("=", 1) for part in options.split(",") if part)


def engine(recipe: Recipe) -> str:
    """Engine of a recipe."""
    return recipe.option("--engine", "fluid")


def life(recipe: Recipe) -> str:
    """Life of a recipe's burst buffers."""
    return spec(recipe.option("--bb-life", "with-nodes"))[0]


def choices(cls: type) -> Iterator[tuple[str, str]]:
    """Options of a class with a choice of values, and switches, with each value."""
    for info in describe(cls):
        values: tuple[Any, ...] = tuple(info.choices or ()) or ((True, False) if info.type is bool else ())
        for value in values:
            yield info.name, str(getattr(value, "value", value)).lower()


def values_of(text: str, entries: dict[str, Any], default: str) -> set[tuple[type, str, str]]:
    """(class, option, value) that a policy, a model or a life has, given or by default or preset."""
    name, given = spec(text or default)
    entry = entries[name]
    cls = getattr(entry, "cls", entry)
    preset = getattr(entry, "preset", {})
    found = set()
    for info in describe(cls, preset):
        value = given.get(info.name, info.default)
        found.add((cls, info.name, str(getattr(value, "value", value)).lower()))
    return found


def test_a_sample_is_equal() -> None:
    """One row of each few is played again, in fresh processes."""
    table = read()
    chosen = dict(list(table.items())[::EVERY])
    outcomes = check.play_all(chosen, 1)
    assert {name: what for name in chosen if (what := check.moved(chosen[name], outcomes[name]))} == {}


def test_registries_are_covered() -> None:
    """A policy, model, life or engine that is added is frozen, too."""
    for known, of in (
        (POLICIES, [recipe.policy for recipe in RECIPES]),
        (MODELS, [recipe.model for recipe in RECIPES]),
        (LIVES, [life(recipe) for recipe in RECIPES]),
        (("fluid", "fixed", "waterfill"), [engine(recipe) for recipe in RECIPES]),
        (MACHINES, [recipe.machine for recipe in RECIPES]),
        (WAYS, [recipe.way for recipe in RECIPES]),
        (FEATURES, [feature for recipe in RECIPES for feature in recipe.features]),
        ([path.stem for path in HERE.glob("sites/*.toml")], [recipe.site for recipe in RECIPES]),
    ):
        counts = Counter(of)
        assert {name for name in known if counts[name] < FEWEST} == set()


def test_choices_are_covered() -> None:
    """Each value of each choice and switch of policies, models, lives and settings occurs."""
    seen: set[tuple[type, str, str]] = set()
    for recipe in RECIPES:
        seen |= values_of(recipe.option("--policy"), POLICIES, "")
        seen |= values_of(recipe.option("--model"), dict(MODELS), recipe.model)
        seen |= values_of(recipe.option("--bb-life"), dict(LIVES), "with-nodes")
        for info in describe(Settings):
            value = recipe.option(f"--{info.name.replace('_', '-')}", str(getattr(info.default, "value", info.default)))
            seen.add((Settings, info.name, value))
    classes = {entry.cls for entry in POLICIES.values()} | {*MODELS.values(), *LIVES.values(), Settings}
    wanted = {(cls, *choice) for cls in classes for choice in choices(cls)}
    assert {choice for choice in wanted - seen if choice[1] not in ORDERS} == set()
    for name in ORDERS:
        assert {value for _, found, value in wanted if found == name} == {
            value for _, found, value in seen if found == name
        }


def test_digests_are_complete() -> None:
    """Every row has digests of jobs and messages; rows differ."""
    table = read()
    assert all(len(jobs) == len(messages) == 12 for jobs, messages in table.values())
    assert len({found.messages for found in table.values()}) > 0.9 * len(table)


def test_the_command_tells_what_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another digest, and a recipe that cannot be played, are named; the exit code is 1."""
    good, bad = "two/3/1/none --policy fcfs", "two/3/1/none --policy gang --model rigid"
    path = tmp_path / "table.csv"
    write({good: Digests("", ""), bad: Digests("", "")}, path)
    monkeypatch.setattr("tools.frozen.__main__.read", lambda: read(path))
    monkeypatch.setattr("tools.frozen.__main__.write", lambda table: write(table, path))
    monkeypatch.setattr(
        "tools.frozen.__main__.play_all", lambda names, _: {name: check.outcome_of(name) for name in names}
    )
    assert main(["record"]) == 1
    assert f"failed  {bad}" in capsys.readouterr().out
    assert main(["check", "fcfs"]) == 0
    recorded = read(path)
    assert NOTHING not in recorded[good]
    assert recorded[bad] == Digests("", "")
    write({good: recorded[good]._replace(messages="0" * 12)}, path)
    assert main(["check"]) == 1
    assert f"moved  {good}: messages\n" in capsys.readouterr().out


def test_a_run_is_shown_beside_another_checkout(tmp_path: Path) -> None:
    """A tree beside itself has no difference; tables that differ are shown from their first difference on."""
    lines = list(check.first_differences("two/3/1/none --policy fcfs", TABLE.parents[2], tmp_path))
    assert lines[-2:] == ["jobs.csv: equal", "messages.jsonl: equal"]


def test_worlds_are_drawn_from_their_names_alone() -> None:
    """The same recipe draws the same world, another seed another one; what a draw gives is fixed."""
    one, other = (parse(f"two/20/{seed}/mixed+outages+drains --policy easy") for seed in (1, 2))
    assert workload(one) == workload(one) != workload(other)
    assert events(one) == events(one) != events(other)
    draws = Draws("a")
    assert [draws.whole(1, 6) for _ in range(8)] == [2, 1, 4, 4, 2, 4, 4, 6]


def test_a_failed_simulator_is_a_failed_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cause is in the error: Batsim 5 has no outages."""
    monkeypatch.setattr("tools.frozen.play.SILENCE_S", "1")
    name = "two/5/1/none+outages/batsim5 --policy easy --on-outage kill"
    with pytest.raises(PlayFailed, match="--batsim 5"):
        play(parse(name), tmp_path)
