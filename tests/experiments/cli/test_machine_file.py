"""An own machine as a file to be edited, and the parts of a machine."""

from pathlib import Path

import pytest

from spillway.experiments.campaign.inputs.machines import load, sized
from spillway.experiments.cli import main
from spillway.experiments.cli.machine_file import StatedFigures, text_of
from spillway.experiments.run.spec import PlatformSpec
from spillway.platforms.catalogue import builtin_files, describe
from spillway.platforms.description.commented_toml import commented
from spillway.platforms.description.fields import tables
from spillway.platforms.description.machine import read_description


@pytest.mark.parametrize("name", sorted(builtin_files()))
def test_comments_change_nothing(name: str) -> None:
    """A built-in machine, written with all comments, is read as the same."""
    assert read_description(commented(describe(name))) == describe(name)


def test_every_key_has_its_meaning() -> None:
    """No key of any table is without words, and each is in a description."""
    text = commented(sized(100))
    for table in tables():
        for key in table.keys:
            assert len(key.help) > 5, (table.path, key.name)
            if table.path.split(".")[0] != "dragonfly" and not key.is_table:
                assert f"{key.name} = " in text


def test_init_writes_the_machine_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nodes from the header, stated and assumed values marked so; the file is a machine, and is not overwritten."""
    log = tmp_path / "site.swf"
    log.write_text("; MaxProcs: 200\n1 0 0 10 4 -1 -1 4 20 -1 1 1 1 1 1 -1 -1 -1\n")
    path = tmp_path / "mine.toml"
    arguments = ["platform", "init", str(path), "--from", str(log), "--processors-per-node", "2"]
    assert main([*arguments, "--burst-buffer", "200GB", "--nodes-per-storage", "16"]) == 0
    facts = load(PlatformSpec(source=str(path))).facts
    assert (facts.nodes, facts.storage_nodes, facts.storage_bytes) == (100, 7, 200 * 10**9)
    text = " ".join(path.read_text().replace("\n#", " ").split())
    assert 'As stated.\ncapacity = "200GB"' in path.read_text()
    assert "(text with a unit, or a number, above 0; a bare number is in bytes/s; must be given) ASSUMED: as on" in text
    before = path.read_bytes()
    assert main(arguments) == 2
    assert "is there already, and may have been edited" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_without_burst_buffers(tmp_path: Path) -> None:
    """A capacity of 0 gives a machine without storage nodes."""
    path = tmp_path / "mine.toml"
    assert main(["platform", "init", str(path), "--nodes", "5", "--burst-buffer", "0"]) == 0
    facts = load(PlatformSpec(source=str(path))).facts
    assert (facts.nodes, facts.storage_nodes) == (5, 0)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("nodes:100", ["compute nodes: 100 (node_0 ... node_99), 1Gf a core", "storage nodes: 13 x 40GB = 520GB (bb0",
                       "file system: pfs, 5208MBps", "link of a compute node: 1250MBps", "assumed: 100 compute nodes"]),
        ("thesis", ["compute nodes: 96 (", "storage nodes: 12 x 40GB = 480GB", "file system: pfs, 5GBps"]),
        ("mira", ["storage nodes: none", "level 1: torus, 1TBps"]),
    ],
)  # fmt: skip
def test_show(source: str, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nodes, storage, links, the file system, the ways to it, the assumptions."""
    assert main(["platform", "show", source]) == 0
    printed = capsys.readouterr().out
    for line in lines:
        assert line in printed


def test_one_storage_node_for_each_switch() -> None:
    """The remaining nodes are at a smaller switch of their own."""
    machine = read_description(text_of("odd", StatedFigures(nodes=20, nodes_per_storage=8, pfs_bandwidth="3GBps")))
    assert [cluster.host_count for cluster in machine.cluster] == [16, 4]
    assert machine.pfs is not None
    assert machine.pfs.bandwidth == 3e9
