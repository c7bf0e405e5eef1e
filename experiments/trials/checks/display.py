"""What is shown while worlds are played: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import Progress

from spillway.experiments.campaign.progress import columns
from spillway.experiments.trials.checks.house import Phase, Tell

PARTS = 4
"""Plain lines of one phase, at most."""


@contextlib.contextmanager
def shown(console: Console) -> Iterator[Tell]:
    """Give what :func:`spillway.experiments.trials.checks.house.check` tells of its progress."""
    if not console.is_terminal:
        yield lambda phase, done, of: _line(console, phase, done, of)
        return
    with Progress(*columns(console.width), console=console, transient=True) as bars:
        task = bars.add_task("", total=None, state="")

        def tell(phase: Phase, done: int, of: int) -> None:
            bars.update(task, description=phase.value, completed=done, total=of)

        yield tell


def _line(console: Console, phase: Phase, done: int, of: int) -> None:
    """One line for each part that is through."""
    if done == 0:
        console.print(f"{phase.value} ...", markup=False, highlight=False, soft_wrap=True)
    elif done * PARTS // of > (done - 1) * PARTS // of:
        console.print(f"{phase.value}: {done} of {of}", markup=False, highlight=False, soft_wrap=True)
