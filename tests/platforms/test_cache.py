"""Machines that were made before: the same ones, and only if nothing has changed and no other user can write them."""

import pickle
from itertools import product
from pathlib import Path

import pytest

from spillway.platforms import Platform, cache, load_platform, parse_platform
from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import generate, generate_and_build
from spillway.platforms.simgrid.xml_reader import _Reader


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of caches, and nothing in this process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(cache, "_here", {})
    return tmp_path / "caches" / "spillway" / "platforms"


def read_anew(xml: str) -> Platform:
    """The platform of the text, read without the cache."""
    return _Reader("anew").read(xml)


def same(one: Platform, other: Platform) -> bool:
    """Whether all that is computed with is equal."""
    pairs = product(range(len(one.hosts)), repeat=2)
    return (
        (one.hosts, one.links, one.alike()) == (other.hosts, other.links, other.alike())
        and (one.host_index, one.link_index) == (other.host_index, other.link_index)
        and all(
            (getattr(one, name) == getattr(other, name)).all()
            for name in ("speeds", "cores", "bandwidths", "latencies", "fatpipe")
        )
        and all(one.route(src, dst) == other.route(src, dst) for src, dst in pairs)
    )


def test_a_large_machine_is_made_once(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next process neither writes nor reads its XML; the text and the platform are the same to the last bit."""
    xml, built = generate_and_build(describe("thesis"))
    assert {path.suffix for path in kept.iterdir()} == {".xml", ".platform"}
    monkeypatch.setattr(cache, "_here", {})
    monkeypatch.setattr(
        "spillway.platforms.description.generate._WRITERS", {"dragonfly": lambda _: pytest.fail("it was written again")}
    )
    monkeypatch.setattr("spillway.platforms.simgrid.xml_reader._Reader", lambda _: pytest.fail("it was read again"))
    assert generate(describe("thesis")) == xml
    again = parse_platform(xml, "elsewhere.xml")
    assert again.source == "elsewhere.xml"
    assert same(again, built)
    assert same(again, read_anew(xml))


def test_a_file_of_the_users_is_read_once(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Platforms with explicit routes come back with their zones; in this process it is the same one."""
    path = tmp_path / "mine.xml"
    path.write_text(generate(describe("thesis")).replace("thesis-site", "my-site"))
    first = load_platform(path)
    assert load_platform(path).hosts is first.hosts
    monkeypatch.setattr(cache, "_here", {})
    monkeypatch.setattr("spillway.platforms.simgrid.xml_reader._Reader", lambda _: pytest.fail("it was read again"))
    again = load_platform(str(path))
    assert again.source == str(path)
    assert again.hosts is not first.hosts
    assert same(again, first)


def test_what_is_damaged_or_older_than_the_code_is_made_anew(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are checked; their names come from the code as it is now."""
    xml = generate(describe("thesis"))
    (entry,) = kept.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] + b"!")
    assert generate(describe("thesis")) == xml
    monkeypatch.setattr(cache, "_code", lambda: "another")
    assert generate(describe("thesis")) == xml
    assert len(list(kept.iterdir())) == 2


def test_a_folder_that_others_can_write_is_not_read(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that other users may have put there are never unpickled."""
    xml, _ = generate_and_build(describe("thesis"))
    kept.chmod(0o777)
    monkeypatch.setattr(cache, "_here", {})
    monkeypatch.setattr(pickle, "loads", lambda _: pytest.fail("it was unpickled"))
    assert same(parse_platform(xml), read_anew(xml))
    assert cache.folder() is None


def test_no_folder_is_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a place to write everything is made each time."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    xml, built = generate_and_build(describe("thesis"))
    monkeypatch.setattr(cache, "_here", {})
    assert same(parse_platform(xml), built)
