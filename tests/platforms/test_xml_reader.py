"""The supported part of SimGrid's XML, and the messages that refuse the rest."""

import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.platforms import Platform, PlatformError, Sharing, load_platform, parse_platform, platform_from
from tests.kit.cases import cases

MALFORMED = Path(__file__).parents[1] / "data" / "malformed"

MESSAGES = dict(cases("platform-xml"))


@pytest.mark.parametrize("name", sorted(path.name for path in MALFORMED.glob("*.xml")))
def test_malformed(name: str) -> None:
    """Each malformed file has its one message, with file and line."""
    with pytest.raises(PlatformError, match=MESSAGES[name]) as error:
        load_platform(MALFORMED / name)
    assert str(error.value).startswith(str(MALFORMED / name))
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


def zone(body: str, routing: str = "Full") -> Platform:
    """A platform of one zone."""
    return parse_platform(f'<platform version="4.1"><zone id="z" routing="{routing}">{body}</zone></platform>', "text")


def names(platform: Platform, src: str, dst: str) -> list[str]:
    """Names of the links of a route."""
    route = platform.route(platform.host_index[src], platform.host_index[dst])
    return [platform.links[link].name for link in route.links]


TWO = '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>'


def test_host() -> None:
    """Speeds of power states, the initial one, cores, properties."""
    host = zone('<host id="a" speed="1Gf, 500Mf,0" pstate="1" core="4"><prop id="k" value="v"/></host>').host("a")
    assert (host.speeds, host.pstate, host.speed, host.cores) == ((1e9, 5e8, 0.0), 1, 5e8, 4)
    assert dict(host.properties) == {"k": "v"}
    assert host.role == ""


def test_unknown_host_is_named() -> None:
    """The error on an unknown host names some that exist."""
    with pytest.raises(PlatformError, match="no host 'x'; the 2 hosts begin with a, b"):
        zone(TWO).host("x")


def test_zone_properties_are_inherited() -> None:
    """The inner zone's value counts; the host's own stay apart."""
    text = """<platform version="4.1"><zone id="o" routing="Full">
      <prop id="x" value="outer"/><prop id="y" value="outer"/>
      <zone id="i" routing="Full"><prop id="y" value="inner"/><host id="a" speed="1Gf"><prop id="z" value="own"/></host>
      </zone></zone></platform>"""
    host = parse_platform(text).host("a")
    assert dict(host.zone_properties) == {"x": "outer", "y": "inner"}
    assert dict(host.properties) == {"z": "own"}


def test_flat_cluster_properties() -> None:
    """As in SimGrid: a flat cluster's properties are its zone's and each host's."""
    cluster = '<cluster id="c" prefix="n" suffix="" radical="0,2-3" speed="1Gf" bw="1MBps" lat="0">'
    text = f'<platform version="4.1">{cluster}<prop id="k" value="v"/></cluster></platform>'
    platform = parse_platform(text)
    assert [host.name for host in platform.hosts] == ["n0", "n2", "n3"]
    assert all(host.properties == host.zone_properties == {"k": "v"} for host in platform.hosts)


def test_split_duplex_link() -> None:
    """Two links; the way back of a symmetrical route takes the others, in reverse order."""
    platform = zone(
        f"{TWO}<link id='l' bandwidth='1MBps' latency='1ms' sharing_policy='SPLITDUPLEX'/>"
        "<link id='m' bandwidth='2MBps' sharing_policy='FATPIPE'/>"
        "<route src='a' dst='b'><link_ctn id='l' direction='DOWN'/><link_ctn id='m'/></route>"
    )
    assert names(platform, "a", "b") == ["l_DOWN", "m"]
    assert names(platform, "b", "a") == ["m", "l_UP"]
    assert platform.link_index == {"l_UP": 0, "l_DOWN": 1, "m": 2, "__loopback__": 3}
    assert platform.links[2].policy is Sharing.FATPIPE
    assert platform.fatpipe.tolist() == [False, False, True, True]
    assert platform.bandwidths.tolist() == [1e6, 1e6, 2e6, 10e9]
    assert platform.latencies.tolist() == [1e-3, 1e-3, 0.0, 0.0]


