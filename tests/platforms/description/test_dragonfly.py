"""The Dragonfly's special nodes and its routes' quirk."""

from spillway.platforms import Platform, platform_from

THESIS = platform_from("thesis")


def names(platform: Platform, src: str, dst: str) -> list[str]:
    """Names of the links of a route."""
    return [platform.links[i].name for i in platform.route(platform.host_index[src], platform.host_index[dst]).links]


def test_storage_nodes_of_the_thesis() -> None:
    """The first node of each chassis, 40 GB each."""
    stores = [host for host in THESIS.hosts if host.properties.get("storage_kind") == "burst_buffer"]
    assert [host.name for host in stores] == [f"node_{number}" for number in range(0, 108, 9)]
    assert all(host.properties["capacity_bytes"] == "40000000000" for host in stores)
    assert [host.properties["location"] for host in stores[:5]] == [
        "g0/c0/r0", "g0/c1/r0", "g0/c2/r0", "g0/c3/r0", "g1/c0/r0",
    ]  # fmt: skip


def test_hosts_of_the_thesis() -> None:
    """96 nodes of 1 Gflop/s, 12 storage nodes, the file system, the master."""
    roles = [host.role for host in THESIS.hosts]
    assert (roles.count(""), roles.count("storage"), roles.count("master")) == (96, 13, 1)
    assert {host.speed for host in THESIS.hosts if not host.role} == {1e9}


def test_file_system_traffic() -> None:
    """To and from the file system: its link only, shared by both directions."""
    assert names(THESIS, "node_9", "pfs") == names(THESIS, "pfs", "node_9") == ["link_pfs"]
    assert names(THESIS, "pfs", "master") == ["link_pfs", "link_master"]
    assert names(THESIS, "pfs", "pfs") == ["loop"]


def test_quirk_outside_the_first_chassis() -> None:
    """Between two routers of chassis 1 the way continues as if from chassis 0, over an unneeded black link."""
    assert names(THESIS, "node_0", "node_3") == ["n0u", "g0.0.0-1u", "n3d"]
    assert names(THESIS, "node_9", "node_12") == ["n9u", "g0.1.0-1u", "k0.0-1.1u", "n12d"]


def test_quirk_to_the_first_chassis() -> None:
    """From chassis 1 to another blade of chassis 0 the black link is missing."""
    assert names(THESIS, "node_9", "node_3") == ["n9u", "g0.1.0-1u", "n3d"]
    assert names(THESIS, "node_3", "node_9") == ["n3u", "g0.0.0-1d", "k0.0-1.0u", "n9d"]


def test_longest_route() -> None:
    """Over green, black, blue, green and black links."""
    assert names(THESIS, "node_9", "node_107") == [
        "n9u", "g0.1.0-2u", "k0.0-1.2d", "b0-2u", "g2.0.0-2u", "k2.0-3.2u", "n107d",
    ]  # fmt: skip


def test_parallel_cables() -> None:
    """Several cables are one link of as many times the bandwidth."""
    platform = platform_from("thesis", {"dragonfly.green": 3, "dragonfly.blue": 2})
    bandwidths = {link.name: link.bandwidth for link in platform.links}
    assert (bandwidths["g0.0.0-1u"], bandwidths["k0.0-1.0u"], bandwidths["b0-1d"]) == (3.75e9, 1.25e9, 2.5e9)
