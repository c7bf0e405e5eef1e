"""Settings of a what-if question: names, values, and the campaign in which they are changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spillway.base import units
from spillway.base.near import near
from spillway.base.options import Value
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.campaign.inputs.machine_changes import CAPACITY, NODES, QUANTITIES
from spillway.experiments.campaign.inputs.sources import the_source
from spillway.experiments.campaign.whatif import site_changes
from spillway.experiments.campaign.whatif.rows import MAINTENANCE
from spillway.experiments.run import sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.sessions import SITE
from spillway.experiments.run.spec import Campaign, PlatformSpec, PolicySpec, WorkloadSpec
from spillway.schedulers.model.site import Site, parse_site, site_text
from spillway.schedulers.policykit.reservations import parse_windows, starts_of
from spillway.schedulers.site_file import site_setting
from spillway.workloads.conversion.vary import CHANGES, change_of

POLICY, MODEL = "policy", "model"
KNOBS: Mapping[str, str] = (
    {name: words for name, (words, _) in QUANTITIES.items()}
    | {name: words for name, (words, _, _) in CHANGES.items()}
    | {
        POLICY: "another policy, with its options",
        MODEL: "another job model, with its options",
        MAINTENANCE: "a window in which nothing runs: 3d 12h for 12 hours from day 3 on, also at a date (every PERIOD, "
        "nodes 0-15); 3d..9d/1d 12h tries each day",
        SITE: "another site's file; one value of the site as in its file: partition.NAME.nodes=+16, license.NAME=+2, "
        "priority.age=x2, qos.NAME.limits.user_jobs=none, limits=none",
    }
)
"""Settings that can be changed, and their meaning."""


@dataclass(frozen=True)
class Knob:
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


def parse_knob(text: str, site: Site | None = None) -> Knob:
    """Read ``storage.capacity=x1.2`` or several settings separated by commas, and check their values.

    A policy's or a model's own options follow it as everywhere: ``policy=easy:depth=2,order=sjf,load=x1.1``.

    Parameters
    ----------
    site
        The site as it is; ``None``: no site is stated.

    Raises
    ------
    SpecError, WorkloadError, OptionError
        A name is unknown (the nearest one is named) or given twice, or a value is wrong.
    """
    values: dict[str, str] = {}
    last = ""
    for part in text.split(","):
        name, equals, value = part.partition("=")
        is_known = name in KNOBS or site_changes.is_of_site(name)
        if last in (POLICY, MODEL) and not is_known:
            values[last] += f",{part}"
            continue
        if not is_known:
            names = (*KNOBS, *site_changes.EXAMPLES)
            meant = near(name, names) or near(name.partition(".")[0], names)
            raise SpecError(f"--set {text}: unknown setting {name!r}{meant}; known: {', '.join(KNOBS)}")
        if not equals or not value:
            raise SpecError(f"--set {text}: expected {name}=VALUE ({KNOBS.get(name, KNOBS[SITE])})")
        if name in values:
            raise SpecError(f"--set {text}: {name!r} is given twice")
        values[name], last = value, name
    for name, value in values.items():
        _check(name, value, site)
    return Knob(values)


def _check(name: str, text: str, site: Site | None) -> None:
    """Refuse a wrong value before any log is read."""
    if site_changes.is_of_site(name):
        if site is None:
            raise SpecError(f"{name}={text}: it is a value of the site, which --site FILE states")
        site_changes.changed(site, name, text)
    elif name in CHANGES:
        change_of(name, text)
    elif name in QUANTITIES:
        _check_quantity(name, text, site)
    else:
        _CHECKS[name](text)


def _check_quantity(name: str, text: str, site: Site | None) -> None:
    scale = QUANTITIES[name][1]
    try:
        change = units.change_of(text, scale)
    except ValueError as error:
        raise SpecError(f"{name}={text}: {error}") from None
    if name == NODES:
        if change.start != round(change.start):
            raise SpecError(f"{name}={text}: expected a whole number of nodes")
        if site is not None and site.nodes and site.partitions:
            known = ", ".join(site_changes.partitions_to_resize(site))
            raise SpecError(f"{name}={text}: the site says where its nodes belong: name the partition: {known}")


_CHECKS: Mapping[str, Callable[[str], object]] = {
    POLICY: sessions.parse_policy,
    MODEL: sessions.model_spec,
    MAINTENANCE: lambda text: [parse_windows(window) for window in each_window(text)],
    SITE: site_setting,
}
"""Reader of each other setting, which refuses wrong values."""


def each_window(text: str) -> list[str]:
    """The window of maintenance, or one for each start where the text states a first and a last one."""
    starts, _, rest = text.strip().partition(" ")
    if ".." not in starts:
        return [text]
    try:
        return [f"{start} {rest}" for start in starts_of(starts)]
    except ValueError as error:
        raise SpecError(f"--set {MAINTENANCE}={text}: {error}") from None


def each_of(knob: Knob) -> Iterator[Knob]:
    """The knob, or one for each window of maintenance that it states."""
    if MAINTENANCE not in knob.values:
        yield knob
        return
    for window in each_window(knob.values[MAINTENANCE]):
        yield replace(knob, values={**knob.values, MAINTENANCE: window})


CURVE = ("x0.5", "x0.75", "x1.25", "x1.5", "x2")
"""Capacities that answer a question about burst buffers that nobody states."""


def with_curve(knobs: Sequence[Knob]) -> list[Knob]:
    """The knobs, with a curve in place of those that change only the capacity of the burst buffers."""
    others = [knob for knob in knobs if [*knob.values] != [CAPACITY]]
    if len(others) == len(knobs):
        return others
    return [*others, *(Knob({CAPACITY: factor}) for factor in CURVE)]


def all_of(knobs: Sequence[Knob]) -> Knob:
    """All settings at once; raise :class:`SpecError` where two knobs set the same thing."""
    values: dict[str, str] = {}
    for knob in knobs:
        for name, value in knob.values.items():
            if values.setdefault(name, value) != value:
                raise SpecError(f"--together: {name} is set to {values[name]} and to {value}")
    return Knob(values, "all together")


def varied(base: Campaign, knob: Knob) -> Campaign:
    """The campaign of one workload, platform, policy and model with a knob's settings changed."""
    (workload,), (platform,) = base.workloads, base.platforms
    jobs = {name: value for name, value in knob.values.items() if name in CHANGES}
    machine = {name: value for name, value in knob.values.items() if name in QUANTITIES}
    if jobs:
        name = f"{workload_name(workload)} {' '.join(f'{key}={value}' for key, value in jobs.items())}"
        workload = dataclasses.replace(workload, changes=jobs, name=name)
    chosen = base.policies
    if POLICY in knob.values:
        chosen = (_policy(knob.values[POLICY], base.policies[0]),)
    if MAINTENANCE in knob.values:
        window = {MAINTENANCE: knob.values[MAINTENANCE]}
        chosen = tuple(_with_setting(policy_spec, window, window) for policy_spec in chosen)
    site = site_of(base.policies[0])
    of_site = {name: value for name, value in knob.values.items() if name == SITE or site_changes.is_of_site(name)}
    if of_site:
        new = _site(site, of_site)
        chosen = tuple(_with_setting(policy_spec, {SITE: site_text(new)}, of_site) for policy_spec in chosen)
        if site is not None and new.nodes != site.nodes and SITE not in of_site:
            platform = machines.of_site(platform, site.nodes)
            machine[NODES] = str(new.nodes)
    models = (sessions.model_spec(knob.values[MODEL]),) if MODEL in knob.values else base.models
    platform = dataclasses.replace(platform, changes=machine)
    return replace(base, workloads=(workload,), platforms=(platform,), policies=chosen, models=models)


