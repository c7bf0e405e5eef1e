"""Levels out of routes: hand-made machines, trees against their own statements, refused ones; written into XML."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.platforms import Platform, PlatformError, parse_platform, platform_from, resolve_platform
from spillway.platforms.cli import main
from spillway.platforms.description.generate import build
from spillway.platforms.description.machine import read_description
from spillway.platforms.io_paths import IoLevel, io_levels, io_levels_text, io_path, path_of
from spillway.platforms.model import Host, LinkInfo, Route, Sharing
from spillway.platforms.simgrid.annotate import annotate
from spillway.protocol.messages import SimulationBegins
from spillway.schedulers.core.feasible import Limits
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.simulator.world.machines import Machines
from tests.platforms.strategies import trees

PFS = '<host id="pfs" speed="1f"><prop id="role" value="storage"/></host>'


class _Listed:
    """Routes from a table, by the source's index."""

    def __init__(self, routes: Sequence[Sequence[int]]) -> None:
        self._routes = routes

    def find(self, src: int, dst: int) -> Route:
        return Route(tuple(self._routes[src]), 0.0)

    def alike(self) -> list[list[int]]:
        return []


def drawn(links: Mapping[str, float], routes: Sequence[str], fat: str = "") -> Platform:
    """Hosts ``n0``, ``n1`` ... with routes to ``pfs`` given as letters of links, the host's own end first."""
    names = list(links)
    infos = [LinkInfo(n, links[n], 0.0, Sharing.FATPIPE if n in fat else Sharing.SHARED) for n in names]
    hosts = [Host(f"n{number}", (1e9,)) for number in range(len(routes))]
    hosts.append(Host("pfs", (1.0,), properties={"role": "storage"}))
    ways = [[names.index(letter) for letter in route] for route in routes]
    return Platform(tuple(hosts), tuple(infos), _Listed([*ways, []]))


def paths(platform: Platform, *, own_links: bool = False) -> list[str]:
    """Paths of all hosts, in order."""
    return [io_path(levels) for levels in io_levels(platform, own_links=own_links).values()]


def test_two_switches_below_a_file_system() -> None:
    """Edge switches of 60 bind below 100; a core of 200 never does; cables are the hosts' own."""
    platform = drawn({"a": 10, "b": 10, "c": 10, "e": 60, "f": 60, "k": 200, "p": 100}, ["aekp", "bekp", "cfkp"])
    assert paths(platform) == ["p=100/e=60", "p=100/e=60", "p=100"]
    assert paths(platform, own_links=True) == ["p=100/e=60/a=10", "p=100/e=60/b=10", "p=100/c=10"]


def test_the_file_systems_own_link_is_kept_although_another_binds_first() -> None:
    """The traffic of others is taken from the outermost level: 100, although everything crosses a core of 50."""
    assert paths(drawn({"k": 50, "p": 100}, ["kp", "kp"])) == ["p=100/k=50"] * 2


def test_fat_pipes_are_no_levels() -> None:
    """Their users do not share; if nothing else is on the way, nothing can be scheduled, and the error reports it."""
    assert paths(drawn({"k": 50, "p": 100}, ["kp", "kp"], fat="k")) == ["p=100"] * 2
    with pytest.raises(PlatformError, match="no shared link lies between 'n0' and the file system"):
        io_levels(drawn({"k": 50, "p": 100}, ["kp", "kp"], fat="kp"))


def test_routes_that_form_no_tree_are_refused() -> None:
    """n0 and n1 share x, n1 and n2 share y: neither contains the other. An x as wide as the file system is no level."""
    routes = ["xp", "xyp", "yp"]
    with pytest.raises(PlatformError, match=r"no tree: 'n\d' crosses the links '[xy]' and '[xy]', 'n\d' only the sec"):
        io_levels(drawn({"x": 60, "y": 70, "p": 100}, routes))
    assert paths(drawn({"x": 100, "y": 70, "p": 100}, routes)) == ["p=100", "p=100/y=70", "p=100/y=70"]


def test_what_cannot_be_known_is_refused() -> None:
    """No file system; a way without links; no host that uses it."""
    with pytest.raises(PlatformError, match="no host is a parallel file system"):
        io_levels(platform_from("serverless"))
    with pytest.raises(PlatformError, match="no way from 'n1' to 'pfs'"):
        io_levels(drawn({"p": 100}, ["p", ""]))
    with pytest.raises(PlatformError, match="no host besides the file system"):
        io_levels(drawn({"p": 100}, []))


def test_names_that_cannot_stand_in_a_path() -> None:
    """Slashes and equal signs are replaced, and names stay different."""
    links = (LinkInfo("a/b", 100.0, 0.0), LinkInfo("a=b", 50.0, 0.0))
    hosts = (Host("n0", (1e9,)), Host("n1", (1e9,)), Host("pfs", (1.0,), properties={"role": "storage"}))
    levels = io_levels(Platform(hosts, links, _Listed([[1, 0], [1, 0], []])))
    assert levels[0] == [IoLevel("a_b", 100), IoLevel("a_b~2", 50)]


