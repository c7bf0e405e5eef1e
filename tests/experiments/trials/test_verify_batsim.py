"""``verify-batsim``, with the embedded simulator in the place of Batsim, and with one that falsifies a file."""

import json
import sys
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.trials import verify_batsim
from spillway.experiments.trials.verify_batsim import (
    FILES,
    MESSAGES,
    PAIRS,
    SKIPPED,
    Difference,
    compare,
    compare_messages,
)
from spillway.protocol.transcript import Recorder
from tests.kit.printed import rows

HONEST = '#!/bin/sh\nexec {python} -m spillway simulate --no-wall-clock "$@"\n'
FALSE = """#!/bin/sh
prefix=
previous=
for word in "$@"; do [ "$previous" = -e ] && prefix="$word"; previous="$word"; done
{python} -m spillway simulate --no-wall-clock "$@" || exit 1
exec {python} - "$prefix"_jobs.csv <<'CODE'
import sys
path = sys.argv[1]
lines = open(path).read().splitlines()
row = lines[3].split(",")
row[8] = f"{{float(row[8]) + 0.25:.6f}}"
lines[3] = ",".join(row)
open(path, "w").write("\\n".join(lines) + "\\n")
CODE
"""


def program(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a script in place of Batsim."""
    path = tmp_path / "stand-in"
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("BATSIM", str(path))


def test_equal_programs_have_no_differences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Energy and a loopback: the messages and five files, all rows the same."""
    program(tmp_path, HONEST, monkeypatch)
    assert main(["verify-batsim", "--only", "loopback-energy", "--keep", str(tmp_path / "kept")]) == 0
    printed = capsys.readouterr().out
    assert [row[1] for row in rows(printed)] == [MESSAGES, *FILES]
    assert all((row[2], *row[4:]) == (row[3], "0", "") for row in rows(printed))
    assert "\n1 of 1 pairs equal" in printed
    first = (tmp_path / "kept" / "loopback-energy" / "ours" / "out_machine_states.csv").read_text().splitlines()[1]
    assert float(first.split(",")[0]) > 0.0


@pytest.mark.parametrize("pair", ["loopback-energy", "lives-standby", "malleable"])
def test_batsim_5(
    pair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The embedded simulator as both sides, by Batsim 5's command line; cases that it has no events for are named."""
    program(tmp_path, HONEST.replace("--no-wall-clock", "--no-wall-clock --batsim 5"), monkeypatch)
    only = ["--only", pair, "--only", "outages-continue", "--only", "stream-easy"]
    assert main(["verify-batsim", "--batsim", "5", *only]) == 0
    printed = capsys.readouterr().out
    *files, outages, stream = rows(printed)
    assert [row[:2] for row in files] == [[pair, MESSAGES], [pair, "jobs.csv"]]
    assert all((row[2], *row[4:]) == (row[3], "0", "") and int(row[2]) >= 20 for row in files)
    assert outages[-1] == "not played: Batsim 5 has no events for outages"
    assert stream[-1] == "not played: Batsim 5 has no I/O jobs beside others"
    assert "\n1 of 1 pairs equal" in printed


def test_another_version_is_no_equality(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Batsim 4 in the place of Batsim 5 does not take its command line."""
    program(tmp_path, HONEST, monkeypatch)
    assert main(["verify-batsim", "--batsim", "5", "--only", "alloc-fcfs"]) == verify_batsim.LARGER
    assert "with --batsim 5 also TEXT" in capsys.readouterr().out


def test_a_falsified_file_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quarter of a second in one row of 60: the table has it, and the exit code."""
    program(tmp_path, FALSE, monkeypatch)
    assert main(["verify-batsim", "--only", "alloc-fcfs"]) == verify_batsim.LARGER
    printed = capsys.readouterr().out
    assert rows(printed)[1] == ["alloc-fcfs", "jobs.csv", "60", "59", "0.25", ""]
    assert "\n0 of 1 pairs equal" in printed


def test_a_program_that_fails_is_no_equality(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its last words are in the table."""
    program(tmp_path, "#!/bin/sh\necho no power range >&2\nexit 134\n", monkeypatch)
    assert main(["verify-batsim", "--only", "alloc-fcfs"]) == verify_batsim.LARGER
    assert "not finished:" in capsys.readouterr().out


def test_without_batsim_it_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and an exit code of its own."""
    monkeypatch.delenv("BATSIM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["verify-batsim"]) == SKIPPED == 77
    assert capsys.readouterr().out.startswith("verify-batsim: skipped: there is no 'batsim' on PATH")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--only", "nonsense"], "there is no pair 'nonsense'; known: alloc-fcfs"),
        (["--keep", "."], "exists already"),
    ],
)
def test_wrong_arguments(
    arguments: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line and exit code 2."""
    program(tmp_path, HONEST, monkeypatch)
    assert main(["verify-batsim", *arguments]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("time,n\n1,2\n3,4\n", "time,n\n1,2\n3,4\n", Difference("a.csv", 2, 2, 0.0, ())),
        ("time,n\n1,2\n3,4\n", "time,n\n1,2\n3.5,4\n", Difference("a.csv", 2, 1, 0.5, ())),
        ("time,n\n1,2\n", "time,n\n1,9\n", Difference("a.csv", 1, 0, 0.0, ("n",))),
        ("time,n\n1,2\n", "time,n\n1,2\n3,4\n", Difference("a.csv", 2, 1, float("inf"), ())),
        ("time,n\n1,2\n", "time,m\n1,2\n", Difference("a.csv", 1, 0, float("inf"), ("header",))),
        ("time,final_state\n1,A\n", "time,final_state\n1,B\n", Difference("a.csv", 1, 0, 0.0, ("final_state",))),
        ("time,energy\n1,72000.042\n", "time,energy\n1,72000.072\n", Difference("a.csv", 1, 0, 0.0, ("energy",))),
        ("time,energy\n1,72000.042\n", "time,energy\n1.5,72000.072\n", Difference("a.csv", 1, 0, 0.5, ())),
        ("time,energy\n1,5.000001\n", "time,energy\n1,5.000002\n", Difference("a.csv", 1, 0, 0.0, ())),
        ("simulation_time,n\n1,2\n", "simulation_time,n\n7,2\n", Difference("a.csv", 1, 1, 0.0, ())),
        ("start_time,allocated_resources\n1,3\n", "start_time,allocated_resources\n1,4\n",
         Difference("a.csv", 1, 0, 0.0, ("allocated_resources",))),
    ],
)  # fmt: skip
def test_differences(ours: str, theirs: str, expected: Difference, tmp_path: Path) -> None:
    """Rows that are equal, the worst time, and other columns."""
    for side, text in (("ours", ours), ("theirs", theirs)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.csv").write_text(text)
    assert compare(tmp_path / "ours" / "a.csv", tmp_path / "theirs" / "a.csv") == expected


def test_messages_are_compared(tmp_path: Path) -> None:
    """Messages of both simulators after their first one: kinds of events, times, and all else."""

    def said(*events: str) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        with Recorder(path) as recorder:
            for number, event in enumerate(("", *events)):
                recorder.received(f'{{"now":{number}.5,"events":[{event}]}}'.encode())
                recorder.sent(b'{"now":9,"events":[]}')
        return path

    call, end = (f'{{"timestamp":0.5,"type":"{kind}","data":{{}}}}' for kind in ("REQUESTED_CALL", "SIMULATION_ENDS"))
    assert compare_messages(said(call, end), said(call, end)) == Difference(MESSAGES, 2, 2, 0.0, ())
    assert compare_messages(said(call, end), said(end, end)) == Difference(MESSAGES, 2, 1, 0.0, ("events",))
    assert compare_messages(said(call, end), said(call)) == Difference(MESSAGES, 2, 1, float("inf"), ())


def test_every_option_is_one_of_batsim_4_2_1() -> None:
    """It has ``-E``, and neither ``--energy-host`` nor ``--energy``: an unknown option ended it with its usage."""
    given = {word for pair in PAIRS for word in pair.options if word.startswith("-")}
    assert given == {"-E", "-m"}


def test_names_of_pairs_are_unique() -> None:
    """They are keys."""
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("workload", verify_batsim.DESCRIBED)
def test_described_workloads_are_played_as_described(workload: str, tmp_path: Path) -> None:
    """No job of them is rejected: an equality of rejections would prove nothing."""
    (pair,) = {pair.workload: pair for pair in PAIRS if pair.workload == workload}.values()
    path = tmp_path / "described.json"
    path.write_text(json.dumps(verify_batsim.described(workload)))
    arguments = ["run", "--workload", str(path), "--platform", "thesis", "--policy", pair.policy, "--no-plots"]
    assert main([*arguments, "--model", pair.model, "--out", str(tmp_path / "out")]) == 0
    (rejections,) = (tmp_path / "out").glob("described_*/rejections.csv")
    assert len(rejections.read_text().splitlines()) == 1
