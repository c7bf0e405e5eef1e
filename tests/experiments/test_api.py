"""``import spillway``: comparisons and what-if questions from a script, a notebook and a test."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

import spillway as sw
from spillway.experiments.run.errors import SpecError
from spillway.schedulers.policies.backfill import Backfill

QUICK: dict[str, Any] = {"engine": "fixed", "progress": False, "workers": 1}

SCRIPT = '''
from dataclasses import dataclass

import spillway as sw
from spillway.schedulers.policykit.passes import try_start


@dataclass(frozen=True)
class InOrder:
    """Starts the head of the queue as long as it fits."""

    def __call__(self, view):
        for job in view.queue:
            start = try_start(view, job)
            if start is None:
                return
            yield start


results = sw.compare("kth-like:jobs=40", ["fcfs", InOrder], seeds=2, engine="fixed", progress=False)
waits = {"fcfs": [], "InOrder": []}
for row in results.runs:
    waits[row["policy"]].append(row["mean_waiting_time_s"])
print(waits["fcfs"] == waits["InOrder"], len(results.runs))
'''


@dataclass(frozen=True)
class Lazy:
    """One job at a time, so that every other policy does better."""

    def __call__(self, view: Any) -> Any:
        """Start the first job of an idle machine alone."""
        from spillway.schedulers.policykit.passes import try_start

        if view.queue and not view.running:
            start = try_start(view, view.queue[0])
            if start is not None:
                yield start


@pytest.fixture(scope="module")
def results() -> sw.Results:
    """Two policies, one of them a class of this file, on two seeds."""
    return sw.compare("kth-like:jobs=40", ["easy", Lazy], seeds=2, **QUICK)


def test_runs_are_rows(results: sw.Results) -> None:
    """Names as texts, figures as numbers; the class under its own name."""
    assert {(row["policy"], row["seed"]) for row in results.runs} == {
        (policy, seed) for policy in ("easy", "Lazy") for seed in (0, 1)
    }
    by_policy = {(row["policy"], row["seed"]): row["mean_waiting_time_s"] for row in results.runs}
    assert by_policy["easy", 0] < by_policy["Lazy", 0]
    assert all(isinstance(row["jobs"], int) for row in results.runs)


def test_jobs_and_holdings_of_one_run(results: sw.Results) -> None:
    """Named by the values that the run alone has; else the runs that there are are listed."""
    table = results.jobs(policy="easy", seed=1)
    assert len(table) == 40
    held = results.holdings(policy="easy", seed=1)
    assert {row["job_id"] for row in held} == {str(number) for number in range(1, 41)}
    with pytest.raises(SpecError, match=r"policy='easy' is that of 2; there are: .*easy on kth-like, seed 0"):
        results.jobs(policy="easy")


def test_to_pandas_says_what_is_missing(results: sw.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas is nobody's dependency here."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        results.to_pandas()


def test_a_plot_returns_its_axes(results: sw.Results) -> None:
    """Bars by policy; an unknown figure lists the known ones."""
    axes = results.plot("mean_bounded_slowdown")
    assert [text.get_text() for text in axes.get_yticklabels()] == ["easy", "Lazy"]
    assert axes.get_xlabel() == "mean_bounded_slowdown"
    plt.close(axes.figure)
    with pytest.raises(SpecError, match=r"expected a figure: .*mean_waiting_time_s"):
        results.plot("mean_wait")


@pytest.mark.parametrize(
    ("figure", "chosen"),
    [
        ("distribution", {}),
        ("trade-off", {}),
        ("queue", {"seed": 1}),
        *((name, {"policy": "easy", "seed": 1}) for name in ("nodes", "buffers", "utilisation")),
    ],
)
def test_every_plot_draws_into_the_axes_that_are_given(
    results: sw.Results, figure: str, chosen: dict[str, Any]
) -> None:
    """And returns them; what shows one run lists the runs where it is not one."""
    axes = plt.figure().add_subplot()
    assert results.plot(figure, axes, **chosen) is axes
    assert axes.has_data() or axes.collections
    plt.close(axes.figure)
    if "policy" in chosen:
        with pytest.raises(SpecError, match="there are: easy on kth-like, seed 0"):
            results.plot(figure, policy="easy")
        plt.close("all")


def test_an_instance_is_a_policy_with_its_options(tmp_path: Path) -> None:
    """Its fields are the options that differ, and stand in the label; what is no policy is refused."""
    found = sw.compare("kth-like:jobs=20", [Backfill(depth=2), Backfill()], folder=tmp_path / "out", **QUICK)
    assert [row["policy"] for row in found.runs] == ["Backfill depth=2", "Backfill"]
    assert any("jobs of" in note for note in found.notes)
    with pytest.raises(SpecError, match="expected names, classes or instances of policies, got 3"):
        sw.compare("kth-like:jobs=20", [3], **QUICK)


def test_figures_of_a_comparison_as_pdf(tmp_path: Path) -> None:
    """Kinds of files in place of ``True``."""
    sw.compare("kth-like:jobs=20", "fcfs", figures="pdf", folder=tmp_path / "out", **QUICK)
    assert {path.suffix for path in (tmp_path / "out" / "plots").iterdir()} == {".pdf"}


def test_save_and_explain(results: sw.Results, tmp_path: Path) -> None:
    """A folder as the commands write it, from which a job's story is told; an existing one is not overwritten."""
    saved = results.save(tmp_path / "kept")
    assert saved.runs == results.runs
    assert any("started" in line for line in saved.explain(7, policy="easy", seed=0))
    with pytest.raises(SpecError, match="exists"):
        results.save(tmp_path / "kept")
    assert "<td>Lazy</td>" in saved._repr_html_()


