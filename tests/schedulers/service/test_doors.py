"""One rule everywhere: invalid combinations are refused in the same words, and no option is dropped in silence."""

import json
from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import OptionError, SpillwayError
from spillway.experiments.cli import main as driver
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Task
from spillway.schedulers.assembly import spec_from
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.schedulers.jobmodels.malleable import Malleable
from spillway.schedulers.service.command import build_session, session_parser
from tests.kit.cases import cases
from tests.properties.small_world import runs, workload

PERIODS = {"count": 2, "compute_s": 600.0, "io_bytes": 10**9}


def refusal(*arguments: str) -> str:
    """The service's error for these arguments."""
    with pytest.raises(SpillwayError) as caught:
        build_session(session_parser().parse_args(list(arguments)))
    return str(caught.value)


REFUSED = cases("service-refusals")


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(arguments) for arguments, _ in REFUSED])
def test_the_service_and_the_driver_refuse_alike(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Failed before: the service listened where the driver refused, and both dropped one option beside another."""
    assert words in refusal(*arguments)
    policy, *options = arguments
    where = ["--workload", "kth-like:jobs=3", "--platform", "tiny", "--no-plots", "--workers", "1"]
    assert driver(["run", *where, "--policy", policy, *options, "--out", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr().err
    assert words in " ".join(shown.split())
    assert len(shown.splitlines()) == 1, "one line"


@pytest.mark.parametrize("model", [name for name in MODELS if name != "operations"])
def test_periods_are_played_or_refused(model: str, tmp_path: Path) -> None:
    """Failed before: 2 x 600 s of computing ran 1,200 s with one setting and 100 s with another, without a message."""
    data = workload("operations", [(0, 2, 100.0, 0, 0, None, True), (0, 1, 10.0, 0, 0, None, False)])
    data["profiles"]["p0"]["periods"] = PERIODS
    (run,) = runs(tmp_path, model, data, ["easy"])
    execute(Task(run, tmp_path))
    reasons = (tmp_path / run.id / "rejections.csv").read_text()
    assert "its field 'periods' is played by --model operations, not by " + model in reasons
    (run,) = runs(tmp_path / "operations", "operations", data, ["easy"])
    execute(Task(run, tmp_path / "operations"))
    lines = (tmp_path / "operations" / run.id / "jobs.csv").read_text().splitlines()
    row = dict(zip(lines[0].split(","), lines[-1].split(","), strict=True))
    assert float(row["compute_s"]) == pytest.approx(1200.0, abs=1e-3)


@pytest.mark.parametrize("model", ["malleable", "operations", "stream"])
def test_a_model_that_no_job_asks_for(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Failed before: malleable on a rigid log did nothing, in silence."""
    where = ["--workload", "kth-like:jobs=3", "--platform", "thesis", "--no-plots", "--workers", "1"]
    assert driver(["run", *where, "--policy", "easy", "--model", model, "--out", str(tmp_path / "out")]) == 2
    assert f"has a field that --model {model} plays" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ({"policy": "easy", "model": {"name": "malleable", "moldable": True}}, Malleable(moldable=True)),
        ({"policy": "easy", "model": {"name": "malleable", "moldable": False}}, Malleable()),
        ({"policy": "easy", "model": "io:max_phases=3"}, IoAware(max_phases=3)),
        ({"policy": "easy", "model": {"name": "io", "phase_target": 1000001.0}}, IoAware(phase_target=1000001.0)),
    ],
)
def test_json_keeps_its_types(options: dict[str, Any], model: object) -> None:
    """Failed before: true became an option without a value and ended the launcher; false could not be stated."""
    assert spec_from(json.loads(json.dumps(options))).make_model() == model


@pytest.mark.parametrize(("options", "words"), [
    ({}, "expected the name of a policy"),
    ({"policy": "easy", "malleable": True}, "unknown option 'malleable'"),
    ({"policy": "easy", "sed": 1}, "unknown option 'sed'"),
    ({"policy": "easy", "seed": "1"}, "option 'seed' must be a whole number, got '1'"),
    ({"policy": "easy", "thesis_literal": "no"}, "must be true or false"),
    ({"policy": "easy", "model": {"name": "", "max_phases": 3}}, "must be a text or an object with a name"),
    ({"policy": "easy", "io-control": "shared", "io_control": "exclusive"}, "given twice"),
    ({"policy": "easy", "model": ["io"]}, "must be a text or an object with a name"),
    ({"policy": "easy", "model": {"name": "malleable", "moldable": 3}}, "option 'moldable' must be true or false"),
])  # fmt: skip
def test_json_is_checked(options: dict[str, Any], words: str) -> None:
    """The error states the option, the expected value and the given one."""
    with pytest.raises(OptionError, match=words):
        spec_from(options).make_model()


OUTSIDE = """
from dataclasses import dataclass
from spillway.schedulers.jobmodels.malleable import Malleable

@dataclass(frozen=True)
class Mine(Malleable):
    "The built-in model under another name."

@dataclass(frozen=True)
class Stranger:
    "No job model."
    def program(self, job, granted, machine):
        return iter(())
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file with a model derived from a built-in one, and a class that is no model."""
    path = tmp_path / "mine.py"
    path.write_text(OUTSIDE, encoding="utf-8")
    return path


def test_a_derived_model_keeps_its_controllers(outside: Path) -> None:
    """Failed before: a model derived from ``malleable`` lost its expansion in silence."""
    spec = spec_from({"policy": "easy", "model": f"{outside}:Mine:expansion=fair"})
    assert spec.session()._steering is not None


def test_a_class_that_is_no_job_model(outside: Path) -> None:
    """Failed before: an AttributeError with a traceback everywhere."""
    with pytest.raises(OptionError, match="must derive from"):
        spec_from({"policy": "easy", "model": f"{outside}:Stranger"}).make_model()
