"""``spillway platform``."""

import subprocess
import sys
from pathlib import Path

import pytest

from spillway.platforms import load_platform
from spillway.platforms.cli import main


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    """One line per built-in platform."""
    assert main(["list"]) == 0
    assert "thesis         Dragonfly, 96 compute nodes" in capsys.readouterr().out


def test_generate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Writes a file that loads, with other values if given."""
    file = tmp_path / "cts.xml"
    assert (
        main(["generate", "cts1", "-s", "pfs.bandwidth=49GBps", "-s", "pfs.scheduled=false", "--out", str(file)]) == 0
    )
    assert "sha256" in capsys.readouterr().out
    platform = load_platform(file)
    assert platform.bandwidths[platform.link_index["link_pfs"]] == 49e9
    assert platform.host("cts0").properties["io_path"].startswith("pool=")


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    """Counts hosts by role, burst buffers, links, routes."""
    assert main(["check", "thesis"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "hosts: 110 (96 compute_node, 1 master, 13 storage)",
        "burst buffers: 480GB on 12 hosts",
        "links: 513 (110 of them fat pipes)",
        "routes: all 12100 pairs looked at, 7 links at most",
    ]


def test_check_says_what_to_doubt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No master, hosts without speed, pairs without links or route."""
    file = tmp_path / "doubtful.xml"
    file.write_text(
        '<platform version="4.1"><zone id="z" routing="Full"><zone id="x" routing="None"><host id="a" speed="0"/>'
        '<host id="b" speed="1f"/></zone><zone id="y" routing="Full"><host id="c" speed="1f"/></zone></zone></platform>'
    )
    assert main(["check", str(file)]) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note")]
    assert [note[:40] for note in notes] == [
        "note: 4 routes have no links, such as a ",
        "note: 4 pairs have no route, such as a -",
        "note: no host has the property role=mast",
        "note: 1 compute hosts have speed 0, such",
    ]


def test_as_a_program() -> None:
    """The module runs; its exit code is the process's."""
    done = subprocess.run(
        [sys.executable, "-m", "spillway", "platform", "check", "nowhere"], capture_output=True, timeout=60
    )
    assert done.returncode == 2
