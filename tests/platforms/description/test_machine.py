"""Descriptions: they are read strictly, and the generated platforms agree with them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.platforms import PlatformError, describe, parse_platform
from spillway.platforms.description.generate import build, generate
from spillway.platforms.description.machine import Description, read_description
from tests.kit.cases import cases
from tests.platforms.strategies import dragonflies, trees

MALFORMED = Path(__file__).parents[1] / "data" / "malformed"

MESSAGES = dict(cases("machine-toml"))


@pytest.mark.parametrize("name", sorted(path.name for path in MALFORMED.glob("*.toml")))
def test_malformed(name: str) -> None:
    """Each malformed description has its one message, with the key."""
    with pytest.raises(PlatformError, match=MESSAGES[name]) as error:
        describe(MALFORMED / name)
    assert str(error.value).startswith(f"{MALFORMED / name}: ")
    assert "\n" not in str(error.value)


def test_base_in_a_circle(tmp_path: Path) -> None:
    """A description cannot be based on itself."""
    file = tmp_path / "a.toml"
    file.write_text('base = "a"')
    with pytest.raises(PlatformError, match="base: 'a' leads in a circle"):
        read_description(file.read_text(), "x.toml", {"a": file})


def test_base_and_overrides() -> None:
    """Keys of the base stay unless replaced; overrides come last."""
    description = read_description('base = "b"\n[pfs]\nlatency = "7us"', "", _bases(), {"pfs.name": "disk"})
    assert description.pfs is not None
    assert (description.pfs.name, description.pfs.bandwidth, description.pfs.latency) == ("disk", 1e9, 7 * 1e-6)
    assert description.name == "tiny"


def _bases() -> dict[str, Path]:
    from spillway.platforms import builtin_files

    return {"b": builtin_files()["tiny"]}


def test_units() -> None:
    """Texts with units and plain numbers mean the same."""
    one = describe("tiny", {"pfs.bandwidth": "2GBps", "pfs.latency": "1ms", "storage.capacity": "1GiB"})
    other = describe("tiny", {"pfs.bandwidth": 2_000_000_000, "pfs.latency": 0.001, "storage.capacity": 2**30})
    assert one == other


def _read(table: dict[str, Any]) -> Description:
    return read_description(table, "random")


@settings(max_examples=60)
@given(dragonflies() | trees())
def test_round_trip(table: dict[str, Any]) -> None:
    """A platform that was written and read equals the one built directly: hosts, properties, links, routes."""
    description = _read(table)
    read, built = parse_platform(generate(description)), build(description)
    assert [(host, dict(host.properties)) for host in read.hosts] == [(h, dict(h.properties)) for h in built.hosts]
    assert read.links == built.links
    for src in range(len(read.hosts)):
        assert [read.route(src, dst) for dst in range(len(read.hosts))] == [
            built.route(src, dst) for dst in range(len(read.hosts))
        ]


@settings(max_examples=60)
@given(dragonflies() | trees())
def test_connected(table: dict[str, Any]) -> None:
    """Every host reaches every other and itself; in a tree both ways take the same time."""
    platform = build(_read(table))
    for src in range(len(platform.hosts)):
        for dst in range(src, len(platform.hosts)):
            forth, back = platform.route(src, dst), platform.route(dst, src)
            assert forth.links, f"{platform.hosts[src].name} -> {platform.hosts[dst].name}"
            assert back.links
            assert len(set(forth.links)) == len(forth.links)
            if table["topology"] == "tree":  # a Dragonfly's ways may differ by a link
                assert forth.latency == pytest.approx(back.latency)


@settings(max_examples=60)
@given(dragonflies() | trees())
def test_properties(table: dict[str, Any]) -> None:
    """One master; storage hosts state capacity and place; counted links lead from the file system inwards."""
    description = _read(table)
    platform = build(description)
    racks = [rack for cluster in description.cluster for rack in cluster.rack]
    roles = [host.role for host in platform.hosts]
    assert roles.count("master") == 1
    kinds = [host.properties.get("storage_kind") for host in platform.hosts]
    assert kinds.count("pfs") == ("pfs" in table)
    for host in platform.hosts:
        if host.properties.get("storage_kind") == "burst_buffer":
            own = next((rack.capacity for rack in racks if rack.storage == host.name), None)
            usual = description.storage.capacity  # type: ignore[union-attr]
            assert int(host.properties["capacity_bytes"]) == (usual if own is None else own)
        path = [part.partition("=") for part in host.properties.get("io_path", "").split("/") if part]
        assert all(name and int(capacity) > 0 for name, _, capacity in path)
        if path and description.pfs is not None and description.pfs.scheduled:
            assert path[0][0] == "pfs"
    assert (kinds.count("burst_buffer") > 0) == ("storage" in table)


@given(st.data())
def test_garbage(data: st.DataObject) -> None:
    """A description with any key set to any value reads, or raises PlatformError; nothing else."""
    table = data.draw(dragonflies() | trees())
    target: Any = table
    while isinstance(target, dict):
        key = data.draw(st.sampled_from(sorted(target)) | st.text(max_size=3))
        if not isinstance(target.get(key), dict) or data.draw(st.booleans()):
            target[key] = data.draw(_values)
            break
        target = target[key]
    try:
        assert _read(table).name
    except PlatformError as error:
        assert str(error)  # noqa: PT017  (either way of ending is right)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
