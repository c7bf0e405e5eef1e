"""Batsim 5's handshake, in which the scheduler requests settings that are options of Batsim 4."""

from __future__ import annotations

from dataclasses import replace

from spillway.protocol.batsim5.codec import Batsim5Simulator
from spillway.simulator.options import BATSIM_5, SimulationOptions
from spillway.simulator.wire.zmq_link import ZmqLink


def shake_hands(link: ZmqLink, codec: Batsim5Simulator, options: SimulationOptions) -> SimulationOptions:
    """Greet a scheduler, and return the options that follow from its hello.

    Hosts are shared, if the scheduler decides so: Batsim 5 does not check it.

    Raises
    ------
    PeerLost, Refused, RemoteProtocolError
        The scheduler has disconnected, ends the conversation, or does not answer with a hello.
    """
    wanted = codec.read_hello(link.exchange_bytes(codec.first_frame(options.sched_config)))
    return replace(
        options,
        rules=BATSIM_5,
        dynamic_jobs=wanted.dynamic_registration,
        acknowledge_dynamic_jobs=wanted.dynamic_registration and wanted.acknowledge_dynamic_jobs,
        profile_reuse=wanted.dynamic_registration and wanted.profile_reuse,
        forward_profiles=wanted.forward_profiles_on_job_submission,
        compute_sharing=True,
        storage_sharing=True,
    )
