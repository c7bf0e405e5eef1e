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

from spillway.analysis.measures.shakes import fewest
from spillway.analysis.measures.units import FEWEST_RUNS
from spillway.base.options import Value, build
from spillway.experiments.campaign.comparison import model_of
from spillway.experiments.campaign.inputs.sources import the_source
from spillway.experiments.campaign.whatif.answer import Answer
from spillway.experiments.campaign.whatif.knobs import (
    Knob,
    all_of,
    chooses_buffers,
    each_of,
    parse_knob,
    site_of,
    varied,
    with_curve,
)
from spillway.experiments.campaign.whatif.rows import RowRequest
from spillway.experiments.run import policies, sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import Campaign, Engine, ModelSpec, PlatformSpec, WorkloadSpec


def grids(base: Campaign, knobs: Sequence[Knob], *, replay: bool) -> list[Campaign]:
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
    return [first, *(varied(base, knob) for knob in knobs)]


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
    chosen = sessions.typed(msgspec.structs.replace(policies.parse_policy(policy), session=dict(session)))
    site = site_of(chosen)
    knobs = [knob for text in settings for knob in each_of(parse_knob(text, site))]
    spec = WorkloadSpec(source=workload, convert=dict(convert), read=dict(read))
    source = the_source(spec)
    is_curve = not source.is_generated and not source.is_json and chooses_buffers(platform)
    if is_curve:
        knobs = with_curve(knobs)
    if together and len(knobs) > 1:
        knobs.append(all_of(knobs))
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
    asked = [RowRequest(knob.text, tuple(knob.values)) for knob in knobs]
    bands = len(asked) * (1 + replay) + replay
    least = fewest(bands)
    if shakes is not None and 0 < shakes < least:
        raise SpecError(f"shakes: expected 0, or at least {least} for {bands} comparisons, got {shakes}: no band")
    more = shakes if shakes is not None else max(SHAKES, least) if count < SEEDS else 0
    answer = Answer(asked, base.tau_s, of_log=not source.is_generated, shakes=more, bands=bands, is_curve=is_curve)
    return Question(grids(base, knobs, replay=replay), answer)
