"""The routes that the core keeps."""

import gc
import subprocess
import sys
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.core import Network
from spillway.platforms.catalogue import platform_from
from spillway.platforms.model import Route
from spillway.simulator.engines.native import network_of

PLATFORM = platform_from("tiny")
HOSTS = len(PLATFORM.hosts)
KEYS = st.lists(st.integers(0, HOSTS * HOSTS - 1), max_size=400)


@given(keys=KEYS)
def test_each_pair_leads_to_its_route(keys: list[int]) -> None:
    """In any order, also repeated: with its links and latency."""
    network = network_of(PLATFORM)
    for key in keys:
        route = PLATFORM.route(*divmod(key, HOSTS))
        assert network.route(*divmod(key, HOSTS)) == (list(route.links), route.latency)


class Asked:
    """Notes the pairs that it was asked for; refuses host 2; keeps the network that asks it."""

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.network = Network([1.0] * 3, [1] * 3, [1e6], [False], self.find, self.find, list)

    def find(self, source: int, destination: int) -> Route:
        """A route over the only link."""
        self.pairs.append((source, destination))
        if destination == 2:
            raise LookupError("no way leads there")
        return Route((0,), 0.5)


def test_a_route_is_asked_for_once_and_a_refusal_passes_through() -> None:
    """The platform's own exception reaches whoever asked; it may ask again."""
    asked = Asked()
    for _ in range(3):
        assert asked.network.route(0, 1) == ([0], 0.5)
        with pytest.raises(LookupError, match="no way leads there"):
            asked.network.route(1, 2)
    assert asked.pairs == [(0, 1), (1, 2), (1, 2), (1, 2)]


def test_a_platform_that_keeps_its_network_is_collected() -> None:
    """The circle goes through the core, which shows it to the collector."""
    asked = Asked()
    asked.network.route(0, 1)
    gone = weakref.ref(asked)
    del asked
    gc.collect()
    assert gone() is None


LEAKING = """
import math, spillway.core as core
from spillway.platforms.catalogue import platform_from
from tests.kit.tasks import AllToAll, TaskSpec
from tests.kit.tasks import FluidEngine
from spillway.simulator.engines.native import network_of
core.set_leak_warnings(True)
platform = platform_from("tiny")
object.__setattr__(platform, "kept", network_of(platform))
engine = FluidEngine(platform, platform.kept)
engine.start(TaskSpec((0, 1, 2), 1e9, AllToAll(1e6)))
engine.advance(math.inf)
"""


def test_nothing_is_left_when_python_ends() -> None:
    """Engines, networks and platforms that keep them: the core would name what is left."""
    done = subprocess.run([sys.executable, "-c", LEAKING], capture_output=True, text=True, check=True)
    assert done.stderr == ""
