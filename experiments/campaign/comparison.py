"""From the options of a command line to a campaign and its results."""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.experiments.run.spec import (
    Campaign,
    Engine,
    ModelSpec,
    PlatformSpec,
    Playing,
    PolicySpec,
    WorkloadSpec,
)

if TYPE_CHECKING:
    from spillway.base.options import Value
    from spillway.experiments.campaign.campaign import Conclusion


def play_grids(
    campaigns: Sequence[Campaign], out: Path, options: argparse.Namespace, conclude: Conclusion | None = None
) -> int:
    """Run several grids in one folder (:func:`spillway.experiments.campaign.campaign.run_grids`)."""
    from spillway.experiments.cli.arguments import conduct_of, executor_of, load_early

    conduct = conduct_of(options)
    if not out.exists() and sum(map(_count, campaigns)) > 1:  # else its runs may all be kept, or one is played here
        load_early(conduct)

    from spillway.analysis.document.terminal import terminal
    from spillway.experiments.campaign.campaign import run_grids

    return run_grids(campaigns, out, executor_of(conduct), terminal(), conduct, conclude)


def _count(campaign: Campaign) -> int:
    """Runs of a campaign if each of its sources is one workload."""
    axes = campaign.workloads, campaign.platforms, campaign.policies, campaign.models, campaign.seeds
    return math.prod(map(len, axes))


def comparison(
    name: str,
    how: Mapping[str, Any],
    *,
    workloads: Iterable[WorkloadSpec],
    platform: PlatformSpec,
    policies: Sequence[PolicySpec],
    models: Iterable[str],
    seeds: Iterable[int],
) -> Campaign:
    """A comparison on one machine; refuse parts that cannot be combined, before anything is read.

    Parameters
    ----------
    name
        Its title.
    how
        Values of :class:`spillway.experiments.run.spec.Playing` by name.
    models
        Job models as ``NAME[:key=value,...]``; none: as the policies need.

    Raises
    ------
    OptionError, SpecError
        A value, model or combination is wrong.
    """
    from spillway.base.options import build
    from spillway.experiments.run import failures
    from spillway.experiments.run.sessions import model_spec, refuse_combinations

    modelled = tuple(map(model_spec, models)) or (ModelSpec(),)
    refuse_combinations(policies, modelled)
    failures.parse(str(how.get("events") or ""))  # a wrong option of the generator is refused now
    return build(
        Campaign,
        how,
        typed=True,
        name=name,
        workloads=tuple(workloads),
        platforms=(platform,),
        policies=tuple(policies),
        models=modelled,
        seeds=tuple(seeds),
    )


def campaign_of(options: argparse.Namespace, most: int | None = None) -> Campaign:
    """Turn the options of a command that plays into a campaign; ``most``: most logs.

    Raises
    ------
    SpecError, OptionError
        Options do not fit together.
    """
    from spillway.base.arguments import given
    from spillway.experiments.cli.arguments import logs_of
    from spillway.schedulers.assembly import Settings
    from spillway.workloads.conversion.convert import OF_LOGS, ConvertOptions
    from spillway.workloads.logs.reading import Reading

    convert = given(options, ConvertOptions, *OF_LOGS)
    read = given(options, Reading)
    return comparison(
        options.title,
        given(options, Playing),
        workloads=(WorkloadSpec(source=source, convert=convert, read=read) for source in logs_of(options, most)),
        platform=platform_of(options),
        policies=_policies_of(options, given(options, Settings)),
        models=options.model,
        seeds=range(options.seed, options.seed + (options.seeds or 1)),
    )


def with_the_site(campaign: Campaign, *, force: bool = False) -> Campaign:
    """The comparison with the site's schedule (policy ``replay``) first, if each log states the starts of its jobs.

    ``force``: also where jobs shared nodes, so that the site's schedule does not fit.

    Where jobs share nodes in time, or a real Batsim plays, nothing is added.
    """
    from spillway.base.errors import OptionError
    from spillway.experiments.campaign.inputs.sources import expand
    from spillway.experiments.run import sessions

    if campaign.engine is Engine.DOCKER or any(spec.policy == sessions.REPLAY for spec in campaign.policies):
        return campaign
    own = as_logged(campaign)
    try:
        for model in campaign.models:
            sessions.complete_model(own, model)
    except OptionError:
        return campaign
    sources = [source for spec in campaign.workloads for source in expand(spec)]
    if any(source.is_json for source in sources) or not all(
        s.states_starts(campaign.seeds[0], force=force) for s in sources
    ):
        return campaign
    return dataclasses.replace(campaign, policies=(own, *campaign.policies))


def platform_of(options: argparse.Namespace) -> PlatformSpec:
    """The machine that ``--platform`` names, or that of the log with ``--nodes``, ``--burst-buffer`` ..."""
    from spillway.experiments.campaign.inputs.machines import stated

    return stated(
        options.platform,
        options.nodes,
        options.burst_buffer,
        options.burst_buffer_total,
        lambda name: f"--{name.replace('_', '-')}",
    )


def _policies_of(options: argparse.Namespace, session: dict[str, Value]) -> list[PolicySpec]:
    """Combine ``--policy`` and ``-o [POLICY.]key=value``, in a session with these settings.

    Raises
    ------
    OptionError
        An option names no policy of the comparison, is malformed, unknown or out of range.
    """
    from spillway.base.options import split_assignments
    from spillway.experiments.run import sessions
    from spillway.schedulers.service.arguments import of_policy

    names = options.policy or sessions.FIVE
    specs = [sessions.parse_policy(name, literal=options.thesis_literal) for name in names]
    for text in options.options:
        name, assignment = of_policy(text, [spec.policy for spec in specs])
        option: dict[str, Value] = {**split_assignments([assignment])}
        specs = [
            dataclasses.replace(spec, options=spec.options | option) if spec.policy == name else spec for spec in specs
        ]
    return [named(spec, session) for spec in specs]


def named(spec: PolicySpec, session: Mapping[str, Any]) -> PolicySpec:
    """The policy in a session with these settings; its name in the results leaves them out.

    Raises
    ------
    OptionError
        A value of its options or of the settings is wrong.
    """
    from spillway.experiments.run import sessions

    typed = sessions.typed(dataclasses.replace(spec, session=dict(session)))
    return dataclasses.replace(typed, label=sessions.label(typed, session=False))


def as_logged(campaign: Campaign) -> PolicySpec:
    """The policy that repeats the log's own schedule, in the session of the campaign's policies."""
    from spillway.experiments.run import sessions

    return sessions.parse_policy(sessions.REPLAY, session=campaign.policies[0].session)
