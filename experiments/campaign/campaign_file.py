"""Campaign files: TOML, read strictly. An unknown key is an error that lists the known ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from spillway.base.errors import OptionError
from spillway.base.files import parse_toml, read_file, text_of
from spillway.base.limits import DESCRIPTION_BYTES, NAME, RUNS, InputError, check_name, shown
from spillway.base.near import nearest
from spillway.base.options import OptionInfo, build, describe, parse, show
from spillway.base.plugins import place_in, split_spec
from spillway.experiments.campaign.grid import refuse_too_many
from spillway.experiments.run import failures, policies, sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import AUTO, Campaign, ModelSpec, PlatformSpec, Playing, PolicySpec, WorkloadSpec
from spillway.schedulers.jobmodels import make_model
from spillway.workloads.logs.reading import Reading

T = TypeVar("T")


@dataclass(frozen=True)
class Key:
    """A key of a campaign file, and its valid values.

    Attributes
    ----------
    check
        Whether a value is valid.
    words
        The valid values, in words.
    help
        Meaning of the key.
    default
        The value if the key is absent ("" if it is required).
    """

    check: Callable[[Any], bool]
    words: str
    help: str = ""
    default: str = ""


def _text(help: str, default: str = "") -> Key:
    return Key(lambda value: isinstance(value, str) and bool(value), "a text", help, default)


def _name(help: str, default: str) -> Key:
    def check(value: Any) -> bool:
        try:
            return isinstance(value, str) and bool(check_name("", value))
        except InputError:
            return False

    return Key(check, f"a text of 1 to {NAME.value} printable characters on one line", help, default)


def _flag(help: str, default: str = "false") -> Key:
    return Key(lambda value: isinstance(value, bool), "true or false", help, default)


def _whole(help: str = "", default: str = "") -> Key:
    def check(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63

    return Key(check, "a whole number >= 0 of at most 63 bits", help, default)


def _declared(declared: type) -> dict[str, Key]:
    """Keys for the options of a dataclass."""

    def fits(info: OptionInfo, value: Any) -> bool:
        try:
            parse(info, value, typed=True)
        except OptionError:
            return False
        return True

    return {
        info.name: Key(partial(fits, info), info.expected, info.help, show(info.default) or "none")
        for info in describe(declared)
    }


def _table(help: str, default: str = "none") -> Key:
    return Key(lambda value: isinstance(value, dict), "a table", help, default)


def _tables(help: str, default: str = "") -> Key:
    def check(value: Any) -> bool:
        return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)

    return Key(check, "at least one table, written [[like.this]]", help, default)


def _list_of(item: Key, help: str, default: str) -> Key:
    def check(value: Any) -> bool:
        return isinstance(value, list) and bool(value) and all(map(item.check, value))

    return Key(check, f"a list, each {item.words}", help, default)


def _models(help: str, default: str) -> Key:
    def check(value: Any) -> bool:
        return isinstance(value, list) and bool(value) and all(isinstance(item, str | dict) for item in value)

    return Key(check, "a list of names or of tables", help, default)


CAMPAIGN_KEYS: dict[str, Key] = {
    "name": _name("name of the campaign", "the file's"),
    "workload": _tables("workloads, see below"),
    "platform": _tables("machines, see below", "the one that each workload states, as for run"),
    "policy": _tables("policies, see below"),
    "models": _models("job models: NAME[:key=value,...] or a table with name and options", "as the policy needs"),
    "site": _text("file of the site that all policies schedule (its partitions, shares, weights, pools)", "none"),
    "seeds": _list_of(_whole(), "seeds of everything random; each is a run of its own", "[0]"),
    "thesis_literal": _flag("whether all policies follow the published experiment to the letter"),
    **_declared(Playing),
}
WORKLOAD_KEYS: dict[str, Key] = {
    "source": _text("file, pattern, archive member, generator or public log, as on the command line"),
    "name": _name("name in the results", "the file's"),
    "seed": _whole("seed of generators and of the burst-buffer model", "the run's seed"),
    "convert": _table("options of the conversion of logs, see below"),
    "read": _table("options of reading logs, see below"),
}
READ_KEYS = {
    **_declared(Reading),
    "where": _list_of(
        _text(""), "jobs that are taken, each FIELD=VALUE (the same field: either, other fields: both)", "all"
    ),
}
PLATFORM_KEYS: dict[str, Key] = {
    "source": _text(
        "built-in name, description (.toml), SimGrid XML, nodes:N, or auto: the one that the workload states; the "
        "last two may end in ,burst_buffer=SIZE (of each storage node) or ,burst_buffer_total=SIZE (one pool)"
    ),
    "name": _name("name in the results", "the file's"),
}
POLICY_KEYS: dict[str, Key] = {
    "policy": _text("name of a policy"),
    "label": _name("name in the results", "policy and given options"),
    "options": _table("options of the policy; a list of values is a range, and ranges are combined"),
    "session": _table("settings of the session, see below"),
    "literal": _flag("whether this policy follows the published experiment to the letter", "thesis_literal"),
}


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
    _check(data, CAMPAIGN_KEYS, where, needed=("workload", "policy"))
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
    _check(table, WORKLOAD_KEYS, where, needed=("source",))
    return WorkloadSpec(
        source=_beside(table["source"], folder),
        name=table.get("name", ""),
        seed=table.get("seed"),
        convert=table.get("convert", {}),
        read=_read(table.get("read", {}), where, folder),
    )


def _read(table: dict[str, Any], where: str, folder: Path) -> dict[str, Any]:
    """Options of reading logs; files and folders are beside the campaign file."""
    _check(table, READ_KEYS, f"{where}: read")
    beside = {key: str(folder / table[key]) for key in ("scripts", "darshan") if key in table}
    return table | beside


def _platform(table: dict[str, Any], where: str, folder: Path) -> PlatformSpec:
    _check(table, PLATFORM_KEYS, where, needed=("source",))
    return PlatformSpec(source=_beside(table["source"], folder), name=table.get("name", ""))


def _policies(table: dict[str, Any], where: str, literal: bool, folder: Path, site: str) -> list[PolicySpec]:
    """One policy, or several: an option given as a list is a range, and all combinations are made."""
    _check(table, POLICY_KEYS, where, needed=("policy",))
    options: Mapping[str, Any] = table.get("options", {})
    ranges: list[Sequence[Any]] = [value if isinstance(value, list) else [value] for value in options.values()]
    if any(not values for values in ranges):
        raise SpecError(f"{where}: options: a range needs at least one value")
    found = []
    for values in itertools.product(*ranges):
        chosen = dict(zip(options, values, strict=True))
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


def _session(given: dict[str, Any], site: str, folder: Path) -> dict[str, Any]:
    """Settings of the session; the site's file is beside the campaign file."""
    named = given.get(policies.SITE, site)
    beside = isinstance(named, str) and named and not named.lstrip().startswith("{")
    return given | {policies.SITE: str(folder / named) if beside else named} if named else given


