"""Trees: the machines of Herbein et al., several clusters with one file system."""

from pathlib import Path

import pytest

from spillway.platforms import Platform, platform_from
from spillway.platforms.catalogue import describe

TWO = Path(__file__).parents[1] / "data" / "two_clusters.toml"


def names(platform: Platform, src: str, dst: str) -> list[str]:
    """Names of the links of a route."""
    return [platform.links[i].name for i in platform.route(platform.host_index[src], platform.host_index[dst]).links]


def test_cts1() -> None:
    """Section 4.1: 3,888 nodes, edge switches of 216 GB/s with 18 nodes, a pool of 432 GB/s, a PFS of 70 GB/s."""
    platform = platform_from("cts1")
    nodes = [host for host in platform.hosts if not host.role]
    assert len(nodes) == 3888
    assert nodes[18].properties["io_path"] == "pfs=70000000000/pool=432000000000/su0-edge1=216000000000"
    assert nodes[18].properties["location"] == "su0/edge1"
    assert len({host.properties["io_path"] for host in nodes}) == 24 * 9
    assert names(platform, "cts0", "pfs") == ["cts0-link_UP", "cts1-su0-edge0-link", "cts1-pool", "link_pfs"]
    assert names(platform, "cts0", "cts17") == ["cts0-link_UP", "cts17-link_DOWN"]
    assert names(platform, "cts0", "cts3887") == [
        "cts0-link_UP", "cts1-su0-edge0-link", "cts1-su23-edge8-link", "cts3887-link_DOWN",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "bandwidth"), [("cts1", 70e9), ("cts1-10", 63e9), ("cts1-20", 56e9), ("cts1-30", 49e9)]
)
def test_under_provisioning(name: str, bandwidth: float) -> None:
    """Section 5.1: 70, 63, 56 and 49 GB/s, in the link and in the schedulers' facts."""
    stated = describe(name).pfs
    assert stated is not None
    assert stated.bandwidth == bandwidth
    if name == "cts1-10":
        platform = platform_from(name)
        assert platform.bandwidths[platform.link_index["link_pfs"]] == bandwidth
        assert platform.host("cts0").properties["io_path"].startswith(f"pfs={bandwidth:.0f}/")


def test_small_tree_of_herbein() -> None:
    """Figures 2 and 3: two switches of 256 MB/s with two nodes each; every level is counted."""
    platform = platform_from("herbein-small")
    nodes = [host for host in platform.hosts if not host.role]
    assert [host.properties["location"] for host in nodes] == ["lowest0", "lowest0", "lowest1", "lowest1"]
    assert nodes[3].properties["io_path"] == (
        "pfs=512000000/network=384000000/lowest1=256000000/lowest1-node1=256000000"
    )
    assert names(platform, "node0", "node1") == ["node0-link", "node1-link"]


def test_clusters_share_the_file_system() -> None:
    """The file system is the common root; equal names in two clusters are distinguished."""
    platform = platform_from(TWO)
    cab, zin = platform.host("node_8").properties, platform.host("node_20").properties
    assert cab["io_path"] == "pfs=5000000000/cab-pool=10000000000/cab-su1-sw0=2000000000"
    assert zin["io_path"] == (
        "pfs=5000000000/zin-pool=20000000000/zin-su1=4000000000/zin-su1-sw0=2000000000/zin-su1-sw0-node0=1000000000"
    )
    assert names(platform, "node_8", "pfs")[-2:] == ["cab-pool_UP", "link_pfs"]
    assert names(platform, "pfs", "node_20")[:2] == ["link_pfs", "zin-pool"]
    assert names(platform, "node_8", "node_20")[2:4] == ["cab-pool_UP", "zin-pool"]


def test_storage_hosts() -> None:
    """One at each instance of the named level, whether that has a link or not, with its own link."""
    platform = platform_from(TWO)
    stores = [host for host in platform.hosts if host.properties.get("storage_kind") == "burst_buffer"]
    assert [host.properties["location"] for host in stores] == ["cab/su0", "cab/su1", "zin/su0", "zin/su1", "zin/su2"]
    assert names(platform, "node_0", "bb0") == ["node_0-link_UP", "cab-su0-sw0-link_UP", "bb0-link_DOWN"]
    assert names(platform, "bb2", "pfs") == ["bb2-link_UP", "zin-su0-link", "zin-pool", "link_pfs"]


def test_tiny() -> None:
    """Eight nodes and two burst buffers."""
    platform = platform_from("tiny")
    assert [host.name for host in platform.hosts if not host.role] == [f"n{number}" for number in range(8)]
    assert names(platform, "n0", "bb0") == ["n0-link_UP", "bb0-link_DOWN"]
