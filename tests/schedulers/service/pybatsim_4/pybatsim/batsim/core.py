"""Features that a scheduler requests in its hello."""

from dataclasses import dataclass, field
from enum import Flag, auto


class SimulationFeatures(Flag):
    """Names are those of the hello's members, in capitals."""

    DYNAMIC_REGISTRATION = auto()
    PROFILE_REUSE = auto()
    ACKNOWLEDGE_DYNAMIC_JOBS = auto()
    FORWARD_PROFILES_ON_JOB_SUBMISSION = auto()
    FORWARD_PROFILES_ON_JOBS_KILLED = auto()
    FORWARD_PROFILES_ON_SIMULATION_BEGINS = auto()


@dataclass
class SimulationMetadata:
    """Contents of the handshake."""

    edc_init_str: str | None = None
    requested_features: SimulationFeatures = field(default_factory=lambda: SimulationFeatures(0))
