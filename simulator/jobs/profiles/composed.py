"""``composed``: other profiles one after another, the whole repeated."""

from __future__ import annotations

from spillway.base.errors import shown
from spillway.core import Profile
from spillway.simulator.jobs.profiles.base import (
    CompoundWork,
    Node,
    Placement,
    ProfileLookup,
    Program,
    Run,
)


class Sequence(CompoundWork):
    """Profiles in order, ``repeat`` times; the first that does not return 0 ends it.

    Attributes
    ----------
    names, repeat
        Names of the profiles, and the number of repetitions.
    parts
        The profiles of those names, ``None`` until they are linked (when a workload file has been read).
    """

    __slots__ = ("names", "parts", "repeat")

    def __init__(self, names: tuple[str, ...], repeat: int) -> None:
        self.names = names
        self.repeat = repeat
        self.parts: tuple[Profile, ...] | None = None

    def steps(self, node: Node, place: Placement, lookup: ProfileLookup) -> Program:
        """Run the children; ``node.index`` counts over repetitions."""
        profiles = self.parts
        if profiles is None:
            raise ValueError(
                f"its profile {shown(node.profile.name)} is a 'composed' one that was registered during the "
                "simulation, "
                f"which makes Batsim 4 crash; put it into the workload file, or register and execute its parts"
            )
        for index in range(self.repeat * len(profiles)):
            node.index = index
            node.child = Node(profiles[index % len(profiles)])
            code: int = yield Run(node.child)
            if code != 0:
                return code
        return 0
