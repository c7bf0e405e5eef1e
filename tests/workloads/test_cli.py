"""The command line: files come out, errors are one line and exit code 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spillway.workloads import read_batsim, read_swf
from spillway.workloads.cli import main
from tests.workloads.conftest import DATA

SMALL = str(DATA / "swf" / "small.swf")


def test_convert_and_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log becomes a workload file; info shows both."""
    out = tmp_path / "w.json.xz"
    assert main(["convert", SMALL, "--out", str(out), "--nodes", "8", "--oversized", "drop", "--seed", "3"]) == 0
    workload = read_batsim(out)
    assert (workload.nb_res, len(workload.jobs)) == (8, 4)
    printed = capsys.readouterr().out
    assert "% of the node-hours: requests more than the machine's 8 nodes" in printed
    assert workload.checksum in printed
    assert main(["info", str(out)]) == 0
    assert f"checksum                          {workload.checksum}" in capsys.readouterr().out
    assert main(["info", SMALL]) == 0
    assert "processors of the machine         8" in capsys.readouterr().out


def test_same_command_same_bytes(tmp_path: Path) -> None:
    """Converting twice gives the same file, byte for byte, also from another process with another hash seed."""
    paths = [tmp_path / f"{name}.json" for name in "abc"]
    for path in paths[:2]:
        assert main(["convert", "kth-like:jobs=40,seed=2", "--out", str(path), "--model", "io"]) == 0
    command = [
        sys.executable,
        "-m",
        "spillway",
        "workload",
        "convert",
        "kth-like:jobs=40,seed=2",
        "--out",
        str(paths[2]),
        "--model",
        "io",
    ]
    environment = {**os.environ, "PYTHONHASHSEED": "17"}
    subprocess.run(command, check=True, env=environment, capture_output=True, cwd=DATA.parent.parent)
    assert len({path.read_bytes() for path in paths}) == 1


def test_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Logs and workloads are split into numbered files."""
    assert main(["split", SMALL, "--out", str(tmp_path / "json"), "--parts", "2", "--nodes", "8"]) == 0
    assert [len(read_batsim(tmp_path / "json" / f"part-{n}.json").jobs) for n in (0, 1)] == [2, 3]
    assert (
        main(["split", SMALL, "--out", str(tmp_path / "swf"), "--parts", "2", "--to", "swf", "--compress", ".gz"]) == 0
    )
    assert [len(read_swf(tmp_path / "swf" / f"part-{n}.swf.gz").records) for n in (0, 1)] == [4, 4]
    whole = tmp_path / "w.json"
    assert main(["synth", "kth-like:jobs=30", "--out", str(whole)]) == 0
    assert main(["split", str(whole), "--out", str(tmp_path / "again"), "--parts", "3"]) == 0
    counts = [len(read_batsim(path).jobs) for path in sorted((tmp_path / "again").iterdir())]
    assert sum(counts) == 30
    assert "part-0: " in capsys.readouterr().out


def test_synth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A generator writes a log or, by the suffix, a workload."""
    assert main(["synth", "kth-like:jobs=12,seed=1", "--out", str(tmp_path / "a.swf")]) == 0
    assert main(["synth", "kth-like:jobs=12,seed=1", "--out", str(tmp_path / "a.json")]) == 0
    assert len(read_swf(tmp_path / "a.swf").records) == len(read_batsim(tmp_path / "a.json").jobs) == 12
    assert "12 records" in capsys.readouterr().out


def test_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    """Public logs and generators are listed with their options."""
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert "KTH-SP2-1996-2.1-cln" in printed
    assert "kth-like:jobs=1000,seed=0,load=0.72" in printed


def test_fetch_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The cached path, the checksum's meaning and the acknowledgement are printed."""
    arguments = ["fetch", "RICC-2010-2", "--from", SMALL, "--cache", str(tmp_path)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "sha256 of the decompressed text trusted on first use" in printed
    assert "provided by Nobody" in printed
    assert (tmp_path / "RICC-2010-2.swf.gz").exists()


def test_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log without memory is refused; with memory the table is printed, pictures and model are written and usable."""
    pytest.importorskip("scipy", reason="fitting needs SciPy")
    lines = (DATA / "swf" / "small.swf").read_text().splitlines()[-1].split()
    rows = [[*lines[:9], str(1000 + 37 * n * n), *lines[10:]] for n in range(300)]
    for number, row in enumerate(rows):
        row[0], row[7] = str(number), "2"
    log = tmp_path / "m.swf"
    log.write_text("\n".join(" ".join(row) for row in rows) + "\n")
    assert main(["fit", str(log), "--out", str(tmp_path / "fit")]) == 0
    printed = capsys.readouterr().out
    assert "log-normal distribution: sigma " in printed
    assert len(list((tmp_path / "fit").glob("*.png"))) == 8
    model = str(tmp_path / "fit" / "burst-buffer-model.json")
    fitted, none = str(tmp_path / "f.json"), str(tmp_path / "n.json")
    assert main(["convert", str(log), "--out", fitted, "--burst-buffers", model]) == 0
    assert main(["convert", str(log), "--out", none, "--burst-buffers", "none"]) == 0
    assert {p["bb"] for p in read_batsim(none).profiles.values()} == {0}
    assert len({p["bb"] for p in read_batsim(fitted).profiles.values()}) >= 1