@given(trees().filter(lambda table: "pfs" in table), st.integers(1, 10**10))
def test_trees_carry_what_they_state(table: dict[str, Any], io_rate: int) -> None:
    """Levels found in a tree's routes carry as many nodes of any rate as those that its description states."""
    table["pfs"]["scheduled"] = True
    for cluster in table["cluster"]:
        for level in cluster["levels"]:
            level.pop("scheduled", None)
        if "rack" not in cluster:
            cluster["levels"][-1]["count"] = 3  # a switch of one node has a link that is the node's own
        for number, rack in enumerate(cluster.get("rack", ())):
            rack["nodes"] = f"r{number}c[1-3]"
    platform = build(read_description(table))
    found = {index: io_path(levels) for index, levels in io_levels(platform).items()}
    assert _carried(platform, found, io_rate) == _carried(platform, {}, io_rate)


def _carried(platform: Platform, replaced: Mapping[int, str], io_rate: int) -> int:
    """Most nodes of a rate that the machine carries at once."""
    infos = tuple(
        msgspec.structs.replace(
            info, properties={"io_path": replaced.get(platform.host_index[info.name], info.properties["io_path"])}
        )
        for info in Machines(platform, {}).compute_infos
    )
    limits = Limits(Machine.from_simulation_begins(SimulationBegins(0.0, infos, ())))
    counts = range(len(infos), 0, -1)
    return next((n for n in counts if not limits.infeasible_reason(Job("j", 0, 0.0, 1.0, n, 0, io_rate))), 0)


def overloaded(platform: Platform, rates: Mapping[int, int]) -> tuple[bool, bool]:
    """Whether streams of these rates (by host) overload a link that several hosts share, and whether a level."""
    target = platform.host_index["pfs"]
    by_link: Counter[int] = Counter()
    users: Counter[int] = Counter()
    by_level: Counter[IoLevel] = Counter()
    levels = io_levels(platform)
    for host, found in levels.items():
        for link in set(platform.route(host, target).links):
            by_link[link] += rates[host]
            users[link] += 1
        by_level.update(dict.fromkeys(found, rates[host]))
    shared = [link for link in by_link if users[link] > 1 and not platform.fatpipe[link]]
    return (
        any(by_link[link] > platform.links[link].bandwidth for link in shared),
        any(load > level.bytes_per_s for level, load in by_level.items()),
    )


@given(st.data())
def test_levels_bind_exactly_when_shared_links_do(data: st.DataObject) -> None:
    """Random routes over eight links, random rates: either no tree, or the levels say the same as all shared links."""
    widths = {letter: float(data.draw(st.integers(1, 40))) for letter in "abcdefghp"}
    route = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True).map("".join)
    routes = data.draw(st.lists(route, min_size=2, max_size=5))
    platform = drawn(widths, [way + "p" for way in routes] if data.draw(st.booleans()) else routes, fat="h")
    rates = {host: data.draw(st.integers(0, 30)) for host in range(len(routes))}
    try:
        links, levels = overloaded(platform, rates)
    except PlatformError as error:
        assert "no tree" in str(error) or "no shared link" in str(error)  # noqa: PT017
        return
    assert links == levels


def regular(topology: str, parameters: str, links: str) -> str:
    """A cluster of SimGrid's with node 0 as the gate to a file system outside."""
    return f"""<?xml version="1.0"?>
<platform version="4.1"><zone id="site" routing="Full">
<cluster id="c" topology="{topology}" topo_parameters="{parameters}" prefix="n" suffix="" radical="0-7"
 speed="1Gf" bw="100Bps" lat="1us" {links}/>
<zone id="store" routing="Full">{PFS}</zone><link id="out" bandwidth="150Bps" latency="1us"/>
<zoneRoute src="c" dst="store" gw_src="n0" gw_dst="pfs"><link_ctn id="out"/></zoneRoute>
</zone></platform>
"""


REGULAR = {
    "FAT_TREE": "2;2,4;1,2;1,2",
    "TORUS": "2,2,2",
    "DRAGONFLY": "2,3;2,2;2,1;1",
}
"""Eight nodes each. The Dragonfly's black and green cables are wider than its nodes' own."""


@pytest.mark.parametrize("topology", REGULAR)
@given(st.data())
def test_regular_clusters(topology: str, data: st.DataObject) -> None:
    """A file system behind node 0: the levels bind exactly when the shared links do, and are read back from a file."""
    text = regular(topology, REGULAR[topology], data.draw(st.sampled_from(["", 'sharing_policy="SHARED"'])))
    platform = parse_platform(text)
    rates = {host: data.draw(st.sampled_from([0, 10, 20, 40, 60])) for host in range(8)}
    links, levels = overloaded(platform, rates)
    assert links == levels
    written = parse_platform(annotate(text))
    for host, found in io_levels(platform).items():
        assert path_of(written.hosts[host]) == io_path(found)


