"""Hosts, links and routes are those of SimGrid 3.32, read through its Python binding."""

import random
from pathlib import Path

import pytest

from spillway.platforms import load_platform, resolve_platform
from tests.platforms.oracle import assert_equal_to_simgrid, simgrid_facts
from tests.platforms.random_platforms import HEAD, random_cluster, random_platform


@pytest.mark.parametrize("seed", range(6))
def test_random_zones(seed: int, tmp_path: Path) -> None:
    """Full and Floyd zones, clusters and stars in each other: the same links in the same order."""
    file = tmp_path / "platform.xml"
    file.write_text(random_platform(seed, ("Full", "Floyd")))
    assert_equal_to_simgrid(load_platform(file), simgrid_facts(file, stride=3))


@pytest.mark.parametrize("seed", range(100, 106))
def test_random_zones_with_dijkstra(seed: int, tmp_path: Path) -> None:
    """With Dijkstra zones among them: the same links; ours in order of travel."""
    file = tmp_path / "platform.xml"
    file.write_text(random_platform(seed))
    assert_equal_to_simgrid(load_platform(file), simgrid_facts(file, stride=3), ordered=False)


VIVALDI = """<zone id="all" routing="Full">
<zone id="v" routing="Vivaldi"><host id="a" coordinates="0 0 0" speed="1Gf"/>
<host id="b" coordinates="3 4 0.5" speed="1Gf"/>
<host id="c" coordinates="-25.5 9.3 -1.4" speed="1Gf"/><router id="r" coordinates="1 2 3"/></zone>
<zone id="w" routing="Vivaldi"><host id="d" coordinates="0.1 1e1 0" speed="1Gf"/>
<router id="s" coordinates="9 2 3"/></zone>
<zone id="x" routing="Full"><host id="e" coordinates="7 7 7" speed="1Gf"/></zone>
<link id="l" bandwidth="1MBps" latency="10ms"/>
<zoneRoute src="v" dst="w" gw_src="r" gw_dst="s"><link_ctn id="l"/></zoneRoute>
<zoneRoute src="v" dst="x" gw_src="b" gw_dst="e"><link_ctn id="l"/></zoneRoute>
<zoneRoute src="w" dst="x" gw_src="d" gw_dst="e"><link_ctn id="l"/></zoneRoute>
</zone></platform>"""


def test_vivaldi_zones(tmp_path: Path) -> None:
    """Latencies by coordinates and heights, also on the ways to the gateways, in SimGrid's order of summation."""
    file = tmp_path / "platform.xml"
    file.write_text(HEAD + VIVALDI)
    platform, facts = load_platform(file), simgrid_facts(file)
    assert_equal_to_simgrid(platform, facts)
    assert platform.route(0, 1).latency == 0.0055


@pytest.mark.parametrize("topology", ["FLAT", "TORUS", "FAT_TREE", "DRAGONFLY"])
def test_clusters(topology: str, tmp_path: Path) -> None:
    """Five random clusters of each kind in one platform: SimGrid numbers some things over all of them."""
    rng = random.Random(topology)
    clusters = "\n".join(random_cluster(rng, f"c{number}", topology)[0] for number in range(5))
    links = '<link id="l" bandwidth="1MBps" latency="1ms"/>'
    form = '<zoneRoute src="c{0}" dst="c{1}" gw_src="c{0}-5.x" gw_dst="c{1}-5.x"><link_ctn id="l"/></zoneRoute>'
    routes = "\n".join(form.format(first, other) for first in range(5) for other in range(first))
    file = tmp_path / "platform.xml"
    file.write_text(f'{HEAD}<zone id="all" routing="Full">{clusters}{links}{routes}</zone></platform>')
    assert_equal_to_simgrid(load_platform(file), simgrid_facts(file, stride=7))


def test_cluster_alone(tmp_path: Path) -> None:
    """A cluster may be the whole platform."""
    file = tmp_path / "platform.xml"
    file.write_text(HEAD + random_cluster(random.Random(1), "c", "TORUS")[0] + "</platform>")
    assert_equal_to_simgrid(load_platform(file), simgrid_facts(file))


@pytest.mark.parametrize(("name", "stride", "ordered"), [
    ("thesis", 1, True),
    ("tiny", 1, False),
    ("herbein-small", 1, False),
    ("cts1", 20011, False),
    ("tuolumne", 50021, False),
])  # fmt: skip
def test_builtin_platforms_load_in_simgrid(name: str, stride: int, ordered: bool, tmp_path: Path) -> None:
    """The generated platform loads in SimGrid and has the same meaning there as here."""
    file = tmp_path / f"{name}.xml"
    file.write_text(resolve_platform(name))
    assert_equal_to_simgrid(load_platform(file), simgrid_facts(file, stride), ordered)


def test_several_clusters_load_in_simgrid(tmp_path: Path) -> None:
    """Two clusters with one file system, storage at several levels."""
    file = tmp_path / "two.xml"
    file.write_text(resolve_platform(Path(__file__).parent / "data" / "two_clusters.toml"))
    assert_equal_to_simgrid(load_platform(file), simgrid_facts(file), ordered=False)


def test_devices_load_in_simgrid(tmp_path: Path) -> None:
    """Storage nodes that read and write at bandwidths of their own have the same links there."""
    file = tmp_path / "devices.xml"
    devices = {"storage.read_bandwidth": "300MBps", "storage.write_bandwidth": "200MBps"}
    file.write_text(resolve_platform("tiny", devices))
    assert_equal_to_simgrid(load_platform(file), simgrid_facts(file), ordered=False)
