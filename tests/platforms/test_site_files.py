"""Maps and resource graphs of sites: their contents were counted by hand."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.cli.machine_file import described, exported, imported, inventory_in
from spillway.platforms import Platform, PlatformError, describe, parse_platform, platform_from
from spillway.platforms.description.generate import generate
from spillway.platforms.sites.graph import read_graph, written
from spillway.platforms.sites.inventory import Inventory, RackFacts, merged
from spillway.platforms.sites.rabbit_map import read_map
from tests.platforms.strategies import trees

GIB = 2**30


def racks_of(platform: Platform) -> list[tuple[str, int, list[str]]]:
    """Storage nodes with their bytes and the nodes at the same place, as the scheduler has them."""
    served: dict[str, list[str]] = {}
    for host in platform.hosts:
        if not host.role:
            served.setdefault(host.properties["location"], []).append(host.name)
    return [
        (host.name, int(host.properties["capacity_bytes"]), served.get(host.properties["location"], []))
        for host in platform.hosts
        if "capacity_bytes" in host.properties
    ]


def read(path: Path, tmp_path: Path) -> Platform:
    """The platform that ``platform import`` makes of a file."""
    file = tmp_path / f"{path.stem}.toml"
    list(imported([path], file, None))
    return platform_from(file)


def test_tuolumne(reference: Path, tmp_path: Path) -> None:
    """1,152 nodes, 72 rabbits of 16 nodes each; 63 are alike. The built-in machine is the same."""
    racks = racks_of(read(reference / "data/sites/rabbit/tuolumne_rabbitmapping", tmp_path))
    assert len(racks) == 72
    assert racks[0] == ("tuolumne201", 17529847545856, [f"tuolumne{number}" for number in range(1001, 1017)])
    assert racks[71] == ("tuolumne272", 17529847545856, [f"tuolumne{number}" for number in range(2137, 2153)])
    assert [len(nodes) for _, _, nodes in racks] == [16] * 72
    assert {name: size for name, size, _ in racks if size != 17529847545856} == {
        "tuolumne231": 17527700062208,
        "tuolumne246": 17527700062208,
        "tuolumne249": 12390969606144,
        "tuolumne250": 17465847545856,
        "tuolumne251": 17165847543808,
        "tuolumne252": 16729847545856,
        "tuolumne253": 16129847545856,
        "tuolumne254": 17329847545856,
        "tuolumne256": 3511074291712,
    }
    assert racks_of(platform_from("tuolumne")) == racks


def test_rzadams(reference: Path, tmp_path: Path) -> None:
    """128 nodes, 8 rabbits."""
    racks = racks_of(read(reference / "data/sites/rabbit/rzadams_rabbitmapping", tmp_path))
    assert [name for name, _, _ in racks] == [f"rzadams20{number}" for number in range(1, 9)]
    assert [size for _, size, _ in racks] == [
        30659987079168, 30659987079168, 17246242713600, 30723987079168, 30723987079168, 30723987079168,
        30723987079168, 30723987079168,
    ]  # fmt: skip
    assert [node for _, _, nodes in racks for node in nodes] == [f"rzadams{number}" for number in range(1001, 1129)]


def test_small_maps(reference: Path, tmp_path: Path) -> None:
    """32 nodes at two rabbits; and 4 nodes, 3 of them at the first."""
    folder = reference / "data/sites/rabbit"
    assert racks_of(read(folder / "rabbitmapping.json", tmp_path)) == [
        ("somecluster101", 30659987079168, [f"somecluster{number}" for number in range(10, 26)]),
        ("somecluster102", 28743737888768, [f"somecluster{number}" for number in range(26, 42)]),
    ]
    assert racks_of(read(folder / "rabbits.json", tmp_path)) == [
        ("kind-worker2", 39582418599936, ["compute-01", "compute-02", "compute-03"]),
        ("kind-worker3", 39582418599936, ["compute-04"]),
    ]


@pytest.mark.parametrize(
    ("file", "name", "cores"), [("expected-compute-01.jgf", "ElCapitan", 1), ("expected-properties.jgf", "compute", 10)]
)
def test_graphs(file: str, name: str, cores: int, reference: Path, tmp_path: Path) -> None:
    """Two chassis with a rabbit of 36 SSDs of 1,024 GiB; a node in the first."""
    path = reference / "data/sites/rabbit" / file
    platform = read(path, tmp_path)
    assert racks_of(platform) == [
        ("kind-worker2", 36 * 1024 * GIB, ["compute-01"]),
        ("kind-worker3", 36 * 1024 * GIB, []),
    ]
    assert platform.host("compute-01").cores == cores
    found = inventory_in(path)
    assert (found.name, found.rack_word) == (name, "chassis")
    assert found.notes == ("72 SSDs are marked down in the graph; their capacity counts",)


def test_export_is_read_back_equal(tmp_path: Path) -> None:
    """A description with racks by name is unchanged after a graph."""
    file, back = tmp_path / "graph.json", tmp_path / "back.toml"
    list(exported("tuolumne", file))
    graph = json.loads(file.read_text())["scheduling"]["graph"]
    kinds = Counter(node["metadata"]["type"] for node in graph["nodes"])
    assert kinds == {"cluster": 1, "chassis": 72, "ssd": 72, "node": 1152, "core": 1152}
    assert len(graph["edges"]) == len(graph["nodes"]) - 1
    list(imported([file], back, None))
    assert describe(back) == describe("tuolumne")


@given(table=trees())
@settings(max_examples=20, deadline=None)
def test_any_tree_through_a_graph(table: dict[str, Any]) -> None:
    """Nodes, racks, storage nodes and bytes are the same after a graph, and after a description made of it."""
    from spillway.platforms.description.machine import read_description
    from spillway.platforms.sites.inventory import inventory_of

    platform = parse_platform(generate(read_description(table, "x")))
    inventory = inventory_of(platform, "x")
    back = read_graph(written(inventory), "")
    assert back.racks == inventory.racks
    again = inventory_of(parse_platform(generate(described(back, "x"))), "x")
    assert sorted(again.racks, key=str) == sorted(inventory.racks, key=str)


def test_devices_read_and_write(tmp_path: Path) -> None:
    """Reading crosses the way up, writing the way down, each as fast as the slower of link and devices."""
    file = tmp_path / "mine.toml"
    file.write_text('base = "tiny"\n[storage]\nread_bandwidth = "300MBps"\nwrite_bandwidth = "5GBps"\n')
    platform = platform_from(file)
    for ends, first, bandwidth in ((("bb0", "pfs"), 0, 300e6), (("pfs", "bb0"), -1, 1e9)):
        links = platform.route(*(platform.host_index[name] for name in ends)).links
        assert platform.bandwidths[links[first]] == bandwidth
    assert platform.host("bb0").properties == platform_from("tiny").host("bb0").properties


FAULTS: dict[str, tuple[Any, str]] = {
    "no table": ({"computes": {}}, "rabbits: expected an object, got nothing"),
    "no rabbits": ({"computes": {}, "rabbits": {}}, "rabbits: expected one rabbit or more, got an empty table"),
    "capacity": ({"computes": {}, "rabbits": {"r": {"capacity": 1.5, "hostlist": ""}}},
     "rabbits.r.capacity: expected whole bytes, at least 0 and below 2\\^53, got 1.5"),
    "hostlist": ({"computes": {}, "rabbits": {"r": {"capacity": 1, "hostlist": "n["}}},
     r"rabbits.r.hostlist: expected host names such as .*, got 'n\['"),
    "other rabbit": ({"computes": {"n1": "s"}, "rabbits": {"r": {"capacity": 1, "hostlist": "n1"}}},
     "rabbits.r.hostlist: node 'n1': 'computes' says 's'"),
    "unserved": ({"computes": {"n1": "r"}, "rabbits": {"r": {"capacity": 1, "hostlist": ""}}},
     "computes.n1: 'r' does not name this node in its 'hostlist'"),
    "twins": ({"computes": {"r": "r"}, "rabbits": {"r": {"capacity": 1, "hostlist": "r"}}},
     "'r' occurs at 2 places; a host has one"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_maps(fault: str) -> None:
    """Each fault is located, in one line."""
    data, message = FAULTS[fault]
    with pytest.raises(PlatformError, match=f"^file: {message}$"):
        read_map(data, "file")


def vertices(*kinds: str, **metadata: Any) -> list[dict[str, Any]]:
    """Vertices of some types; the last with more in its metadata."""
    made = [{"id": str(place), "metadata": {"type": kind}} for place, kind in enumerate(kinds)]
    made[-1]["metadata"] = {"type": kinds[-1], **metadata}
    return made


CHAIN = [{"source": "0", "target": "1"}, {"source": "1", "target": "2"}]
GRAPHS: dict[str, tuple[Any, Any, str]] = {
    "no list": ({}, [], r"graph.nodes: expected a list, got \{\}"),
    "no type": ([{"id": 1, "metadata": {}}], [],
     r"graph.nodes\[0\]: expected an 'id' and 'metadata' with a 'type', .*"),
    "same id": (vertices("node") * 2, [], r"graph.nodes\[1\].id: '0' is that of graph.nodes\[0\] too"),
    "edge": (vertices("node"), [{"source": "0", "target": "7"}],
     r"graph.edges\[0\]: expected 'source' and 'target' among .*"),
    "circle": (vertices("cluster", "rack"), [{"source": "0", "target": "1"}, {"source": "1", "target": "0"}],
     r"graph.edges: graph.nodes\[0\] lies in itself, by way of others, or more than 100 levels deep"),
    "unit": (vertices("cluster", "rack", "ssd", unit="GiBi"), CHAIN,
     r"graph.nodes\[2\].metadata.unit: expected one of B, KB, .*, got 'GiBi'"),
    "size": (vertices("cluster", "rack", "ssd", unit="GiB", size=-1), CHAIN,
     r"graph.nodes\[2\].metadata.size: expected a whole number, got -1"),
    "name": (vertices("node", name="a/b"), [], r"graph.nodes\[0\].metadata.name: expected a name of letters, .*"),
    "nothing": (vertices("cluster"), [], "graph.nodes: expected nodes or SSDs, found neither"),
}  # fmt: skip


@pytest.mark.parametrize("fault", GRAPHS)
def test_faults_of_graphs(fault: str) -> None:
    """Each fault is located, in one line."""
    nodes, edges, message = GRAPHS[fault]
    with pytest.raises(PlatformError, match=f"^file: {message}$"):
        read_graph({"graph": {"nodes": nodes, "edges": edges}}, "file")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Inventory("", (RackFacts(("n1",), "s", 5),)), "node 'n1' is served by 's', in an earlier file by 'r'"),
        (Inventory("", (RackFacts((), "r", 6),)), "'r' has 6 bytes, in an earlier file 5"),
        (Inventory("", (RackFacts(("n2",)),), cores=3), "its nodes have 3 cores, in an earlier file 2"),
    ],
)
def test_files_that_contradict_each_other(other: Inventory, message: str) -> None:
    """In two files each fact occurs once, or alike."""
    one = Inventory("", (RackFacts(("n1",), "r", 5),), cores=2)
    with pytest.raises(PlatformError, match=f"^two: {message}$"):
        merged([("one", one), ("two", other)])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["cluster", "rack", "node", "core", "ssd"])
VERTEX = st.fixed_dictionaries(
    {"id": st.sampled_from("0123"), "metadata": st.fixed_dictionaries({"type": TYPES}, optional={"size": JSON})}
)
EDGE = st.fixed_dictionaries({"source": st.sampled_from("0123"), "target": st.sampled_from("0123")})
RABBIT = st.fixed_dictionaries({}, optional={"capacity": JSON, "hostlist": JSON | st.just("n[1-3]")})


@given(
    nodes=JSON | st.lists(VERTEX | JSON, max_size=4, unique_by=str),
    edges=JSON | st.lists(EDGE | JSON, max_size=4),
    computes=JSON | st.dictionaries(st.sampled_from(["n1", "n2", "n3"]), JSON | st.just("r")),
    rabbits=JSON | st.dictionaries(st.sampled_from(["r", "s"]), JSON | RABBIT),
)
@settings(max_examples=60, deadline=None)
def test_garbage(nodes: Any, edges: Any, computes: Any, rabbits: Any) -> None:
    """Any contents of a file are read, or refused in one line."""
    for read_it, data in (
        (read_graph, {"graph": {"nodes": nodes, "edges": edges}}),
        (read_map, {"computes": computes, "rabbits": rabbits}),
    ):
        message = ""
        try:
            assert read_it(data, "file").racks
        except PlatformError as error:
            message = str(error)
        assert message.startswith("file: ") == bool(message)
        assert "\n" not in message
