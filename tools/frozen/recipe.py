"""The recipe of a frozen run: one line of text, which is also its name.

``MACHINE/JOBS/SEED/FEATURES[/WAY] OPTIONS``, as in ``two/40/7/striped+drains --policy easy --model io --site tiers``:
a world (:mod:`tools.frozen.worlds`), and options of ``spillway run`` as they are typed; a site is named without its
folder. Ways are ``batsim5`` (messages of Batsim 5 in place of 4) and ``stepping`` (the learners' environment, without a
learner, in place of all commands).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

WAYS = ("", "batsim5", "stepping")
"""Ways to play a recipe besides the usual one."""


@dataclass(frozen=True)
class Recipe:
    """A recipe, taken apart.

    Attributes
    ----------
    name
        The whole text.
    machine
        Name of a machine of :data:`tools.frozen.worlds.MACHINES`.
    jobs
        Number of jobs with nodes.
    seed
        Seed of all that is drawn.
    features
        Of :data:`tools.frozen.worlds.FEATURES`.
    way
        Of :data:`WAYS`.
    options
        Words of the command line.
    """

    name: str
    machine: str
    jobs: int
    seed: str
    features: frozenset[str]
    way: str
    options: tuple[str, ...]

    def option(self, flag: str, default: str = "") -> str:
        """Value of an option of the command line."""
        return self.options[self.options.index(flag) + 1] if flag in self.options else default

    @property
    def policy(self) -> str:
        """Name of the policy, without its options."""
        return self.option("--policy").partition(":")[0]

    @property
    def model(self) -> str:
        """Name of the job model, without its options; gang policies have one of their own."""
        default = "timeshared" if self.policy.startswith("gang") else "rigid"
        return self.option("--model", default).partition(":")[0]

    @property
    def site(self) -> str:
        """Name of the site; "": no site."""
        return self.option("--site")

    def without(self, *flags: str) -> Sequence[str]:
        """The options but for some, each of which has a value."""
        left: list[str] = []
        skip = False
        for word in self.options:
            if skip or word in flags:
                skip = not skip
            else:
                left.append(word)
        return left


def parse(name: str) -> Recipe:
    """Read a recipe."""
    world, *options = shlex.split(name)
    machine, jobs, seed, features, *way = world.split("/")
    return Recipe(name, machine, int(jobs), seed, frozenset(features.split("+")), "".join(way), tuple(options))
