"""SimGrid's own reading of a platform file, in a child process."""

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from spillway.platforms import Platform

CHILD = Path(__file__).with_name("simgrid_child.py")


@dataclass(frozen=True)
class Facts:
    """SimGrid's answers.

    Attributes
    ----------
    hosts
        By name: speeds per power state, cores, initial power state.
    links
        By name: bandwidth in bytes/s, latency in s.
    routes
        Source, destination, names of links (``None``: SimGrid found no route), latency in s.
    """

    hosts: dict[str, list[Any]]
    links: dict[str, list[float]]
    routes: list[tuple[str, str, list[str] | None, float]]


@lru_cache(maxsize=1)
def interpreter() -> str | None:
    """A Python that can import SimGrid's binding, or ``None``."""
    probe = "import sys; sys.path.append('/usr/lib/python3/dist-packages'); import simgrid"
    for candidate in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([candidate, "-c", probe], capture_output=True, timeout=60).returncode == 0:
                return candidate
        except OSError:
            continue
    return None


def simgrid_facts(xml: Path, stride: int = 1) -> Facts:
    """Load a file in SimGrid; skip the test if SimGrid's binding is not installed.

    Parameters
    ----------
    stride
        Query every ``stride``-th pair of hosts only.
    """
    python = interpreter()
    if python is None:
        pytest.skip("SimGrid's Python binding (python3-simgrid) is not installed")
    done = subprocess.run([python, str(CHILD), str(xml), str(stride)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"SimGrid does not load {xml}: {done.stderr[-2000:]}"
    answer = json.loads(done.stdout[done.stdout.index("{") :])
    return Facts(answer["hosts"], answer["links"], [tuple(route) for route in answer["routes"]])


def assert_equal_to_simgrid(platform: Platform, facts: Facts, ordered: bool = True) -> None:
    """Hosts, links and routes are SimGrid's.

    Parameters
    ----------
    ordered
        Whether the links of a route must come in SimGrid's order (in Dijkstra zones SimGrid's is not that of travel).
    """
    assert {host.name: [list(host.speeds), host.cores, host.pstate] for host in platform.hosts} == facts.hosts
    implicit = {name: value for name, value in facts.links.items() if name == "__loopback__"}
    assert {**implicit, **{link.name: [link.bandwidth, link.latency] for link in platform.links}} == facts.links
    assert facts.routes
    for src, dst, links, latency in facts.routes:
        assert links is not None, f"SimGrid knows no route from {src} to {dst}: {latency}"
        route = platform.route(platform.host_index[src], platform.host_index[dst])
        names = [platform.links[link].name for link in route.links]
        assert (names if ordered else sorted(names)) == (links if ordered else sorted(links)), f"{src} -> {dst}"
        assert route.latency == pytest.approx(latency, rel=1e-13, abs=1e-18), f"{src} -> {dst}"