def test_a_cluster_states_the_levels_of_all_its_hosts() -> None:
    """Node 0 is the gate; 2 and 3 come over its link in the second dimension, 4 to 7 over that in the third."""
    written = annotate(regular("TORUS", "2,2,2", ""))
    assert '<prop id="io_levels" value="out=150;c_link_from_0_to_4_DOWN=100:4-7;' in written
    assert "c_link_from_0_to_2_DOWN=100:2-3" in written


def test_hosts_that_cannot_be_told_apart() -> None:
    """Numbers in the names must distinguish the levels; here they end alike."""
    text = regular("TORUS", "2,2,2", "").replace('suffix=""', 'suffix="-ib0"')
    with pytest.raises(PlatformError, match="names do not differ in the last number"):
        annotate(text.replace('"n0"', '"n0-ib0"'))


@given(st.sets(st.integers(0, 40), min_size=1), st.integers(0, 41))
def test_number_sets_are_read_back(numbers: set[int], other: int) -> None:
    """A level's hosts, as written in the property of a zone."""
    text = io_levels_text({n: ["p=9", "e=5"] if n in numbers else ["p=9"] for n in range(42)})
    host = Host(f"n{other}x", (1.0,), zone_properties={"io_levels": text})
    assert path_of(host) == ("p=9/e=5" if other in numbers else "p=9")


def test_annotated_text_differs_by_properties_only() -> None:
    """The thesis's machine without its levels, annotated: the same hosts, links and routes, and the levels back."""
    generated = resolve_platform("thesis")
    bare = generated.replace('<prop id="io_path" value="pfs=5000000000"/>', "")
    written = annotate(bare)
    assert written.count('<prop id="io_path" value="link_pfs=5000000000"/>') == 108
    assert written.replace('<prop id="io_path" value="link_pfs=5000000000"/>', "") == bare
    platform = parse_platform(written)
    assert [link.name for link in platform.links] == [link.name for link in parse_platform(bare).links]
    with pytest.raises(PlatformError, match="state 'io_path' already"):
        annotate(written)


def test_places_for_properties() -> None:
    """An empty host element is opened, a cluster gets one for all, a cabinet's go to its zone; odd quoting is read."""
    text = f"""<platform version="4.1"><zone id='a>b' routing="Full">
<zone id="s" routing="Cluster"><router id="r"/><backbone id="bone" bandwidth="1MBps" latency="0"/>
<cabinet id="k" prefix="k" suffix="" radical="1,3-4" speed="1Gf" bw="1MBps" lat="0"/></zone>
<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="1MBps" lat="0" bb_bw="2MBps" bb_lat="0"
 router_id="cr"/>
<zone id="h" routing="Full"><host id='x' speed="1Gf"/>{PFS}<link id="up" bandwidth="3MBps"/>
<route src="x" dst="pfs"><link_ctn id="up"/></route></zone>
<zoneRoute src="s" dst="h" gw_src="r" gw_dst="pfs"><link_ctn id="l"/></zoneRoute></zone></platform>"""
    text = text.replace('<zoneRoute src="s"', '<link id="l" bandwidth="9MBps"/><zoneRoute src="s"', 1)
    text = text.replace(
        "</zoneRoute>",
        '</zoneRoute><zoneRoute src="c" dst="h" gw_src="cr" gw_dst="pfs"><link_ctn id="l"/></zoneRoute>',
    ).replace("</zone></platform>", "</zone></platform>")
    with pytest.raises(PlatformError, match="no shared link lies between 'x'"):
        annotate(text)
    written = annotate(text.replace('<link_ctn id="up"/></route>', '<link_ctn id="up"/><link_ctn id="l"/></route>')
                       .replace('<link id="up"', '<link id="l" bandwidth="9MBps"/><link id="up"', 1)
                       .replace('<link id="l" bandwidth="9MBps"/><zoneRoute', "<zoneRoute", 1))  # fmt: skip
    platform = parse_platform(written)
    found = {host.name: {**host.zone_properties, **host.properties}.get("io_path") for host in platform.hosts}
    assert found["x"] == "l=9000000"
    assert found["c0"] == found["c1"] == "l=9000000/c_backbone=2000000"
    assert found["k1"] == found["k3"] == found["k4"] == "l=9000000/bone=1000000"
    assert '<host id=\'x\' speed="1Gf"><prop id="io_path" value="l=9000000"/></host>' in written


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It writes a file, takes the name of the file system's host, and refuses a platform that is no XML file."""
    bare = resolve_platform("thesis").replace('<prop id="io_path" value="pfs=5000000000"/>', "")
    source, out = tmp_path / "own.xml", tmp_path / "out.xml"
    source.write_text(bare.replace('"pfs"', '"lustre"').replace('"storage_kind" value="lustre"', '"note" value="x"'))
    assert main(["annotate", str(source), "--out", str(out)]) == 2
    assert "no host is a parallel file system" in capsys.readouterr().err
    assert main(["annotate", str(source), "--out", str(out), "--pfs", "lustre"]) == 0
    assert out.read_text().count("io_path") == 108
    assert main(["annotate", "thesis", "--out", str(out)]) == 2
    assert "expected a SimGrid XML file" in capsys.readouterr().err