def test_one_way_route() -> None:
    """Without its way back there is a route without links, as in SimGrid."""
    link = '<link id="l" bandwidth="1MBps"/>'
    platform = zone(f'{TWO}{link}<route src="a" dst="b" symmetrical="NO"><link_ctn id="l"/></route>')
    assert names(platform, "a", "b") == ["l"]
    assert names(platform, "b", "a") == []


def test_loopback_options() -> None:
    """The implicit loopback's options are read; a link of that name may exist beside it."""
    text = f"""<platform version="4.1"><config>
      <prop id="contexts/stack-size" value="64"/><prop id="network/loopback-bw" value="2GBps"/>
      <prop id="network/loopback-lat" value="1us"/></config><zone id="z" routing="Full">{TWO}
      <link id="__loopback__" bandwidth="1MBps"/><route src="a" dst="a"><link_ctn id="__loopback__"/></route>
      </zone></platform>"""
    platform = parse_platform(text)
    assert names(platform, "a", "a") == ["__loopback__"]
    (implicit,) = names(platform, "b", "b")
    link = platform.links[platform.link_index[implicit]]
    assert (link.bandwidth, link.latency, link.policy) == (2e9, 1e-6, Sharing.FATPIPE)


def test_older_names() -> None:
    """``AS`` and ``ASroute`` are zones and their routes."""
    text = """<platform version="4"><AS id="z" routing="full"><AS id="x" routing="Full"><host id="a" speed="1Gf"/></AS>
      <AS id="y" routing="Full"><host id="b" speed="1Gf"/></AS><link id="l" bandwidth="1MBps" latency="1s"/>
      <ASroute src="x" dst="y" gw_src="a" gw_dst="b"><link_ctn id="l"/></ASroute></AS></platform>"""
    assert names(parse_platform(text), "b", "a") == ["l"]


def test_zone_without_routing() -> None:
    """Routing ``None``: no links between its hosts."""
    assert names(zone(TWO, "None"), "a", "b") == []


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra"])
def test_no_way(routing: str) -> None:
    """Shortest-path zones report hosts without a route."""
    with pytest.raises(PlatformError, match="no route from 'a' to 'b' in zone 'z'"):
        zone(TWO, routing).route(0, 1)


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra"])
def test_way_through_a_zone(routing: str) -> None:
    """A way that enters an inner zone at one gateway and leaves it at another crosses it inside."""
    text = f"""<platform version="4.1"><zone id="z" routing="{routing}">{_inner_zones()}
      <link id="l" bandwidth="1MBps" latency="1ms"/><link id="m" bandwidth="1MBps" latency="2ms"/>
      <zoneRoute src="z1" dst="z2" gw_src="a1" gw_dst="a2"><link_ctn id="l"/></zoneRoute>
      <zoneRoute src="z2" dst="z3" gw_src="b2" gw_dst="a3"><link_ctn id="m"/></zoneRoute></zone></platform>"""
    platform = parse_platform(text)
    assert names(platform, "a1", "a3") == ["l", "in2", "m"]
    assert names(platform, "b3", "a1") == ["in3", "m", "in2", "l"]
    assert platform.route(platform.host_index["a1"], platform.host_index["a3"]).latency == 0.007


def _inner_zones() -> str:
    zone_of = (
        '<zone id="z{n}" routing="Full"><host id="a{n}" speed="1Gf"/><host id="b{n}" speed="1Gf"/>'
        '<link id="in{n}" bandwidth="1MBps" latency="4ms"/><route src="a{n}" dst="b{n}"><link_ctn id="in{n}"/></route>'
        "</zone>"
    )
    return "".join(zone_of.format(n=number) for number in (1, 2, 3))


def test_no_route_between_zones() -> None:
    """A route between zones that is not stated is an error."""
    text = f'<platform version="4.1"><zone id="z" routing="Full">{_inner_zones()}</zone></platform>'
    platform = parse_platform(text)
    with pytest.raises(PlatformError, match="from 'a1' to 'b2': zone 'z' states no route between 'z1' and 'z2'"):
        platform.route(platform.host_index["a1"], platform.host_index["b2"])


