"""Ways to play runs: one dataclass, from which both command lines, campaign files and their reference follow."""

import json
from pathlib import Path
from typing import Any

import pytest

from docs.tools import reference
from spillway.analysis.document.text import to_markdown
from spillway.base.options import OptionInfo, describe, show
from spillway.experiments import cli
from spillway.experiments.campaign.campaign_file import parse_campaign
from spillway.experiments.campaign.comparison import campaign_of
from spillway.experiments.cli import whatif
from spillway.experiments.run.spec import Campaign, Playing

FILE = '{} = {}\n[[workload]]\nsource = "kth-like:jobs=3"\n[[policy]]\npolicy = "fcfs"\n'


def other(info: OptionInfo) -> Any:
    """A value that is not the default."""
    if info.type is bool:
        return not info.default
    if info.choices:
        return show(next(choice for choice in reversed(info.choices) if choice != info.default))
    return info.default / 2 if info.type is float else "failures:node_mtbf=1e9"


def words(info: OptionInfo, value: Any) -> list[str]:
    """The value on a command line."""
    flag = info.name.removesuffix("_s").replace("_", "-")
    if info.type is bool:
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", show(value)]


def asked(*arguments: str) -> Campaign:
    """The campaign that ``whatif`` plays first."""
    seen: list[Campaign] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "spillway.experiments.campaign.comparison.play_grids", lambda grids, *_: seen.append(grids[0]) or 0
        )
        whatif.command(cli.parser_of("whatif").parse_args(["kth-like:jobs=3", "--set", "load=0.9", *arguments]))
    return seen[0]


@pytest.mark.parametrize("info", describe(Playing), ids=lambda info: info.name)
def test_every_door_has_every_option(info: OptionInfo) -> None:
    """Failed before: ``whatif`` had three of ten, and a field's name stood in eight files."""
    value = other(info)
    options = ["kth-like:jobs=3", "-p", "fcfs", *words(info, value)]
    made = (
        campaign_of(cli.parser_of("run").parse_args(options)),
        asked(*words(info, value)),
        parse_campaign(FILE.format(info.name, json.dumps(value)), "x.toml", Path()),
    )
    for campaign in made[: 2 if info.name == "events" else 3]:
        assert show(getattr(campaign, info.name)) == show(value)
        assert getattr(campaign, info.name) != info.default
    assert f"| `{info.name}` | {info.expected} |" in to_markdown(reference.campaigns())


def test_every_setting_of_the_session_is_one_of_whatif() -> None:
    """It had the site only: no question could be about a site that suspends, or about dates without a log's."""
    given = ["--begins", "2026-11-01T00:00:00", "--bb-life", "slurm", "--on-outage", "requeue"]
    (spec,) = asked("--policy", "fcfs", *given).policies[-1:]
    assert {name: show(value) for name, value in spec.session.items()} == {
        "begins": "2026-11-01T00:00:00",
        "bb_life": "slurm",
        "on_outage": "requeue",
    }
    assert cli.parser_of("whatif").parse_args(["x", "--set", "load=0.9", "--suspend", "requeue"]).suspend == "requeue"


def test_every_door_takes_the_first_jobs_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only ``whatif`` did, ``workload convert`` under another name. A Batsim workload is taken as it is."""
    made = (
        campaign_of(cli.parser_of("run").parse_args(["kth-like:jobs=9", "--first", "4"])),
        asked("--first", "4"),
        parse_campaign(
            FILE.format("seeds", "[0]").replace("[[policy]]", "convert.first = 4\n[[policy]]"), "x.toml", Path()
        ),
    )
    assert [campaign.workloads[0].convert for campaign in made] == [{"first": 4}] * 3
    workload = tmp_path / "w.json"
    assert cli.main(["workload", "convert", "kth-like:jobs=9", "--first", "4", "--out", str(workload)]) == 0
    assert len(json.loads(workload.read_text())["jobs"]) == 4
    assert cli.main(["run", str(workload), "--first", "2", "--out", str(tmp_path / "out")]) == 2
    assert "--first" in capsys.readouterr().err
