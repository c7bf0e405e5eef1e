"""Hypothesis strategies for platform descriptions, as TOML tables."""

from typing import Any

from hypothesis import strategies as st

BANDWIDTHS = st.sampled_from(["1GBps", "1250MBps", "10Gbps", 3.5e8])
LATENCIES = st.sampled_from(["1us", "50us", 0, 1e-6])


@st.composite
def dragonflies(draw: st.DrawFn) -> dict[str, Any]:
    """Small Dragonflies, with and without storage and file system."""
    groups = draw(st.integers(1, 3))
    table: dict[str, Any] = {
        "name": "random",
        "topology": "dragonfly",
        "dragonfly": {
            "groups": groups,
            "chassis": draw(st.integers(1, 3)),
            "routers": draw(st.integers(groups, 3)),
            "nodes": draw(st.integers(1, 2)),
            "bandwidth": draw(BANDWIDTHS),
            "latency": draw(LATENCIES),
            "green": draw(st.integers(1, 3)),
        },
        **draw(common()),
    }
    if draw(st.booleans()):
        table["storage"] = {"per": draw(st.sampled_from(["router", "chassis", "group"])), "capacity": "40GB"}
    return table


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    """One to three small clusters, one to three levels each, some without links."""
    clusters = [draw(_cluster(f"c{number}")) for number in range(draw(st.integers(1, 3)))]
    table: dict[str, Any] = {"name": "random", "topology": "tree", "cluster": clusters, **draw(common())}
    if all(len(cluster["levels"]) > 1 for cluster in clusters) and draw(st.booleans()):
        table["storage"] = {"per": "l0", "capacity": 10**10, "duplex": draw(st.booleans())}
        for key in ("read_bandwidth", "write_bandwidth"):
            if draw(st.booleans()):
                table["storage"][key] = draw(BANDWIDTHS)
        if draw(st.booleans()):
            table["cluster"].append(draw(_racks()))
    return table


@st.composite
def common(draw: st.DrawFn) -> dict[str, Any]:
    """The tables that all topologies have."""
    table: dict[str, Any] = {
        "node": {"prefix": draw(st.sampled_from(["node_", "n"])), "speed": draw(st.sampled_from(["1Gf", 2e9]))},
        "master": {"latency": draw(LATENCIES)},
    }
    if draw(st.booleans()):
        table["pfs"] = {"bandwidth": draw(BANDWIDTHS), "scheduled": draw(st.booleans())}
    return table


@st.composite
def _racks(draw: st.DrawFn) -> dict[str, Any]:
    """A cluster whose racks are listed by name: with and without storage nodes, nodes, and links of their own."""
    racks: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 3))):
        nodes, storage = draw(st.sampled_from([(0, True), (1, True), (2, False), (3, True)]))
        rack: dict[str, Any] = {"nodes": f"r{number}c[1-{nodes}]"} if nodes else {}
        if storage:
            rack["storage"] = f"r{number}s"
            if draw(st.booleans()):
                rack["capacity"] = draw(st.integers(0, 2**50))
        racks.append(rack)
    levels: list[dict[str, Any]] = [{"name": "l0"}, {"name": "l1", "bandwidth": draw(BANDWIDTHS)}]
    if draw(st.booleans()):
        levels[0]["bandwidth"] = draw(BANDWIDTHS)
    return {"name": "racks", "uplink": {"name": "up", "bandwidth": draw(BANDWIDTHS)}, "levels": levels, "rack": racks}


@st.composite
def _cluster(draw: st.DrawFn, name: str) -> dict[str, Any]:
    levels = []
    depth = draw(st.integers(1, 3))
    for number in range(depth):
        level: dict[str, Any] = {"name": f"l{number}", "count": draw(st.integers(1, 3)), "duplex": draw(st.booleans())}
        if number == depth - 1 or draw(st.booleans()):
            level |= {"bandwidth": draw(BANDWIDTHS), "latency": draw(LATENCIES)}
            if draw(st.booleans()):
                level["scheduled"] = draw(st.booleans())
        levels.append(level)
    uplink = {"name": "up", "bandwidth": draw(BANDWIDTHS), "duplex": draw(st.booleans())}
    return {"name": name, "uplink": uplink, "levels": levels}
