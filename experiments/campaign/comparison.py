"""From the options of a command line to a campaign and its results."""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Sequence
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


def play(campaign: Campaign, out: Path, options: argparse.Namespace) -> int:
    """Run a campaign as the options say, and show its results; return the exit code."""
    return play_grids([campaign], out, options)


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


def campaign_of(options: argparse.Namespace) -> Campaign:
    """Turn the options of ``run`` into a campaign; raise :class:`SpecError` for options that do not fit together."""
    from spillway.base.arguments import given
    from spillway.base.options import build
    from spillway.experiments.cli.arguments import logs_of
    from spillway.experiments.run import failures
    from spillway.experiments.run.sessions import refuse_combinations
    from spillway.workloads.logs.reading import reading_given

    policies = _policies_of(options.policy, options.options, _session_of(options), literal=options.thesis_literal)
    models = tuple(model_of(text) for text in options.model) or (ModelSpec(),)
    refuse_combinations(policies, models)
    failures.parse(options.events or "")  # a wrong option of the generator is refused now
    return build(
        Campaign,
        given(options, Playing),
        name="run",
        workloads=tuple(
            WorkloadSpec(source=source, convert=conversion_of(options), read=reading_given(options))
            for source in logs_of(options)
        ),
        platforms=(platform_of(options),),
        policies=policies,
        models=models,
        seeds=tuple(range(options.seed, options.seed + (options.seeds or 1))),
    )


def with_the_site(campaign: Campaign, *, force: bool = False) -> Campaign:
    """The comparison with the site's schedule (policy ``replay``) first, if each log states the starts of its jobs.

    ``force``: also where jobs shared nodes, so that the site's schedule does not fit.

    Where jobs share nodes in time, or a real Batsim plays, nothing is added.
    """
    import msgspec

    from spillway.base.errors import OptionError
    from spillway.experiments.campaign.inputs.sources import expand
    from spillway.experiments.run import policies, sessions

    if campaign.engine is Engine.DOCKER or any(spec.policy == policies.REPLAY for spec in campaign.policies):
        return campaign
    own = sessions.typed(
        msgspec.structs.replace(policies.parse_policy(policies.REPLAY), session=campaign.policies[0].session)
    )
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


def conversion_of(options: argparse.Namespace) -> dict[str, Any]:
    """Options of the conversion of logs that were given, by name."""
    from spillway.base.arguments import given
    from spillway.workloads.conversion.convert import ConvertOptions

    return given(options, ConvertOptions, "processors_per_node", "staging", "stripes", "first")


def model_of(text: str) -> ModelSpec:
    """A job model from ``NAME[:key=value,...]``."""
    from spillway.base.plugins import split_spec
    from spillway.schedulers.jobmodels import parse_model

    parse_model(text)  # wrong names and options are refused now
    name, given = split_spec(text)
    return ModelSpec(name=name, options=dict(given))


def _session_of(options: argparse.Namespace) -> dict[str, Value]:
    """Settings of the session that were given, still as texts."""
    from spillway.base.arguments import given
    from spillway.schedulers.assembly import Settings

    return given(options, Settings)


def _policies_of(
    names: Sequence[str], assignments: Sequence[str], session: dict[str, Value], *, literal: bool
) -> tuple[PolicySpec, ...]:
    """Combine ``--policy`` and ``-o [POLICY.]key=value``.

    Raises
    ------
    OptionError
        An option names no policy of the comparison, is malformed, unknown or out of range.
    """
    import msgspec

    from spillway.base.options import split_assignments
    from spillway.experiments.run import policies, sessions
    from spillway.schedulers.service.arguments import of_policy

    specs = [policies.parse_policy(name, literal=literal) for name in names or policies.FIVE]
    for text in assignments:
        name, assignment = of_policy(text, [spec.policy for spec in specs])
        option = split_assignments([assignment])
        specs = [
            msgspec.structs.replace(spec, options=spec.options | option) if spec.policy == name else spec
            for spec in specs
        ]
    specs = [sessions.typed(msgspec.structs.replace(spec, session=session)) for spec in specs]
    return tuple(
        msgspec.structs.replace(spec, label=policies.label(msgspec.structs.replace(spec, session={}))) for spec in specs
    )
