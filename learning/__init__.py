"""An environment in which learners schedule: gymnasium's interface around the real session, engines and machines.

Importing it registers ``spillway/Scheduling-v0``. The environment needs gymnasium (the extra ``learn``), no
command line; the policy :class:`spillway.learning.network_policy.NetworkPolicy` needs neither.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spillway.learning.env import SchedulingEnv

ID = "spillway/Scheduling-v0"
"""Name under which gymnasium makes the environment."""

__all__ = ["ID", "SchedulingEnv"]

if find_spec("gymnasium") is not None:
    import gymnasium

    gymnasium.register(ID, entry_point="spillway.learning.env:SchedulingEnv")


def __getattr__(name: str) -> object:
    """:class:`spillway.learning.env.SchedulingEnv`, loaded at its first use: a policy's process needs no simulator."""
    if name != "SchedulingEnv":
        raise AttributeError(f"module 'spillway.learning' has no attribute {name!r}")
    try:
        from spillway.learning.env import SchedulingEnv
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise ImportError("spillway.learning.SchedulingEnv needs gymnasium: pip install 'spillway[learn]'") from error
    return SchedulingEnv