MODEL_KEYS: dict[str, Key] = {
    "name": _text("name of a job model, or FILE.py:CLASS"),
    "options": _table("options of the model; a list of values is a range, and ranges are combined"),
}


def _model(item: str | dict[str, Any], where: str, folder: Path) -> list[ModelSpec]:
    """One job model, or several: an option given as a list is a range."""
    if isinstance(item, dict):
        _check(item, MODEL_KEYS, where)
        name, options = item.get("name", ""), dict(item.get("options", {}))
    else:
        try:
            name, options = split_spec(item)
        except OptionError as error:
            raise SpecError(f"{where}: {error}") from None
    name = place_in(folder, name)
    ranges = [value if isinstance(value, list) else [value] for value in options.values()]
    found = []
    for values in itertools.product(*ranges):
        chosen = {key: _placed(value, folder) for key, value in zip(options, values, strict=True)}
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


def _check(table: dict[str, Any], known: dict[str, Key], where: str, needed: Sequence[str] = ()) -> None:
    for key, value in table.items():
        if key not in known:
            near = nearest(key, known)
            hint = f" (did you mean {near!r}?)" if near else ""
            raise SpecError(f"{where}: unknown key {shown(key)}{hint}; known keys: {', '.join(known)}")
        if not known[key].check(value):
            raise SpecError(f"{where}: {key!r} must be {known[key].words}, got {shown(value)}")
    for key in needed:
        if key not in table:
            raise SpecError(f"{where}: the key {key!r} is missing; known keys: {', '.join(known)}")