def test_compressed_file(tmp_path: Path) -> None:
    """``.xz`` files are unpacked; a broken one is an error."""
    file = tmp_path / "p.xml.xz"
    file.write_bytes(
        lzma.compress(f'<platform version="4.1"><zone id="z" routing="Full">{TWO}</zone></platform>'.encode())
    )
    assert len(load_platform(file).hosts) == 2
    file.write_bytes(b"no xz")
    with pytest.raises(PlatformError, match=r"the platform file expected a complete \.xz file"):
        load_platform(file)


def test_deep_nesting() -> None:
    """Nesting is bounded, instead of a crash."""
    text = "".join(f'<zone id="z{n}" routing="Full">' for n in range(200))
    with pytest.raises(PlatformError, match="nested more than 100 deep"):
        parse_platform(f'<platform version="4.1">{text}')


def test_too_many_hosts() -> None:
    """A radical that would fill the memory is refused."""
    cluster = '<cluster id="c" prefix="n" suffix="" radical="0-999999999" speed="1Gf" bw="1MBps" lat="0"/>'
    with pytest.raises(PlatformError, match="names more than 1,000,000 hosts"):
        parse_platform(f'<platform version="4.1">{cluster}</platform>')


SAMPLE = """<?xml version="1.0"?>
<platform version="4.1"><config><prop id="network/loopback-bw" value="2GBps"/></config>
<zone id="z" routing="Floyd"><prop id="p" value="q"/>
<cluster id="c" topology="TORUS" topo_parameters="2,3" prefix="t" suffix="" radical="0-5" speed="1Gf,2Gf" bw="1MBps"
 lat="1us" limiter_link="1MBps" loopback_bw="1MBps" loopback_lat="0" core="2" sharing_policy="SHARED"/>
<cluster id="d" topology="DRAGONFLY" topo_parameters="2,1;1,1;2,1;1" prefix="d" suffix="" radical="0-3" speed="1Gf"
 bw="1MBps" lat="1us"/>
<cluster id="e" topology="FAT_TREE" topo_parameters="1;2;1;1" prefix="e" suffix="" radical="0-1" speed="1Gf" bw="1MBps"
 lat="1us"/>
<zone id="s" routing="Cluster"><host id="h" speed="1Gf" pstate="0"/><router id="r"/><link id="l" bandwidth="1MBps"
 latency="1us" sharing_policy="FATPIPE"/><host_link id="h" up="l" down="l"/><backbone id="b" bandwidth="1GBps"
 latency="0"/><cabinet id="k" prefix="k" suffix="" radical="1" speed="1Gf" bw="1MBps" lat="0"/></zone>
<link id="m" bandwidth="1MBps" sharing_policy="SPLITDUPLEX"/>
<zoneRoute src="c" dst="s" gw_src="t1" gw_dst="r"><link_ctn id="m" direction="UP"/></zoneRoute>
</zone></platform>"""


@given(st.data())
def test_garbage(data: st.DataObject) -> None:
    """A file with words exchanged, doubled or cut parses and routes, or raises PlatformError; nothing else."""
    pieces = re.findall(r'[^\s"<>/=,;]+|\s+|.', SAMPLE)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(pieces) - 1))
        new = data.draw(
            st.sampled_from(pieces)
            | st.sampled_from(["", "0", "-1", "99999999999999999999", "1e999", "²", "x", "&", "<"])
        )
        pieces[place] = new
    try:
        platform = parse_platform("".join(pieces), "garbage")
        for src in range(min(len(platform.hosts), 4)):
            for dst in range(len(platform.hosts)):
                platform.route(src, dst)
    except PlatformError as error:
        assert str(error)  # noqa: PT017  (either way of ending is right)


def test_routes_are_remembered() -> None:
    """The same object comes back; hosts outside the platform are an error of the caller."""
    platform = platform_from("tiny")
    assert platform.route(0, 5) is platform.route(0, 5)
    with pytest.raises(IndexError, match=r"host indices must lie in 0\.\.11"):
        platform.route(0, 12)


def test_arrays_are_read_only() -> None:
    """A platform never changes."""
    platform = platform_from("tiny")
    for array in (platform.speeds, platform.cores, platform.bandwidths, platform.latencies, platform.fatpipe):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
