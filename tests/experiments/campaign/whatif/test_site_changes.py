"""Values of a site that a what-if question changes."""

from pathlib import Path

import pytest

from spillway.analysis.tables.rows import read_rows
from spillway.experiments.campaign.whatif.knobs import parse_knob
from spillway.experiments.campaign.whatif.site_changes import changed
from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.schedulers.model.site import Site
from spillway.schedulers.site_file import read_site
from tests.kit.cases import cases

SITE = """
name = "two"
nodes = "n[00-07]"

[[partition]]
name = "batch"
nodes = "n[00-05]"
default = true
longest_s = 3600

[[partition]]
name = "gpu"
nodes = "n[04-07]"

[[license]]
name = "matlab.x"
count = 2

[[qos]]
name = "normal"
limits = { user_jobs = 1, user_tres = { "bb/pool" = 1000000000 } }

[[association]]
account = "physics"

[priority]
age = 1000

[[reservation]]
name = "week"
start = 2026-12-01T08:00:00
length_s = 3600
nodes = "n[06-07]"
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Eight nodes in two partitions that overlap."""
    (tmp_path / "site.toml").write_text(SITE)
    return read_site(tmp_path / "site.toml")


@pytest.mark.parametrize(("name", "text", "value"), [
    ("license.matlab.x", "+2", lambda site: site.licenses[0].count == 4),
    ("license.matlab.x", "none", lambda site: site.licenses == ()),
    ("priority.age", "x2", lambda site: site.weights.age == 2000),
    ("partition.batch.longest_s", "+1h", lambda site: site.partitions[0].longest_s == 7200.0),
    ("partition.batch.longest_s", "none", lambda site: site.partitions[0].longest_s is None),
    ("partition.gpu.longest_s", "2h", lambda site: site.partitions[1].longest_s == 7200.0),
    ("partition.gpu.default", "false", lambda site: not site.partitions[1].default),
    ("partition.gpu.accounts", "physics", lambda site: site.partitions[1].accounts == ("physics",)),
    ("qos.normal.limits.user_jobs", "+3", lambda site: site.qos[0].limits.user_jobs == 4),
    ("qos.normal.limits.user_tres.bb/pool", "+1GB", lambda site: site.qos[0].limits.user_tres["bb/pool"] == 2e9),
    ("qos.normal.limits.user_tres.node", "8", lambda site: site.qos[0].limits.user_tres["node"] == 8),
    ("qos.normal.limits", "none", lambda site: site.qos[0].limits.user_jobs is None),
    ("account.physics.shares", "x3", lambda site: site.associations[0].shares == 3),
    ("reservation.week.length_s", "+1h", lambda site: site.reservations[0].length_s == 7200.0),
    ("reservation.week", "none", lambda site: site.reservations == ()),
    ("limits", "none", lambda site: site.qos[0].limits.user_jobs is site.partitions[0].longest_s is None),
    ("scheduler.bf_window_s", "12h", lambda site: site.scheduler.bf_window_s == 43_200),
])  # fmt: skip
def test_every_value_of_a_site_can_be_changed(site: Site, name: str, text: str, value: object) -> None:
    """By the names of its file."""
    assert callable(value)
    assert value(changed(site, name, text))
    assert parse_knob(f"{name}={text}", site).values == {name: text}


@pytest.mark.parametrize(
    ("text", "nodes", "batch", "gpu", "reserved"),
    [
        ("+2", 10, "0-5 8-9", "4-7", "6-7"),
        ("x1.5", 11, "0-5 8-10", "4-7", "6-7"),
        ("-2", 6, "0-3", "4-5", "4-5"),
        ("4", 6, "0-3", "4-5", "4-5"),
    ],
)
def test_nodes_of_a_partition(site: Site, text: str, nodes: int, batch: str, gpu: str, reserved: str) -> None:
    """New ones come after all others; the last of the partition go, and the places after them move."""
    new = changed(site, "partition.batch.nodes", text)
    assert (new.nodes, *(partition.nodes for partition in new.partitions), new.reservations[0].nodes) == (
        nodes, batch, gpu, reserved,
    )  # fmt: skip


@pytest.mark.parametrize(("text", "message"), cases("whatif-site-changes"))
def test_what_cannot_be_changed(site: Site, text: str, message: str) -> None:
    """Refused before a log is read, with the names that are known."""
    with pytest.raises(SpecError) as caught:
        parse_knob(text, site)
    assert message in str(caught.value)


def test_more_nodes_for_a_partition(tmp_path: Path) -> None:
    """The machine grows with the partition; ``site=FILE`` is another site; each has a row of its own."""
    (tmp_path / "site.toml").write_text(SITE)
    (tmp_path / "open.toml").write_text(SITE.replace("limits = { user_jobs = 1,", "limits = {"))
    row = "{n} {submit} 0 600 4 -1 -1 4 900 -1 1 {user} 1 -1 -1 -1 -1 -1\n"
    jobs = [row.format(n=n, submit=60 * n, user=n % 3) for n in range(1, 61)]
    (tmp_path / "log.swf").write_text("; MaxNodes: 8\n" + "".join(jobs))
    ask = ["whatif", str(tmp_path / "log.swf"), "--site", str(tmp_path / "site.toml"), "--shakes", "0", "--no-plots"]
    ask += ["--set", "partition.batch.nodes=+6", "--set", f"site={tmp_path / 'open.toml'}", "--force"]
    ask += ["--out", str(tmp_path / "out"), "--workers", "1", "--set", "license.matlab.x=+2"]
    begins = "-begins=2026-12-01T00:00:00"
    assert main([*ask, f"-{begins}"]) == 0
    rows = {row["setting"]: row for row in read_rows(tmp_path / "out" / "whatif.csv", ("setting",), "rows")}
    assert float(rows["partition.batch.nodes=+6"]["to_same_ratio"]) < 0.8
    assert float(rows["license.matlab.x=+2"]["to_same_ratio"]) == 1.0
    assert f"site={tmp_path / 'open.toml'}" in rows
    assert {row["policy"] for name, row in rows.items() if name != "what the site did"} == {
        f"easy {begins.removeprefix('-')}"
    }
