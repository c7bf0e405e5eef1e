"""Campaign files: their meaning, and one clear message for each kind of mistake."""

from pathlib import Path

import pytest

from spillway.experiments.campaign.campaign_file import parse_campaign, read_campaign
from spillway.experiments.cli.campaign import DEMO
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import Engine, ModelSpec, PlatformSpec, Transport
from tests.kit.cases import cases

SMALL = '[[workload]]\nsource = "kth-like"\n[[policy]]\npolicy = "fcfs"\n'


def test_defaults() -> None:
    """A workload and a policy are enough."""
    campaign = parse_campaign(SMALL, "x.toml", Path("/data"), "x")
    assert campaign.name == "x"
    assert campaign.platforms == (PlatformSpec(source="auto"),)
    assert (campaign.engine, campaign.transport) == (Engine.FLUID, Transport.DIRECT)
    assert (campaign.models, campaign.seeds, campaign.tau_s) == ((ModelSpec(),), (0,), 600.0)
    assert campaign.workloads[0].source == "kth-like"


def test_everything() -> None:
    """Every key is read."""
    text = """
    name = "all"
    models = ["rigid", "io:max_phases=3", { name = "io", options = { max_phases = [4, 5] } }]
    seeds = [1, 2]
    engine = "fixed"
    transport = "zmq"
    thesis_literal = true
    tau_s = 60
    plots = false
    [[workload]]
    source = "logs/*.swf"
    name = "mine"
    seed = 7
    convert = { kappa = 10.0 }
    [[platform]]
    source = "thesis"
    name = "big"
    [[policy]]
    policy = "easy"
    label = "ours"
    literal = false
    [[policy]]
    policy = "fcfs"
    """
    campaign = parse_campaign(text, "x.toml", Path("/data"))
    assert [model.label for model in campaign.models] == [
        "rigid",
        "io:max_phases=3",
        "io:max_phases=4",
        "io:max_phases=5",
    ]
    assert (campaign.engine, campaign.transport) == (Engine.FIXED, Transport.ZMQ)
    workload = campaign.workloads[0]
    assert (workload.source, workload.name, workload.seed) == ("/data/logs/*.swf", "mine", 7)
    assert workload.convert == {"kappa": 10.0}
    assert [(policy.literal, policy.label) for policy in campaign.policies] == [(False, "ours"), (True, "")]
    assert (campaign.tau_s, campaign.plots, campaign.seeds) == (60.0, False, (1, 2))


def test_ranges_become_a_grid() -> None:
    """Options given as lists are combined; the label names the combination."""
    text = SMALL + '[[policy]]\npolicy = "easy"\nlabel = "E"\noptions = { depth = [1, 2], order = ["fcfs", "sjf"] }\n'
    made = parse_campaign(text, "x.toml", Path()).policies[1:]
    assert [policy.options for policy in made] == [
        {"depth": 1, "order": "fcfs"},
        {"depth": 1, "order": "sjf"},
        {"depth": 2, "order": "fcfs"},
        {"depth": 2, "order": "sjf"},
    ]
    assert made[3].label == "E depth=2 order=sjf"


@pytest.mark.parametrize(("text", "message"), cases("campaign-file"))
def test_mistakes(text: str, message: str) -> None:
    """The message names the file, the place, the value and the known ones."""
    with pytest.raises(SpecError, match=message) as caught:
        parse_campaign(text, "x.toml", Path())
    assert str(caught.value).startswith("x.toml")


def test_missing_file(tmp_path: Path) -> None:
    """A missing file is named."""
    with pytest.raises(SpecError, match=r"nothing\.toml: cannot be read"):
        read_campaign(tmp_path / "nothing.toml")


def test_files_are_relative_to_the_campaign(tmp_path: Path) -> None:
    """A file beside the campaign file is found from any folder; a generator's name stays."""
    (tmp_path / "log.swf").touch()
    (tmp_path / "thesis").mkdir()  # a folder is no file: the built-in machine is meant
    text = SMALL + '[[workload]]\nsource = "log.swf"\n[[platform]]\nsource = "thesis"\n'
    campaign = parse_campaign(text, "x.toml", tmp_path)
    assert campaign.workloads[1].source == str(tmp_path / "log.swf")
    assert campaign.platforms[0].source == "thesis"


def test_the_demo_campaign_is_valid() -> None:
    """The built-in campaign compares the five policies on a synthetic log."""
    campaign = read_campaign(DEMO)
    assert [policy.policy for policy in campaign.policies] == ["fcfs", "filler", "easy-no-bb", "easy", "sjf-easy"]
    assert campaign.workloads[0].source.startswith("kth-like")


def test_classes_of_files_beside_the_campaign(tmp_path: Path) -> None:
    """Failed before: they were looked for in the working directory only."""
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from spillway.schedulers.jobmodels.rigid import Rigid\n"
        "@dataclass(frozen=True)\n"
        "class Mine(Rigid):\n"
        "    'The rigid model under another name.'\n"
    )
    text = 'models = ["mine.py:Mine"]\n' + SMALL
    assert parse_campaign(text, "x.toml", tmp_path).models == (ModelSpec(name=f"{tmp_path}/mine.py:Mine"),)


def test_controllers_of_files_beside_the_campaign(tmp_path: Path) -> None:
    """Failed before: a controller was looked for in the working directory only."""
    (tmp_path / "mine.py").write_text("")
    text = 'models = ["malleable:controller=mine.py:Eager", { name = "malleable", options = { controller = [%s] } }]\n'
    campaign = parse_campaign(text % '"mine.py:Eager:most=1", "other.py:Eager"' + SMALL, "x.toml", tmp_path)
    assert [model.options["controller"] for model in campaign.models] == [
        f"{tmp_path}/mine.py:Eager",
        f"{tmp_path}/mine.py:Eager:most=1",
        "other.py:Eager",
    ]


def test_options_need_a_model() -> None:
    """Failed before: a traceback."""
    with pytest.raises(SpecError, match="options of a job model without its name: max_phases"):
        parse_campaign("models = [{ options = { max_phases = 3 } }]\n" + SMALL, "x.toml", Path("/data"))
