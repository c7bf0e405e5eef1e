"""Decision times by size of the machine: the same queue, the same load, more nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from experiments.herbein.meter import Stopwatch
from experiments.herbein.published import AWARE
from experiments.herbein.rehearsal import play, tree_of
from schedulers.core.machine import MachineDefaults
from schedulers.core.session import Session
from schedulers.jobmodels.rigid import Rigid
from schedulers.jobmodels.runtime import ProgramRuntime
from schedulers.policies import POLICIES
from schedulers.policykit.estimates import Requested
from schedulers.wire.messages import Message
from workloads.herbein import HerbeinModel, HerbeinOptions, draw_herbein

SIZES = (1_000, 4_000, 16_000, 64_000)
"""Nodes."""

UNDER_PROVISIONED = 0.7
QUANTILES = (50, 75, 95, 99)


def decision_times(model: HerbeinModel, nodes: int, scheduler: str, options: HerbeinOptions) -> dict[str, float]:
    """Quantiles of the time from a message to its answer under EASY, s, with 30 % too little bandwidth.

    Durations are given (no contention), so that nothing but the scheduler is measured; the first message, in which the
    machine is read, is left out and stated apart.

    Parameters
    ----------
    nodes
        Size of the machine; sizes of jobs grow with it.
    scheduler
        ``aware`` or ``ignorant``.
    options
        How the workload of CTS-1's size is drawn.
    """
    scaled = replace(options, nodes=nodes, size_factor=options.size_factor * nodes / 3888)
    workload = draw_herbein(model, scaled)
    session = Session(
        POLICIES["easy"].build(),
        ProgramRuntime(Rigid()),
        defaults=MachineDefaults(bandwidth=scheduler == AWARE),
        estimator=Requested(),
    )
    watch = Stopwatch(session)
    watch.handle(Message(0.0, (tree_of(nodes, UNDER_PROVISIONED),)))
    play(watch, workload)
    found = {f"p{quantile}_cpu_s": float(np.percentile(watch.cpu_s, quantile)) for quantile in QUANTILES}
    found["p99_wall_s"] = float(np.percentile(watch.wall_s, 99))
    found["longest_cpu_s"] = max(watch.cpu_s)
    assert watch.first_s is not None
    return found | {"first_message_s": watch.first_s, "decisions": float(len(watch.cpu_s))}
