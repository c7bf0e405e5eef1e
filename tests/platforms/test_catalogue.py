"""Finding platforms by name, and the time that it takes."""

import time
from pathlib import Path

import pytest

from spillway.platforms import (
    PlatformError,
    builtin_files,
    checksum,
    describe,
    load_platform,
    parse_platform,
    platform_from,
    resolve_platform,
)


def test_builtin_platforms() -> None:
    """All built-in descriptions read, have their file's name and a text."""
    known = {"thesis", "cts1", "cts1-10", "cts1-20", "cts1-30", "herbein-small", "mira", "tiny", "uniform-2048"}
    assert known <= set(builtin_files())
    for name in builtin_files():
        description = describe(name)
        assert description.name == name
        assert description.summary


def test_description_file(tmp_path: Path) -> None:
    """A ``.toml`` file is read like a built-in description, and may be based on one."""
    file = tmp_path / "mine.toml"
    file.write_text('base = "tiny"\nname = "mine"\n[pfs]\nbandwidth = "3GBps"\n')
    platform = platform_from(file)
    assert platform.bandwidths[platform.link_index["link_pfs"]] == 3e9


def test_xml_file(tmp_path: Path) -> None:
    """An ``.xml`` file is taken as it is."""
    file = tmp_path / "mine.xml"
    file.write_text(resolve_platform("tiny"))
    assert resolve_platform(file) == file.read_text()
    assert platform_from(file).hosts == load_platform(file).hosts
    for function in (resolve_platform, platform_from):
        with pytest.raises(PlatformError, match="overrides go with descriptions, not with XML files"):
            function(file, {"pfs.latency": 0})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("thesys", "no platform 'thesys'; give a file ending in .toml or .xml, or one of cts1, cts1-10,"),
        ("nowhere.toml", "nowhere.toml: the platform description cannot be read"),
        ("nowhere.xml", "nowhere.xml: the platform file cannot be read"),
    ],
)
def test_unknown(name: str, message: str) -> None:
    """The error says that there is no such platform."""
    with pytest.raises(PlatformError, match=message):
        platform_from(name)


def test_generated_text_is_stable() -> None:
    """The same description gives the same text, byte for byte; another one another."""
    assert checksum(resolve_platform("thesis")) == checksum(resolve_platform("thesis"))
    assert checksum(resolve_platform("cts1")) != checksum(resolve_platform("cts1-10"))


@pytest.mark.alone
def test_loading_grows_with_the_machine() -> None:
    """Every simulation loads its platform: a host of a machine forty times as large costs about as much."""

    def cost_s(name: str) -> float:
        xml, times = resolve_platform(name), []
        for _ in range(3):
            start = time.process_time()
            parse_platform(xml)
            times.append(time.process_time() - start)
        return min(times) / xml.count("<host")

    assert cost_s("cts1") < 10 * cost_s("thesis")
