"""Campaign files: TOML, read strictly. An unknown key is an error that lists the known ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from spillway.base.errors import OptionError
from spillway.base.files import parse_toml, read_file, text_of
from spillway.base.limits import DESCRIPTION_BYTES, RUNS, InputError, shown
from spillway.base.near import nearest
from spillway.base.options import Form, build, describe, form_of, option, required, show, value_of
from spillway.base.plugins import place_in, split_spec
from spillway.experiments.campaign.grid import refuse_too_many
from spillway.experiments.run import failures, sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import (
    AUTO,
    FLAG,
    NAMED,
    TEXT,
    WHOLE,
    Campaign,
    ModelSpec,
    PlatformSpec,
    Playing,
    PolicySpec,
    WorkloadSpec,
    is_whole,
)
from spillway.schedulers.jobmodels import make_model
from spillway.workloads.logs.reading import Reading

T = TypeVar("T")


def _list_of(is_item: Callable[[Any], bool], words: str) -> Form:
    return form_of(lambda value: isinstance(value, list) and bool(value) and all(map(is_item, value)), words)


_TABLES = _list_of(lambda item: isinstance(item, dict), "at least one table, written [[like.this]]")


@dataclass(frozen=True, kw_only=True)
class Axes:
    """Keys of a campaign file besides those of :class:`spillway.experiments.run.spec.Playing`."""

    name: str = option("", form=NAMED, help="name of the campaign; default: the file's")
    workload: list[Any] = required(form=_TABLES, help="workloads, see below")
    platform: tuple[Any, ...] = option(
        (), form=_TABLES, help="machines, see below; default: the one that each workload states, as for run"
    )
    policy: list[Any] = required(form=_TABLES, help="policies, see below")
    models: tuple[Any, ...] = option(
        (),
        form=_list_of(lambda item: isinstance(item, str | dict), "a list of names or of tables"),
        help="job models: NAME[:key=value,...] or a table with name and options; default: as the policy needs",
    )
    site: str = option(
        "", form=TEXT, help="file of the site that all policies schedule (its partitions, shares, weights, pools)"
    )
    seeds: tuple[int, ...] = option(
        (0,),
        form=_list_of(is_whole, f"a list, each {WHOLE.expected}"),
        help="seeds of everything random; each is a run of its own",
    )
    thesis_literal: bool = option(
        False, form=FLAG, help="whether all policies follow the published experiment to the letter"
    )


def read_campaign(path: Path, most: int = RUNS.most) -> Campaign:
    """Read a campaign file with at most ``most`` runs on each workload and platform.

    Raises
    ------
    SpecError
        The file is missing, is not TOML, or has an invalid key or value (named with its place).
    """
    try:
        text = text_of(read_file(path, DESCRIPTION_BYTES))
    except InputError as error:
        raise SpecError(f"{path}: {error}; expected a campaign file") from None
    return parse_campaign(text, str(path), path.parent, path.stem, most)


def parse_campaign(text: str, where: str, folder: Path, stem: str = "campaign", most: int = RUNS.most) -> Campaign:
    """Read a campaign from its text; file names in it are relative to ``folder``."""
    try:
        data = parse_toml(text)
    except InputError as error:
        raise SpecError(f"{where}: {error}") from None
    _check(data, where, Axes, Playing)
    literal = data.get("thesis_literal", False)
    refuse_too_many(_count(data), most, where)
    policies = tuple(
        spec
        for index, table in enumerate(data["policy"])
        for spec in _policies(table, f"{where}: policy[{index}]", literal, folder, data.get("site", ""))
    )
    models = tuple(
        spec
        for index, item in enumerate(data.get("models", [{}]))
        for spec in _model(item, f"{where}: models[{index}]", folder)
    )
    sessions.refuse_combinations(policies, models)
    how = {info.name: data[info.name] for info in describe(Playing) if info.name in data}
    how |= {"style": str(folder / data["style"])} if data.get("style") else {}
    return build(
        Campaign,
        how | ({"events": _events(data["events"], folder)} if "events" in data else {}),
        typed=True,
        name=data.get("name", stem),
        workloads=_each(data["workload"], _workload, f"{where}: workload", folder),
        platforms=_each(data.get("platform", [{"source": AUTO}]), _platform, f"{where}: platform", folder),
        policies=policies,
        models=models,
        seeds=tuple(data.get("seeds", [0])),
    )


def _count(data: dict[str, Any]) -> int:
    """Runs of a campaign if each source were one workload: counted before ranges are combined."""
    policies = sum(_combinations(table.get("options")) for table in data["policy"])
    models = sum(
        _combinations(item.get("options") if isinstance(item, dict) else {}) for item in data.get("models", [{}])
    )
    others = math.prod(len(data.get(key, [0])) for key in ("workload", "platform", "seeds"))
    return policies * models * others


def _combinations(options: Any) -> int:
    ranges = options.values() if isinstance(options, dict) else ()
    return math.prod(len(value) for value in ranges if isinstance(value, list))


def _each(tables: list[dict[str, Any]], read: Callable[..., T], where: str, folder: Path) -> tuple[T, ...]:
    return tuple(read(table, f"{where}[{index}]", folder) for index, table in enumerate(tables))


def _workload(table: dict[str, Any], where: str, folder: Path) -> WorkloadSpec:
    _check(table, where, WorkloadSpec)
    read = _read(table.get("read", {}), where, folder)
    return WorkloadSpec(**{**table, "source": _beside(table["source"], folder), "read": read})


def _read(table: dict[str, Any], where: str, folder: Path) -> dict[str, Any]:
    """Options of reading logs; files and folders are beside the campaign file."""
    _check(table, f"{where}: read", Reading)
    beside = {key: str(folder / table[key]) for key in ("scripts", "darshan") if key in table}
    return table | beside


def _platform(table: dict[str, Any], where: str, folder: Path) -> PlatformSpec:
    _check(table, where, PlatformSpec)
    return PlatformSpec(**{**table, "source": _beside(table["source"], folder)})


def _policies(table: dict[str, Any], where: str, literal: bool, folder: Path, site: str) -> list[PolicySpec]:
    """One policy, or several: an option given as a list is a range, and all combinations are made."""
    _check(table, where, PolicySpec)
    options: Mapping[str, Any] = table.get("options", {})
    found = []
    for chosen in _combined(options, where):
        label = table.get("label", "")
        varied = [f"{key}={show(chosen[key])}" for key, value in options.items() if isinstance(value, list)]
        spec = PolicySpec(
            policy=place_in(folder, table["policy"]),
            options=chosen,
            literal=table.get("literal", literal),
            session=_session(table.get("session", {}), site, folder),
            label=" ".join([label, *varied]) if label else "",
        )
        try:
            found.append(sessions.typed(spec))
        except Exception as error:
            raise SpecError(f"{where}: {error}") from None
    return found


def _combined(options: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """All combinations of options; one that is given as a list is a range."""
    ranges = [value if isinstance(value, list) else [value] for value in options.values()]
    if not all(ranges):
        raise SpecError(f"{where}: options: a range needs at least one value")
    return (dict(zip(options, values, strict=True)) for values in itertools.product(*ranges))


def _session(given: dict[str, Any], site: str, folder: Path) -> dict[str, Any]:
    """Settings of the session; the site's file is beside the campaign file."""
    named = given.get(sessions.SITE, site)
    beside = isinstance(named, str) and named and not named.lstrip().startswith("{")
    return given | {sessions.SITE: str(folder / named) if beside else named} if named else given


