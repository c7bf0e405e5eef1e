"""The thesis platform's published table: all 110 x 110 routes, link by link, in order, with their latencies."""

import csv
import io
import lzma
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from spillway.platforms import Platform, load_platform, parse_platform, platform_from, resolve_platform

Name = Callable[[str], str]


class Published(NamedTuple):
    """The table: names, bandwidths and fat-pipe marks of links; routes as (source, destination, latency, links)."""

    names: list[str]
    links: dict[str, tuple[float, bool]]
    routes: list[tuple[str, str, float, list[str]]]


@pytest.fixture(scope="module")
def published(reference: Path) -> Published:
    """The table as SimGrid 3.32 computed it."""
    with (reference / "simulation" / "dragonfly96-links.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = [row["name"] for row in rows]
    links = {row["name"]: (float(row["bandwidth_bytes_per_s"]), row["fatpipe"] == "1") for row in rows}
    with lzma.open(reference / "simulation" / "dragonfly96-routes.csv.xz", "rt") as text:
        routes = [
            (row["src"], row["dst"], float(row["latency_s"]), [names[int(link)] for link in row["links"].split()])
            for row in csv.DictReader(text)
        ]
    assert len(routes) == 110 * 110
    return Published(names, links, routes)


_PATTERNS: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (r"cluster_link_(\d+)_loopback", lambda m: f"loop{m[1]}"),
    (r"local_link_from_router_(\d+)_to_node_(\d+)_\d+", lambda m: f"n{int(m[1]) * 3 + int(m[2])}"),
    (r"green_link_in_chassis_(\d+)_between_routers_(\d+)_and_(\d+)_(\d+)", lambda m: _green(m)),
    (r"black_link_in_group_(\d+)_between_chassis_(\d+)_and_(\d+)_blade_(\d+)_\d+", lambda m: _black(m)),
    (r"blue_link_between_group_(\d+)_and_(\d+)_routers_\d+_and_\d+_\d+", lambda m: f"b{m[1]}-{m[2]}"),
    (r"(link_master|link_pfs)", lambda m: m[1]),
]


def thesis_name(name: str) -> str:
    """Our name of a published link, from the hosts and routers that it joins."""
    base, _, way = name.rpartition("_")
    direction = {"UP": "u", "DOWN": "d"}.get(way, "")
    for pattern, new in _PATTERNS:
        match = re.fullmatch(pattern, base if direction else name)
        if match is not None:
            return new(match) + direction
    raise AssertionError(f"unknown published link {name}")


def _green(match: re.Match[str]) -> str:
    # Numbered after 108 local links: three in each chassis, chassis by chassis.
    chassis = (int(match[4]) - 108) // 3
    return f"g{chassis // 4}.{match[1]}.{match[2]}-{match[3]}"


def _black(match: re.Match[str]) -> str:
    return f"k{match[1]}.{match[2]}-{match[3]}.{match[4]}"


def same_name(name: str) -> str:
    """Platforms with the published names."""
    return name


def built_in(_: Path) -> Platform:
    """The built-in description, by arithmetic."""
    return platform_from("thesis")


def generated(_: Path) -> Platform:
    """The built-in description, written and read."""
    return parse_platform(resolve_platform("thesis"))


def full_routes(reference: Path) -> Platform:
    """The reference's file with explicit routes."""
    return load_platform(reference / "simulation" / "dragonfly96-full-routes.xml.xz")


def thesis_file(reference: Path) -> Platform:
    """The thesis's own file, which SimGrid reads no more: the cluster's implicit router is its gateway."""
    archive = reference / "data" / "kth" / "kth-platforms-configs-small.tar.xz"
    with tarfile.open(archive) as tar:
        member = tar.extractfile("platforms/dragonfly96.xml") or io.BytesIO()
        return parse_platform(member.read(), "dragonfly96.xml")


@pytest.fixture(
    params=[(built_in, thesis_name), (generated, thesis_name), (full_routes, same_name), (thesis_file, same_name)],
    ids=["built-in", "generated", "full-routes", "thesis-file"],
)
def case(request: pytest.FixtureRequest, reference: Path) -> tuple[Platform, Name]:
    """Each way to the platform, and its names of the published links."""
    load, naming = request.param
    return load(reference), naming


@pytest.mark.reference
def test_every_route(case: tuple[Platform, Name], published: Published) -> None:
    """Same links in the same order, same latency; the table leaves out the master's routes and the PFS's to itself."""
    platform, name = case
    compared = 0
    for src, dst, latency, links in published.routes:
        if not links:
            assert "master" in (src, dst) or src == dst == "pfs"
            continue
        route = platform.route(platform.host_index[src], platform.host_index[dst])
        assert [platform.links[link].name for link in route.links] == [name(link) for link in links], f"{src} -> {dst}"
        assert route.latency == pytest.approx(latency, rel=1e-12, abs=1e-18)
        compared += 1
    assert compared == 108 * 108 + 2 * 108


@pytest.mark.reference
def test_every_link(case: tuple[Platform, Name], published: Published) -> None:
    """Same bandwidth and sharing of all published links."""
    platform, name = case
    for link, (bandwidth, fatpipe) in published.links.items():
        if link == "__loopback__":
            continue
        index = platform.link_index[name(link)]
        assert (platform.bandwidths[index], platform.fatpipe[index]) == (bandwidth, fatpipe), link


@pytest.mark.reference
def test_master_is_behind_its_link(case: tuple[Platform, Name]) -> None:
    """Every node reaches the master over only the master's link, 100 us away."""
    platform, _ = case
    master = platform.host_index["master"]
    for node in range(108):
        route = platform.route(platform.host_index[f"node_{node}"], master)
        assert [platform.links[link].name for link in route.links] == ["link_master"]
        assert route.latency == pytest.approx(1e-4)
