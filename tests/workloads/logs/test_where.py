"""Which jobs of a log are taken: by partition, user, account, state and time."""

from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.workloads import WorkloadError
from spillway.workloads.logs.reading import Reading
from tests.workloads.logs.test_formats import read

HEAD = "JobID|User|Account|Partition|State|Submit|Start|End|Timelimit|NNodes\n"
LOG = HEAD + "".join(
    f"{number}|{user}|{account}|{partition}|{state}|2024-01-0{number}T12:00:00|2024-01-0{number}T12:01:00|"
    f"2024-01-0{number}T12:11:00|00:20:00|{nodes}\n"
    for number, user, account, partition, state, nodes in (
        (1, "ann", "a", "batch", "COMPLETED", 4),
        (2, "bob", "a", "batch", "CANCELLED by 5", 2),
        (3, "ann", "b", "gpu", "COMPLETED", 1),
        (4, "eve", "b", "debug", "TIMEOUT", 3),
    )
)
SWF = "".join(f"{n} {100 * n} 0 10 1 -1 -1 1 20 -1 1 {n} 7 1 {n % 2} -1 -1 -1\n" for n in range(1, 5))


@pytest.mark.parametrize(("conditions", "numbers"), [
    (("partition=batch",), [1, 2]),
    (("partition=batch", "partition=gpu"), [1, 2, 3]),
    (("partition=batch", "user=ann"), [1]),
    (("account=b", "state=timeout"), [4]),
    (("state=cancelled",), [2]),
    (("time=2024-01-02..2024-01-04",), [2, 3]),
    (("time=2024-01-02T12:00:00..2024-01-03T12:00:00",), [2]),
    (("time=2024-01-04T14:00:00+0200..",), [4]),
    (("time=..2024-01-02", "time=2024-01-04.."), [1, 4]),
    ("user=eve", [4]),
])  # fmt: skip
def test_chosen(conditions: tuple[str, ...], numbers: list[int]) -> None:
    """The same field: either; other fields: both; ranges include their beginning, not their end."""
    table = read(LOG, "log.txt", Reading(where=conditions))
    assert list(table["number"]) == numbers
    assert sum(table.intake.book.left_out().values()) == 4 - len(numbers)


def test_swf() -> None:
    """Numbers are names there; times count from its start, or are dates if the header states that."""
    assert list(read(SWF, "log.swf", Reading(where=("partition=1", "account=7")))["number"]) == [1, 3]
    assert list(read(SWF, "log.swf", Reading(where=("time=200..400",)))["number"]) == [2, 3]
    dated = f"; UnixStartTime: 1704067200\n{SWF}"  # 2024-01-01
    assert list(read(dated, "log.swf", Reading(where=("time=2024-01-01T00:05:00..",)))["number"]) == [3, 4]


@pytest.mark.parametrize(("conditions", "message"), [
    (("partion=batch",), "expected FIELD=VALUE.*did you mean 'partition'"),
    (("batch",), "expected FIELD=VALUE"),
    (("partition=",), "expected FIELD=VALUE"),
    (("time=2024-01-01",), "expected a range FROM..TO"),
    (("time=yesterday..",), "expected a date, a time such as"),
    (("time=2025-01-01..",), "no job was submitted in 2025-01-01"),
    (("partition=bath",), "no job of partition 'bath': it has batch, gpu, debug.*did you mean 'batch'"),
    (("partition=gpu", "user=bob"), "no job meets partition=gpu and user=bob together"),
])  # fmt: skip
def test_mistakes(conditions: tuple[str, ...], message: str) -> None:
    """The expected form, and the existing values."""
    with pytest.raises(WorkloadError, match=message):
        read(LOG, "log.txt", Reading(where=conditions))


def test_dates_need_the_day_on_which_the_log_begins() -> None:
    """Seconds do not."""
    with pytest.raises(WorkloadError, match="does not state when that was"):
        read(SWF, "log.swf", Reading(where=("time=2024-01-01..",)))


@pytest.mark.parametrize("words", [
    ("run", "{log}", "--policy", "fcfs", "--no-plots", "--out", "{out}"),
    ("whatif", "{log}", "--set", "load=x1.1", "--shakes", "0", "--no-plots", "--out", "{out}"),
    ("workload", "info", "{log}"),
    ("workload", "convert", "{log}", "--out", "{out}.json"),
    ("workload", "split", "{log}", "--out", "{out}", "--parts", "1"),
    ("campaign", "{campaign}", "--out", "{out}"),
])  # fmt: skip
def test_every_door(words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other jobs are counted wherever a log is read."""
    (tmp_path / "log.txt").write_text(LOG)
    (tmp_path / "c.toml").write_text(
        'plots = false\n[[workload]]\nsource = "log.txt"\nread = { where = ["partition=batch"] }\n'
        '[[policy]]\npolicy = "fcfs"\n'
    )
    places = {"log": tmp_path / "log.txt", "out": tmp_path / "out", "campaign": tmp_path / "c.toml"}
    conditions = () if words[0] == "campaign" else ("--where", "partition=batch")
    assert main([word.format(**places) for word in words] + list(conditions)) == 0
    notes = tmp_path / "out" / "assumptions.txt"
    said = capsys.readouterr().out + (notes.read_text() if notes.exists() else "")
    assert "partition is not batch" in said or "part-0: 2" in said


def test_a_batsim_workload_has_nothing_to_choose_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is taken as it is, so conditions are refused, not passed over."""
    (tmp_path / "a.json").write_text('{"nb_res": 1, "jobs": [], "profiles": {}}')
    assert main(["run", str(tmp_path / "a.json"), "--where", "user=ann", "--out", str(tmp_path / "out")]) == 2
    assert "--where goes with logs and generators" in capsys.readouterr().err
