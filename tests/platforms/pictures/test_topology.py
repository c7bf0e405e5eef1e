"""The machine as a graph, and its pictures."""

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings

from spillway.platforms import PlatformError, describe, load_platform, platform_from, resolve_platform
from spillway.platforms.description.machine import read_description
from spillway.platforms.pictures.drawing import draw_platform
from spillway.platforms.pictures.topology import route_graph, topology
from tests.platforms.strategies import dragonflies, trees


def test_thesis() -> None:
    """108 nodes, 36 routers; green, black and blue cables by the sizes; the servers apart."""
    graph = topology(describe("thesis"))
    kinds = [kind for _, kind in graph.nodes(data="kind")]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "node": 96, "storage": 12, "router": 36, "master": 1, "pfs": 1,
    }  # fmt: skip
    levels = [level for _, _, level in graph.edges(data="level")]
    assert {level: levels.count(level) for level in set(levels)} == {
        "local": 108, "green": 12 * 3, "black": 3 * 6 * 3, "blue": 3,
    }  # fmt: skip
    assert graph.nodes["node_9"] == {"kind": "storage", "location": ("g0", "c1", "r0"), "capacity_bytes": 40 * 10**9}
    assert graph.degree["pfs"] == graph.degree["master"] == 0


def test_hops() -> None:
    """Distances in cables: same router, same chassis, same group, other group."""
    graph = topology(describe("thesis"))
    assert [nx.shortest_path_length(graph, "node_0", f"node_{other}") for other in (0, 1, 3, 9, 12, 36)] == [
        0,
        2,
        3,
        3,
        4,
        4,
    ]


def test_cts1() -> None:
    """A tree below the file system."""
    graph = topology(describe("cts1"))
    graph.remove_node("master")
    assert nx.is_tree(graph)
    assert nx.shortest_path_length(graph, "cts0", "pfs") == 3
    assert nx.shortest_path_length(graph, "cts0", "cts3887") == 4


@settings(max_examples=40)
@given(dragonflies() | trees())
def test_distances(table: dict[str, Any]) -> None:
    """Hosts hang together (servers apart); distances are symmetric and, but for a Dragonfly's quirk, the routes'."""
    description = read_description(table)
    graph = topology(description)
    platform = platform_from_table(table)
    hosts = [name for name, kind in graph.nodes(data="kind") if kind in ("node", "storage")]
    assert set(hosts) <= set(platform.host_index)
    for host in hosts[:4]:
        for other in hosts:
            distance = nx.shortest_path_length(graph, host, other)
            assert distance == nx.shortest_path_length(graph, other, host)
            if host != other:
                route = platform.route(platform.host_index[host], platform.host_index[other])
                assert abs(distance - len(route.links)) <= (table["topology"] == "dragonfly")


def platform_from_table(table: dict[str, Any]) -> Any:
    """The platform of a description given as a table."""
    from spillway.platforms.description.generate import build

    return build(read_description(table))


def test_route_graph(tmp_path: Path) -> None:
    """Any platform's routes make a graph; too many hosts are refused."""
    file = tmp_path / "tiny.xml"
    file.write_text(resolve_platform("tiny"))
    graph = route_graph(load_platform(file))
    assert nx.is_connected(graph)
    assert nx.shortest_path_length(graph, "n0", "n1") == 3
    assert graph.nodes["bb0"] == {"kind": "storage", "location": ("switch0",), "capacity_bytes": 10**10}
    with pytest.raises(PlatformError, match="the platform has 3890 hosts; its graph can be drawn up to 400 from XML"):
        route_graph(platform_from("cts1"))


@pytest.mark.parametrize("name", ["thesis", "tiny", "cts1-10", "two_clusters.toml", "xml"])
def test_pictures(name: str, tmp_path: Path) -> None:
    """Every kind of picture is drawn, and not empty."""
    source: str | Path = name
    if name == "xml":
        source = tmp_path / "tiny.xml"
        source.write_text(resolve_platform("tiny"))
    elif name.endswith(".toml"):
        source = Path(__file__).parents[1] / "data" / name
    output = tmp_path / "picture.png"
    draw_platform(source, output)
    data = output.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) > 20_000
