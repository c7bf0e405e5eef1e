"""A policy that starts jobs by the scores of a trained network; it needs numpy, but no library of a learner.

``docs/examples/learning/train.py`` trained the network on three of the odd periods of KTH's log (``docs/learning.md``),
not on the periods that the transfer study reports.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from spillway.base.options import option
from spillway.learning import network
from spillway.learning.chooser import Chooser
from spillway.learning.observation import ObservationEncoder
from spillway.schedulers.model.decisions import Decision, Pause
from spillway.schedulers.policies.backfill import Backfill
from spillway.schedulers.policykit.view import View

WINDOW = 32
WEIGHTS = Path(__file__).with_name("learned.csv")
CHECKSUM = "7d43620ae55f9d8ce97909e38c687501e663db79b12149825df1086a0a82525e"
"""Checksum of the weights. New weights change this line, and so results are made anew."""

_EYES = "learned"
"""Key of the notebook."""


@dataclass(frozen=True)
class NetworkPolicy:
    """Start jobs in the order of the network's scores; where no job of the window fits, EASY decides."""

    source: ClassVar[str] = "Zhang et al. 2020 (RLScheduler), its kernel network; trained with PPO and action masks"

    guard: float = option(
        86_400.0, unit="s", low=0.0, high=1e9,
        help="once the oldest job has waited for longer, the network starts only jobs that do not delay it",
    )  # fmt: skip

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        agent, eyes = trained(), view.notebook.get(_EYES)
        if eyes is None:
            eyes = view.notebook[_EYES] = ObservationEncoder(view.machine, WINDOW)
        chooser = Chooser(Backfill(), WINDOW, self.guard)
        for decision in chooser(view):
            if type(decision) is Pause and chooser.turn is not None:
                chooser.action, chooser.turn = agent(eyes.see(chooser.turn), chooser.turn.fits), None
            else:
                yield decision


@lru_cache(maxsize=1)
def trained() -> network.Network:
    """The trained network, also an agent for the environment."""
    return network.read(WEIGHTS, CHECKSUM)
