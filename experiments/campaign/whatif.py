"""What-if questions: one knob at a time against the machine, the jobs and the policy as they are.

A site's own schedule is recorded: a larger buffer does not change it. So a knob of the machine or of the jobs is
compared with the same policy without it, and both are shown beside the site's schedule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import msgspec

from spillway.analysis.shakes import fewest
from spillway.analysis.units import FEWEST_RUNS
from spillway.base.near import near
from spillway.base.options import Value, build
from spillway.experiments.campaign.comparison import model_of
from spillway.experiments.campaign.machine_changes import QUANTITIES
from spillway.experiments.campaign.sources import the_source
from spillway.experiments.campaign.whatif_answer import Answer
from spillway.experiments.campaign.whatif_rows import MAINTENANCE, Asked
from spillway.experiments.run import policies, sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import Campaign, Engine, ModelSpec, PlatformSpec, PolicySpec, WorkloadSpec
from spillway.schedulers.policykit.windows import starts_of
from spillway.workloads.vary import CHANGES

POLICY, MODEL = "policy", "model"
KNOBS: Mapping[str, str] = (
    {name: words for name, (words, _) in QUANTITIES.items()}
    | {name: words for name, (words, _) in CHANGES.items()}
    | {
        POLICY: "another policy, with its options",
        MODEL: "another job model, with its options",
        MAINTENANCE: "a window in which nothing runs: 3d 12h for 12 hours from day 3 on, also at a date (every PERIOD, "
        "nodes 0-15); 3d..9d/1d 12h tries each day",
    }
)
"""Settings that can be changed, and their meaning."""


@dataclass(frozen=True)
class _Knob:
    """Settings that are changed together, by name.

    Attributes
    ----------
    values
        Texts as they were given.
    name
        Name of a knob with more settings than fit into a line; "": the settings are its name.
    """

    values: Mapping[str, str]
    name: str = ""

    @property
    def text(self) -> str:
        """Displayed name."""
        return self.name or ",".join(f"{name}={value}" for name, value in self.values.items())


def parse_knob(text: str) -> _Knob:
    """Read ``storage.capacity=x1.2`` or several settings separated by commas.

    A policy's or a model's own options follow it as everywhere: ``policy=easy:depth=2,order=sjf,load=x1.1``.

    Raises
    ------
    SpecError
        A name is unknown (the nearest one is named), or is given twice.
    """
    values: dict[str, str] = {}
    last = ""
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if last in (POLICY, MODEL) and name not in KNOBS:
            values[last] += f",{part}"
            continue
        if name not in KNOBS:
            raise SpecError(f"--set {text}: unknown setting {name!r}{near(name, KNOBS)}; known: {', '.join(KNOBS)}")
        if not equals or not value:
            raise SpecError(f"--set {text}: expected {name}=VALUE ({KNOBS[name]})")
        if name in values:
            raise SpecError(f"--set {text}: {name!r} is given twice")
        values[name], last = value, name
    return _Knob(values)


def _each_of(knob: _Knob) -> list[_Knob]:
    """The knob, or one for each start where it states windows of maintenance from a first to a last one."""
    text = knob.values.get(MAINTENANCE, "")
    starts, _, rest = text.strip().partition(" ")
    if ".." not in starts:
        return [knob]
    try:
        return [replace(knob, values={**knob.values, MAINTENANCE: f"{one} {rest}"}) for one in starts_of(starts)]
    except ValueError as error:
        raise SpecError(f"--set {MAINTENANCE}={text}: {error}") from None


def _all_of(knobs: Sequence[_Knob]) -> _Knob:
    """All settings at once; raise :class:`SpecError` where two knobs set the same thing."""
    values: dict[str, str] = {}
    for knob in knobs:
        for name, value in knob.values.items():
            if values.setdefault(name, value) != value:
                raise SpecError(f"--together: {name} is set to {values[name]} and to {value}")
    return _Knob(values, "all together")


def grids(base: Campaign, knobs: Sequence[_Knob], *, replay: bool) -> list[Campaign]:
    """The campaign as it is, with the log's own schedule first if it is known, then one campaign per knob.

    Parameters
    ----------
    base
        One workload, one platform, one policy and one model.
    """
    own = sessions.typed(
        msgspec.structs.replace(policies.parse_policy(policies.REPLAY), session=base.policies[0].session)
    )
    first = replace(base, policies=(own, *base.policies)) if replay else base
    return [first, *(_varied(base, knob) for knob in knobs)]


def _varied(base: Campaign, knob: _Knob) -> Campaign:
    (workload,), (platform,) = base.workloads, base.platforms
    jobs = {name: value for name, value in knob.values.items() if name in CHANGES}
    machine = {name: value for name, value in knob.values.items() if name in QUANTITIES}
    if jobs:
        name = f"{workload_name(workload)} {' '.join(f'{key}={value}' for key, value in jobs.items())}"
        workload = msgspec.structs.replace(workload, changes=jobs, name=name)
    chosen = base.policies
    if POLICY in knob.values:
        chosen = (_policy(knob.values[POLICY], base.policies[0]),)
    if MAINTENANCE in knob.values:
        window = {MAINTENANCE: knob.values[MAINTENANCE]}
        chosen = tuple(_with_window(one, window) for one in chosen)
    models = (model_of(knob.values[MODEL]),) if MODEL in knob.values else base.models
    platform = msgspec.structs.replace(platform, changes=machine)
    return replace(base, workloads=(workload,), platforms=(platform,), policies=chosen, models=models)


def _with_window(spec: PolicySpec, window: Mapping[str, Value]) -> PolicySpec:
    """The policy with a window, and a name of its own: under one name its runs would be pooled with those without."""
    made = sessions.typed(msgspec.structs.replace(spec, session={**spec.session, **window}))
    named = msgspec.structs.replace(made, session=dict(window), label="", options={}, policy=spec.label or spec.policy)
    return msgspec.structs.replace(made, label=policies.label(named))


def _policy(text: str, base: PolicySpec) -> PolicySpec:
    spec = sessions.typed(msgspec.structs.replace(policies.parse_policy(text), session=base.session))
    return msgspec.structs.replace(spec, label=policies.label(spec))


def workload_name(spec: WorkloadSpec) -> str:
    """Name of the one workload that a description stands for.

    Raises
    ------
    SpecError
        It stands for several.
    """
    return the_source(spec).name


@dataclass(frozen=True)
class Question:
    """A what-if question: the grids to play, and the answer that is read from their runs."""

    grids: Sequence[Campaign]
    answer: Answer


SEEDS = FEWEST_RUNS
"""Seeds of a generated workload: this many runs give an interval."""

SHAKES = 10
"""Shakes of each run where there are fewer seeds."""


def question_of(
    workload: str,
    settings: Sequence[str],
    *,
    platform: PlatformSpec,
    convert: Mapping[str, Any] = MappingProxyType({}),
    read: Mapping[str, Any] = MappingProxyType({}),
    policy: str = "easy",
    model: str = "",
    seed: int = 0,
    seeds: int | None = None,
    shakes: int | None = None,
    together: bool = False,
    session: Mapping[str, Value] = MappingProxyType({}),
    force: bool = False,
    **how: Any,
) -> Question:
    """Put a question together.

    Parameters
    ----------
    workload
        Log, workload, generator.
    settings
        One text per knob.
    platform
        The machine as it is.
    convert
        Options of the conversion of logs.
    read
        Options of reading logs.
    policy, model
        Policy and job model to compare with the log's own schedule.
    seed, seeds
        First seed, and number of seeds; default: five for generators, else one.
    shakes
        Repetitions of each run with shaken input; default: ten with fewer than five seeds, else 0. More than 25
        comparisons need more.
    together
        Whether all settings are tried at once, too.
    session
        Settings of the session in all runs, by name (:class:`spillway.schedulers.assembly.Settings`).
    force
        Whether the log is also compared with its site's schedule where jobs shared nodes.
    how
        Values or texts of :class:`spillway.experiments.run.spec.Playing`, by name.

    Raises
    ------
    SpecError, WorkloadError, OptionError
        A named input, setting, policy or model does not exist.
    """
    knobs = [knob for text in settings for knob in _each_of(parse_knob(text))]
    if together and len(knobs) > 1:
        knobs.append(_all_of(knobs))
    spec = WorkloadSpec(source=workload, convert=dict(convert), read=dict(read))
    source = the_source(spec)
    chosen = sessions.typed(msgspec.structs.replace(policies.parse_policy(policy), session=dict(session)))
    modelled = model_of(model) if model else ModelSpec()
    sessions.refuse_combinations([chosen], [modelled])
    count = seeds or (SEEDS if source.is_generated else 1)
    base = build(
        Campaign,
        how,
        name="whatif",
        workloads=(spec,),
        platforms=(platform,),
        policies=(msgspec.structs.replace(chosen, label=policies.label(chosen)),),
        models=(modelled,),
        seeds=tuple(range(seed, seed + count)),
    )
    is_docker = base.engine is Engine.DOCKER
    replay = chosen.policy != policies.REPLAY and not is_docker and source.states_starts(seed, force=force)
    asked = [Asked(knob.text, tuple(knob.values)) for knob in knobs]
    bands = len(asked) * (1 + replay) + replay
    least = fewest(bands)
    if shakes is not None and 0 < shakes < least:
        raise SpecError(f"shakes: expected 0, or at least {least} for {bands} comparisons, got {shakes}: no band")
    more = shakes if shakes is not None else max(SHAKES, least) if count < SEEDS else 0
    answer = Answer(asked, base.tau_s, of_log=not source.is_generated, shakes=more, bands=bands)
    return Question(grids(base, knobs, replay=replay), answer)