def _model(item: str | dict[str, Any], where: str, folder: Path) -> list[ModelSpec]:
    """One job model, or several: an option given as a list is a range."""
    if isinstance(item, dict):
        _check(item, where, ModelSpec)
        name, options = item.get("name", ""), dict(item.get("options", {}))
    else:
        try:
            name, options = split_spec(item)
        except OptionError as error:
            raise SpecError(f"{where}: {error}") from None
    name = place_in(folder, name)
    found = []
    for values in _combined(options, where):
        chosen = {key: _placed(value, folder) for key, value in values.items()}
        if name or chosen:
            try:
                make_model(name, chosen)
            except OptionError as error:
                raise SpecError(f"{where}: {error}") from None
        found.append(ModelSpec(name=name, options=chosen))
    return found


def _placed(value: Any, folder: Path) -> Any:
    """An option's value; a class of a file beside the campaign file (a controller) with the file's place."""
    return place_in(folder, value) if isinstance(value, str) else value


def _events(source: str, folder: Path) -> str:
    """A file of events, or a generator's trace, beside the campaign file."""
    generator = failures.parse(source)
    if generator is None:
        return str(folder / source)
    return (
        source.replace(f"trace={generator.trace}", f"trace={folder / generator.trace}") if generator.trace else source
    )


def _beside(source: str, folder: Path) -> str:
    """A file (or pattern, or archive) beside the campaign file; any other source as it is."""
    name = source.partition("!")[0]
    if Path(name).is_absolute() or "://" in name:
        return source
    beside = folder / name
    looks_like_a_file = "/" in name or any(sign in name for sign in "*?[") or beside.is_file()
    return str(folder / source) if looks_like_a_file else source


def _check(table: dict[str, Any], where: str, *kinds: type) -> None:
    """Refuse unknown keys, invalid values and missing keys of a table; its keys are options of these classes."""
    known = {info.name: info for kind in kinds for info in describe(kind)}
    for key, value in table.items():
        if key not in known:
            near = nearest(key, known)
            hint = f" (did you mean {near!r}?)" if near else ""
            raise SpecError(f"{where}: unknown key {shown(key)}{hint}; known keys: {', '.join(known)}")
        try:
            value_of(known[key], value, typed=True)
        except ValueError:
            raise SpecError(f"{where}: {key!r} must be {known[key].expected}, got {shown(value)}") from None
    for key, info in known.items():
        if info.required and key not in table:
            raise SpecError(f"{where}: the key {key!r} is missing; known keys: {', '.join(known)}")
