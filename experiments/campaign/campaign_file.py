"""Campaign files: TOML, read strictly. An unknown key is an error that lists the known ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spillway.base.errors import OptionError
from spillway.base.files import parse_toml, read_file, text_of
from spillway.base.limits import DESCRIPTION_BYTES, RUNS, InputError
from spillway.base.options import Form, describe, form_of, option, required, show
from spillway.base.plugins import place_in, split_spec
from spillway.base.tables import read_table
from spillway.experiments.campaign.grid import refuse_too_many
from spillway.experiments.run import failures, sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import (
    AUTO,
    WHOLE,
    Campaign,
    ModelSpec,
    PlatformSpec,
    Playing,
    PolicySpec,
    WorkloadSpec,
    is_whole,
)
from spillway.schedulers.description import FLAG, NAMED, TEXT
from spillway.schedulers.jobmodels import make_model
from spillway.workloads.logs.reading import Reading


def _list_of(is_item: Callable[[Any], bool], words: str) -> Form:
    return form_of(lambda value: isinstance(value, list) and bool(value) and all(map(is_item, value)), words)


_TABLES = _list_of(lambda item: isinstance(item, dict), "at least one table, written [[like.this]]")


@dataclass(frozen=True, kw_only=True)
class Axes(Playing):
    """Keys of a campaign file."""

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
        keys = read_table(Axes, data)
    except (InputError, OptionError) as error:
        raise SpecError(f"{where}: {error}") from None
    refuse_too_many(_count(data), most, where)
    try:
        workloads = tuple(_workload(table, f"workload[{index}]", folder) for index, table in enumerate(keys.workload))
        platforms = tuple(_platform(table, f"platform[{index}]", folder) for index, table in enumerate(keys.platform))
        policies = [_policies(table, f"policy[{index}]", keys, folder) for index, table in enumerate(keys.policy)]
        models = [_models(item, f"models[{index}]", folder) for index, item in enumerate(keys.models or ({},))]
    except (OptionError, SpecError) as error:
        raise SpecError(f"{where}: {error}") from None
    axes: dict[str, Any] = {
        "workloads": workloads,
        "platforms": platforms or (PlatformSpec(source=AUTO),),
        "policies": tuple(itertools.chain.from_iterable(policies)),
        "models": tuple(itertools.chain.from_iterable(models)),
        "seeds": tuple(keys.seeds),
    }
    sessions.refuse_combinations(axes["policies"], axes["models"])
    how = {info.name: getattr(keys, info.name) for info in describe(Playing)}
    how |= {"style": str(folder / keys.style)} if keys.style else {}
    how |= {"events": _events(keys.events, folder)} if keys.events else {}
    return Campaign(name=keys.name or stem, **axes, **how)


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


def _workload(table: dict[str, Any], where: str, folder: Path) -> WorkloadSpec:
    """One workload; files and folders are beside the campaign file."""
    spec: WorkloadSpec = read_table(WorkloadSpec, table, where)
    read_table(Reading, spec.read, f"{where}.read")
    beside = {key: str(folder / spec.read[key]) for key in ("scripts", "darshan") if key in spec.read}
    return replace(spec, source=_beside(spec.source, folder), read=spec.read | beside)


def _platform(table: dict[str, Any], where: str, folder: Path) -> PlatformSpec:
    spec: PlatformSpec = read_table(PlatformSpec, table, where)
    return replace(spec, source=_beside(spec.source, folder))


def _policies(table: dict[str, Any], where: str, keys: Axes, folder: Path) -> list[PolicySpec]:
    """One policy, or several: an option given as a list is a range, and all combinations are made."""
    given: PolicySpec = read_table(PolicySpec, table, where)
    found = []
    for chosen in _combined(given.options, where):
        varied = [f"{key}={show(chosen[key])}" for key, value in given.options.items() if isinstance(value, list)]
        spec = PolicySpec(
            policy=place_in(folder, given.policy),
            options=chosen,
            literal=given.literal if "literal" in table else keys.thesis_literal,
            session=_session(given.session, keys.site, folder),
            label=" ".join([given.label, *varied]) if given.label else "",
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


def _models(item: str | dict[str, Any], where: str, folder: Path) -> list[ModelSpec]:
    """One job model, or several: an option given as a list is a range."""
    if isinstance(item, dict):
        given: ModelSpec = read_table(ModelSpec, item, where)
        name, options = given.name, given.options
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
