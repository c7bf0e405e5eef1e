"""The machine that jobs are played on: a named one, a described one, or the one that a log states."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.base.errors import shown
from spillway.experiments.api.logs import Log
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import AUTO, PlatformSpec

if TYPE_CHECKING:
    from spillway.experiments.campaign.inputs.machines import Machine


def machine(
    of: str | Path | Log = AUTO,
    *,
    nodes: int | None = None,
    burst_buffer: str | None = None,
    burst_buffer_total: str | None = None,
) -> Machine:
    """Load a machine for :func:`compare` and :func:`whatif`; its facts can be inspected before.

    Parameters
    ----------
    of
        Built-in name, description (``.toml``) or SimGrid XML; or a log (:func:`read`), for its own machine: the nodes
        that it states, else the most in use, and the burst buffers that its jobs request.
    nodes, burst_buffer, burst_buffer_total
        Sizes in place of those, as ``spillway run`` takes them (``burst_buffer_total="80TB"``).

    Returns
    -------
    Machine
        ``facts`` has its nodes and burst buffers (bytes), ``notes`` the origin of its figures, ``xml`` its platform.

    Raises
    ------
    SpecError, PlatformError, WorkloadError
        There is no such machine or log, or the sizes do not fit together.
    """
    from spillway.experiments.campaign.inputs import machines
    from spillway.experiments.campaign.inputs.input_files import sizes_and_machine
    from spillway.experiments.campaign.inputs.sources import the_source

    platform = AUTO if isinstance(of, Log) else str(of)
    spec = machines.stated(platform, nodes, burst_buffer, burst_buffer_total, lambda name: f"{name}=")
    if spec.source.partition(",")[0] != AUTO:
        return machines.load(spec)
    if not isinstance(of, Log):
        raise SpecError("machine(): expected the name of a machine, nodes=N, or a log such as sw.read('mine.swf')")
    found, reason = machines.for_workload(*sizes_and_machine(the_source(of.spec()), 0), spec)
    loaded = machines.load(found)
    return dataclasses.replace(loaded, notes=(reason, *loaded.notes))


def spec_of(given: str | Path | Machine) -> PlatformSpec:
    """The description for campaigns."""
    if isinstance(given, str | Path):
        return PlatformSpec(source=str(given) or AUTO)
    if not hasattr(given, "spec"):
        raise SpecError(f"machine: expected a name, a file or a result of machine(), got {shown(given)}")
    return given.spec
