"""Controllers of the user's own: the page's example runs, beside the built-in ones; faults are reported."""

import re
from pathlib import Path

import pytest

from spillway.base.errors import DecisionRefused, OptionError
from spillway.base.options import build
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.jobmodels import make_model
from spillway.schedulers.policies import POLICIES
from tests.schedulers.controllers.played import application, play

PAGE = Path(__file__).parents[3] / "docs" / "models.md"
LOOP = "for view in scene.applications:"


def example() -> str:
    """The controller of the documentation."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return next(block for block in blocks if "class Eager" in block)


def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    """Two of four nodes, two idle: it gets both, or the number of its option, at the first control point.

    Two iterations on two nodes take 40 s, the reconfiguration ends at 43; eight on four nodes 80 s, on three 106.67 s.
    """
    file = tmp_path / "mine.py"
    file.write_text(example())
    jobs = {"a": {"nodes": 2, "malleable": application()}}
    seen = play(jobs, controller=f"{file}:Eager")
    assert seen.sizes["a"] == [(0.0, 2), (43.0, 4)]
    assert seen.ends["a"][0] == pytest.approx(123.0, abs=0.02)
    seen = play(jobs, controller=f"{file}:Eager:most=1")
    assert seen.sizes["a"] == [(0.0, 2), (43.0, 3)]
    assert seen.ends["a"][0] == pytest.approx(149.67, abs=0.02)


def test_it_decides_beside_the_built_in_ones(tmp_path: Path) -> None:
    """Nodes that it leaves idle are shared, one each; a job that waits gets extra nodes back."""
    file = tmp_path / "mine.py"
    file.write_text(example())
    jobs = {
        "a": {"nodes": 1, "malleable": application(model={"work": 20.0})},
        "b": {"nodes": 1, "malleable": application(model={"work": 20.0})},
    }
    seen = play(jobs, controller=f"{file}:Eager:most=1", expansion="fair")
    assert seen.sizes == {"a": [(0.0, 1), (43.0, 2)], "b": [(0.0, 1), (43.0, 2)]}
    jobs["late"] = {"nodes": 2, "subtime": 50.0, "delay": 500.0}
    seen = play(jobs, controller=f"{file}:Eager:most=1", expansion="fair")
    assert seen.starts["late"] == 66.0, "the next control points are at 63, the reconfigurations end at 66"


@pytest.mark.parametrize(("text", "words"), [
    ("no_such.py:Eager", "controller file 'no_such.py' cannot be read"),
    ("{file}:Eagre", "did you mean 'Eager'"),
    ("{file}:Eager:most=x", "option 'most' must be a whole number"),
    ("{file}:Eager:least=1", "unknown option 'least'; known options: most"),
    ("{file}:", "after the last colon"),
    ("eager", "unknown controller 'eager'; expected FILE.py:CLASS or MODULE:CLASS"),
])  # fmt: skip
def test_what_cannot_be_loaded_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """When the session is assembled, before any job."""
    file = tmp_path / "mine.py"
    file.write_text(example())
    model = make_model("malleable", {"controller": text.format(file=file)})
    with pytest.raises(OptionError, match=re.escape(words)):
        assemble(POLICIES["easy"].build({}), Settings(), model)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Resize('w0!a', (Step(3, 1),), Reason.EXPAND)", "iteration 3 is no control point"),
        ("Resize('w0!z', (Step(2, 1),), Reason.EXPAND)", "it is no running malleable application"),
        ("'w0!a'", "a controller must yield Resize, got 'w0!a'"),
        ("Resize('w0!a', (Step(2, 9),), Reason.EXPAND)", "11 nodes: the application runs on 1 to 4"),
    ],
)
def test_what_it_may_not_do_is_refused(tmp_path: Path, answer: str, words: str) -> None:
    """Checked as the policies' decisions are: the application is named."""
    file = tmp_path / "mine.py"
    file.write_text(example().replace(LOOP, f"yield {answer}\n        {LOOP}"))
    with pytest.raises(DecisionRefused, match=re.escape(words)):
        play({"a": {"nodes": 2, "malleable": application()}}, controller=f"{file}:Eager")


@pytest.mark.parametrize("name", ["controller", "shrink", "expansion", "interference"])
def test_they_need_malleable_jobs(name: str) -> None:
    """Failed before: without malleable jobs these were dropped in silence; now they are options of the job model."""
    with pytest.raises(OptionError, match=f"unknown option {name!r}"):
        build(Settings, {name: "fair"})
