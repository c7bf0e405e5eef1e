"""An environment in which learners schedule: gymnasium's interface around the real session, engines and machines.

``import learning`` registers ``spillway/Scheduling-v0``. It needs gymnasium (the extra ``learn``), no command line.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError as error:
    raise ImportError("learning needs gymnasium: pip install 'spillway[learn]'") from error

from learning.env import SchedulingEnv

ID = "spillway/Scheduling-v0"
"""Name under which gymnasium makes the environment."""

gymnasium.register(ID, entry_point="learning.env:SchedulingEnv")

__all__ = ["ID", "SchedulingEnv"]
