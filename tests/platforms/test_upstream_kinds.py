"""Platforms of the kinds that upstream's examples have, written by us."""

from pathlib import Path

import pytest

from spillway.platforms.catalogue import platform_from
from spillway.platforms.description.generate import generate
from spillway.platforms.description.machine import read_description
from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.annotate import annotate
from spillway.platforms.simgrid.xml_reader import load_platform, parse_platform
from spillway.simulator.world.energy import Watts, read_watts
from spillway.simulator.world.machines import Machines

UPSTREAM = Path(__file__).parents[1] / "data" / "upstream"
POWERED = """
base = "tiny"
[power]
node = "60:70:120"
master = "0:0"
storage = "30:30"
pfs = "0:0"
"""


def test_a_blank_first_line_is_read() -> None:
    """SimGrid reads it (tests/oracle/test_messages.py), although XML forbids it."""
    path = UPSTREAM / "loopback.xml"
    assert path.read_text().startswith("\n<?xml")
    assert [host.name for host in load_platform(path).hosts] == ["master_host", "ant", "bee"]
    assert len(parse_platform(" \n\t\r\n" + path.read_text()).hosts) == 3


def test_errors_count_the_blank_lines() -> None:
    """The line is that of the file."""
    with pytest.raises(PlatformError, match="line 4: "):
        parse_platform('\n\n<?xml version="1.0"?>\n<nonsense/>', "x.xml")


def test_annotating_drops_a_blank_first_line() -> None:
    """The result is XML."""
    text = generate(read_description('base = "tiny"', bases=_bases())).replace("io_path", "former_path")
    assert annotate("\n" + text).startswith("<?xml")


def _own_message_s(machines: Machines) -> float:
    """Seconds that a message of one byte takes from the master to itself."""
    latency_s, bytes_per_s = machines.own_way
    return latency_s + 1.0 / bytes_per_s


@pytest.mark.parametrize(("name", "seconds"), [("loopback", 15e-6 + 2e-9), ("cluster", 240e-6 + 1e-8)])
def test_what_a_message_of_the_master_to_itself_takes(name: str, seconds: float) -> None:
    """One byte over its loopback, or over its cable and the backbone, there and back."""
    machines = Machines(load_platform(UPSTREAM / f"{name}.xml"), {}, "master_host")
    assert _own_message_s(machines) == pytest.approx(seconds, rel=1e-12)


def test_without_a_loopback_simgrids_own_is_taken() -> None:
    """10 GB/s without latency."""
    text = (UPSTREAM / "loopback.xml").read_text()
    text = text.replace('<route src="master_host" dst="master_host"><link_ctn id="loopback"/></route>', "")
    assert _own_message_s(Machines(parse_platform(text), {}, "master_host")) == 1e-10


def test_the_machine_of_the_thesis_has_simgrids_own() -> None:
    """The real Batsim's figures were measured with it."""
    assert _own_message_s(Machines(platform_from("thesis"), {})) == 1e-10


def test_watts_of_a_description_are_written() -> None:
    """Every host states those of its kind; without the table no host does."""
    platform = parse_platform(generate(read_description(POWERED, bases=_bases())))
    by_role = {host.properties.get("storage_kind", host.role): read_watts(host) for host in platform.hosts}
    assert by_role == {
        "": (Watts(60, 70, 120),),
        "master": (Watts(0, 0, 0),),
        "burst_buffer": (Watts(30, 30, 30),),
        "pfs": (Watts(0, 0, 0),),
    }
    assert all("wattage_per_state" not in host.properties for host in platform_from("tiny").hosts)


@pytest.mark.parametrize(("change", "expected"), [
    (('storage = "30:30"', ""), "power.storage: this key is missing"),
    (('node = "60:70:120"', ""), "power.node: this key is missing"),
    (('"60:70:120"', '"much"'), "power.node: expected watts as IDLE:EPSILON:ALLCORES"),
    (('"60:70:120"', '"-1:2"'), "power.node: expected watts"),
    (('"60:70:120"', "60"), "power.node: expected watts"),
])  # fmt: skip
def test_wrong_watts(change: tuple[str, str], expected: str) -> None:
    """Named by their key."""
    with pytest.raises(PlatformError, match=expected):
        read_description(POWERED.replace(*change), bases=_bases())


def _bases() -> dict[str, Path]:
    folder = Path(__file__).parents[2] / "platforms" / "builtin"
    return {path.stem: path for path in folder.glob("*.toml")}