def test_whatif_has_a_table_and_sentences(tmp_path: Path) -> None:
    """Bands, the jobs that one change rejects, and what of the log is not played, as rows."""
    log = tmp_path / "mine.swf"
    row = "{n} {submit} 0 100 {size} -1 -1 {size} 200 -1 1 1 1 -1 {queue} -1 -1 -1\n"
    jobs = [row.format(n=n, submit=30 * n, size=1 + n % 8, queue=1 + n % 2) for n in range(1, 41)]
    log.write_text("; MaxProcs: 8\n" + "".join(jobs))
    found = sw.whatif(log, "load=x2", "nodes=x0.5", shakes=8, progress=False, workers=1)
    assert any(line.startswith("load=x2: under easy jobs wait ") for line in found.answer)
    (changed,) = [row for row in found.table if row["setting"] == "load=x2"]
    assert changed["to_same_over"] == "8 shakes"
    assert 1 < changed["to_same_ratio_low"] <= changed["to_same_ratio"] <= changed["to_same_ratio_high"]
    assert {row["setting"] for row in found.left_out} == {"nodes=x0.5"}
    assert {row["end"] for row in found.left_out} == {"rejected"}
    assert len(found.left_out) == sum(1 + n % 8 > 4 for n in range(1, 41))
    assert [one["name"] for one in found.omissions] == ["partitions"]


def test_a_wrong_name_is_refused_before_anything_runs() -> None:
    """With the nearest one; options of reading too."""
    with pytest.raises(SpecError, match="easy"):
        sw.compare("kth-like:jobs=5", "eazy", **QUICK)
    with pytest.raises(SpecError, match=r"unknown option 'formt'; known: .*format"):
        sw.read("mine.swf", formt="sacct")
    with pytest.raises(AttributeError, match=r"it has .*compare"):
        sw.compaer  # noqa: B018


def test_info_of_a_log() -> None:
    """Figures by name, as the command prints them."""
    log = Path(__file__).parents[1] / "data" / "swf" / "small.swf"
    assert sw.read(log).info()["records"] == "8"


@pytest.mark.slow
def test_a_plain_script_without_a_main_guard(tmp_path: Path) -> None:
    """Its own class is a policy; several runs are played, and the script is not run again by their processes."""
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "4"]


def test_the_import_is_light() -> None:
    """It loads itself and nothing else of ours, and no package from elsewhere; names come when they are used."""
    code = (
        "import sys; before = set(sys.modules); import spillway; new = set(sys.modules) - before;"
        " print(sorted(name for name in new if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['spillway']"