def site_of(policy: PolicySpec) -> Site | None:
    """The site of a policy's session; ``None`` without one."""
    return parse_site(policy.site) if policy.site else None


def _site(site: Site | None, values: Mapping[str, str]) -> Site:
    """The site with these changes; another site comes first."""
    found = parse_site(site_setting(values[SITE])) if SITE in values else site
    assert found is not None, "values of a site without one are refused when they are read"
    for name, text in values.items():
        if name != SITE:
            found = site_changes.changed(found, name, text)
    return found


def _with_setting(spec: PolicySpec, session: Mapping[str, Value], changed: Mapping[str, str]) -> PolicySpec:
    """The policy with settings, and a name of its own: under one name its runs would be pooled with those without."""
    made = sessions.typed(dataclasses.replace(spec, session={**spec.session, **session}))
    words = [spec.label or spec.policy, *(f"{name}={text}" for name, text in changed.items())]
    return dataclasses.replace(made, label=sessions.label(PolicySpec(policy=" ".join(words))))


def _policy(text: str, base: PolicySpec) -> PolicySpec:
    spec = sessions.parse_policy(text, session=base.session)
    return dataclasses.replace(spec, label=sessions.label(spec))


def workload_name(spec: WorkloadSpec) -> str:
    """Name of the one workload that a description stands for.

    Raises
    ------
    SpecError
        It stands for several.
    """
    return the_source(spec).name


def chooses_buffers(platform: PlatformSpec) -> bool:
    """Whether nobody states the machine's burst buffers: their pool is then the most that the log had in use."""
    return machines.is_chosen(platform) and "burst_buffer" not in platform.source
