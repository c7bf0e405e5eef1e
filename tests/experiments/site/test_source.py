"""Values as Slurm writes them: times, amounts, counts."""

import pytest

from spillway.experiments.site.source import preempts, records, rows, seconds, settings
from spillway.workloads.logs.slurm_units import UnitError, amounts_of, counts_of


@pytest.mark.parametrize(("text", "value"), [
    ("90", 5400.0),
    ("30:15", 1815.0),
    ("1:30:00", 5400.0),
    ("7-0", 604_800.0),
    ("1-12:30", 131_400.0),
    ("2-01:00:30", 176_430.0),
    ("UNLIMITED", None),
    ("INFINITE", None),
    ("-1", None),
])  # fmt: skip
def test_times(text: str, value: float | None):
    """All forms of slurm.conf's manual page; 1-12:30 is days-hours:minutes."""
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["soon", "1-", "-5", "1:2:3:4"])
def test_no_times(text: str):
    """Each is refused."""
    with pytest.raises(UnitError, match="a time such as"):
        seconds(text)


def test_amounts():
    """Memory and buffers in bytes, where bare numbers are megabytes; -1 lifts a limit."""
    assert amounts_of("cpu=4,mem=8G,node=2,gres/gpu=1.5K,bb/x=100,license/m=-1") == {
        "cpu": 4, "mem": 8 * 2**30, "node": 2, "gres/gpu": 1500, "bb/x": 100 * 2**20,
    }  # fmt: skip
    assert counts_of("a:3,b@server=4,c,d*5") == {"a": 3, "b@server": 4, "c": 1, "d": 5}
    assert (preempts("GANG,SUSPEND"), preempts("cluster")) == ("suspend", "")


def test_layouts():
    """Records on one line or several; rows with a separator at the end; continued lines."""
    one, two = records("A=1 B=x y C=(null)\nA=2\n   B=3\n\n", "f", "A")
    assert (one.text("B"), one.text("C"), two.text("B"), two.where) == ("x y", "", "3", "f, line 2")
    (row,) = rows("Name|Def QOS|\nn|q|\n", "f")
    assert (row.text("Name"), row.text("DefQOS")) == ("n", "q")
    entry, several = settings("# x\nA = b c\nB=1,\\\n2 # y\nNodeName=n1 CPUs=1\n", "f")
    assert (entry.text("A"), entry.text("B"), several[0].text("CPUs")) == ("b c", "1,2", "1")
    entry, several = settings("A=1\na = 2\nPartitionName=p Nodes=n[1-2],\\  \nn[5-6] \\\n  MaxTime=60\n", "f")
    assert (entry.text("A"), several[0].text("Nodes"), several[0].text("MaxTime")) == ("2", "n[1-2],n[5-6]", "60")
