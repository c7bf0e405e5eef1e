"""Lives of burst buffers, by name: rules for when a job gets its buffer, and how long it holds it around its nodes.

An entry is a frozen dataclass with its options as fields (``--bb-life standby:bound=3600``). A life wraps the policy in
each pass: it gives waiting jobs their buffers, shows the policy the jobs to decide on, and turns the policy's starts
into decisions that the session carries out.
"""

from __future__ import annotations

from collections.abc import Mapping

from spillway.base.errors import OptionError
from spillway.base.options import build
from spillway.base.plugins import split_spec
from spillway.schedulers.lives.base import Life, NodeLife
from spillway.schedulers.lives.buffer_first import Slurm, Standby
from spillway.schedulers.lives.two_reservations import TwoReservations

LIVES: Mapping[str, type[Life]] = {
    "with-nodes": NodeLife,
    "slurm": Slurm,
    "two-reservations": TwoReservations,
    "standby": Standby,
}
"""Every life by its name on the command line."""


def parse_life(text: str) -> Life:
    """Make a life from ``NAME[:key=value,...]``.

    Raises
    ------
    OptionError
        An unknown name (lists those that are known), or a wrong option.
    """
    name, options = split_spec(text)
    if name not in LIVES:
        raise OptionError(f"--bb-life must be one of: {', '.join(LIVES)}; got {name!r}")
    try:
        return build(LIVES[name], options)
    except OptionError as error:
        raise OptionError(f"--bb-life {name}: {error}") from None


def name_of(life: Life) -> str:
    """Name of a life in :data:`LIVES`."""
    return next(name for name, cls in LIVES.items() if cls is type(life))
