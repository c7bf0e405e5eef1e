"""From a campaign to its runs, in a fixed order and with stable names."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from spillway.analysis.tables.names import slug
from spillway.base.limits import RUNS, check_name
from spillway.base.options import show
from spillway.experiments.run import provenance, sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import Campaign, PolicySpec, PreparedInput, RunSpec

DIGEST_CHARACTERS = 8
_LATER = (
    ("on_outage", "continue"), ("restart", "beginning"), ("site", ""), ("begins", ""), ("bf_window_linear", 0.0),
    ("select", "linear"),
)  # fmt: skip
"""Later settings and options, at their defaults: left out of the digest, so that earlier runs keep their folders."""

EventsOf = Callable[[PreparedInput, PreparedInput, int], PreparedInput | None]
"""External events of a workload on a platform with a seed."""


def expand(
    campaign: Campaign,
    workloads: Mapping[tuple[str, int], Sequence[tuple[PreparedInput, PreparedInput]]],
    most: int = RUNS.most,
    events: EventsOf = lambda workload, platform, seed: None,
    begins_s: Callable[[PreparedInput], float | None] = lambda workload: None,
    as_played: Callable[[PreparedInput, PolicySpec], PreparedInput] = lambda workload, policy: workload,
) -> tuple[RunSpec, ...]:
    """List the runs of a campaign: workloads outermost, then models, seeds, policies.

    Parameters
    ----------
    campaign
        The request.
    workloads
        For each model (its label) and seed the (workload, platform) pairs to run, already prepared.
    most
        Most runs.
    events
        External events of a workload on a platform with a seed, already prepared; ``None``: no events.
    begins_s
        Date of a workload's time 0 (s since 1970); ``None``: no date is stated.
    as_played
        The workload as a policy plays it.

    Raises
    ------
    SpecError
        Two runs would be the same, or there would be too many.
    InputError
        A name is not fit for tables, charts and file names.
    """
    labelled = with_labels(campaign.policies)
    refuse_too_many(len(labelled) * sum(map(len, workloads.values())), most, f"campaign {campaign.name!r}")
    _check_names(labelled, workloads)
    runs: list[RunSpec] = []
    for model, seed in itertools.product(campaign.models, campaign.seeds):
        for (workload, platform), policy in itertools.product(workloads[model.label, seed], labelled):
            spec = sessions.begun(policy, begins_s(workload))
            settings = sessions.options(spec) | sessions.complete(spec)
            named, model_options = sessions.complete_model(spec, model)
            occurring = events(workload, platform, seed)
            if occurring is None and settings["on_outage"] != "continue":
                raise SpecError(
                    f"setting on_outage={show(settings['on_outage'])} goes with external events (--events FILE, or "
                    "--events failures:...): without them no host is ever out"
                )
            run = RunSpec(
                id="",
                workload=as_played(workload, policy),
                platform=platform,
                policy=spec,
                settings=settings,
                engine=campaign.engine,
                model=named,
                model_options=model_options,
                transport=campaign.transport,
                seed=seed,
                image=campaign.image,
                events=occurring,
                code=provenance.code_of_run(spec.policy, named.name, model_options),
            )
            runs.append(msgspec.structs.replace(run, id=run_id(run)))
    twice = [name for name, count in Counter(run.id for run in runs).items() if count > 1]
    if twice:
        raise SpecError(f"the campaign has the same run twice: {twice[0]}; give each workload, policy and seed once")
    return tuple(runs)


def refuse_too_many(runs: int, most: int, where: str) -> None:
    """Raise :class:`SpecError` where a campaign has more than ``most`` runs."""
    if runs > most:
        raise SpecError(f"{where} {RUNS.error.format(got=runs, most=f'{most:,}', option=RUNS.option)}")


def _check_names(
    labelled: Sequence[PolicySpec], workloads: Mapping[tuple[str, int], Sequence[tuple[PreparedInput, PreparedInput]]]
) -> None:
    for spec in labelled:
        check_name("the label of a policy", spec.label)
    for workload, platform in itertools.chain.from_iterable(workloads.values()):
        check_name("the name of a workload", workload.name)
        check_name("the name of a platform", platform.name)


def _replayed(spec: PolicySpec) -> PolicySpec:
    own = spec.policy == sessions.REPLAY and not spec.label
    return dataclasses.replace(spec, label=sessions.label(spec, session=False)) if own else spec


def with_labels(specs: Sequence[PolicySpec]) -> list[PolicySpec]:
    """Give every policy a label of its own; where two differ in literalness only, it becomes part of the label.

    The site's own schedule, if the campaign has it once, is called ``replay`` whatever the settings of the session: the
    name marks the baseline.

    Raises
    ------
    SpecError
        Two policies are the same, or were given the same label.
    """
    if sum(spec.policy == sessions.REPLAY for spec in specs) == 1:
        specs = [_replayed(spec) for spec in specs]
    counts = Counter(sessions.label(spec) for spec in specs)
    labelled = []
    for spec in specs:
        name = sessions.label(spec)
        if counts[name] > 1 and spec.literal and not spec.label:
            name += " literal"
        labelled.append(dataclasses.replace(spec, label=name))
    twice = [name for name, count in Counter(spec.label for spec in labelled).items() if count > 1]
    if twice:
        raise SpecError(
            f"two policies are called {twice[0]!r}; give each its own label (in Python a mapping: "
            f"{{'first': ..., 'second': ...}}; in a campaign file 'label'), or name it once"
        )
    return labelled


_LONGEST_PART = 50
"""Characters of a name, a label or a model in a folder's name: file systems take 255 in all."""


def run_id(run: RunSpec) -> str:
    """Stable name of a run's folder: the same inputs, settings and seed always give the same one."""
    parts = [run.workload.name, run.policy.label, f"{run.engine.value}-{run.model.text}", f"s{run.seed}"]
    return "_".join(slug(part)[:_LONGEST_PART] for part in parts) + "_" + digest(run)


def digest(run: RunSpec) -> str:
    """Hash of the whole request: contents of the inputs, not their places; settings, not labels.

    The code is not in it: a run keeps its place when a policy is edited, and
    :mod:`spillway.experiments.campaign.folder.reuse` then marks its result as one of other code.
    """
    content = {
        "workload": run.workload.sha256,
        "platform": run.platform.sha256,
        "policy": run.policy.policy,
        "settings": {name: value for name, value in run.settings.items() if (name, value) not in _LATER},
        "literal": run.policy.literal,
        "engine": run.engine.value,
        "model": run.model.name,
        "model_options": run.model_options,
        "transport": run.transport.value,
        "seed": run.seed,
    } | ({"image": run.image} if run.image else {})
    content |= {"events": run.events.sha256} if run.events is not None else {}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]
