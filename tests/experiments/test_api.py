"""``import spillway``: comparisons and what-if questions from a script, a notebook and a test."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

import spillway as sw
from spillway.base.errors import OptionError
from spillway.experiments.api.scripts import module_of
from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.platforms.errors import PlatformError
from spillway.schedulers.policies.backfill import Backfill
from spillway.simulator.errors import Deadlock
from spillway.workloads.errors import WorkloadError

QUICK: dict[str, Any] = {"engine": "fixed", "progress": False, "workers": 1}

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")

SCRIPT = PAGE.partition("```python\n")[2].partition("```")[0]
"""Fifteen lines without a main guard."""

PRINTED = "True InOrder easy depth=1 fcfs 20\n"


def own_log(folder: Path) -> Path:
    """Forty jobs in two queues, on eight nodes."""
    path = folder / "mine.swf"
    row = "{n} {submit} 0 100 {size} -1 -1 {size} 200 -1 1 1 1 -1 {queue} -1 -1 -1\n"
    jobs = [row.format(n=n, submit=30 * n, size=1 + n % 8, queue=1 + n % 2) for n in range(1, 41)]
    path.write_text("; MaxProcs: 8\n" + "".join(jobs))
    return path


@dataclass(frozen=True)
class _Weighted:
    """A policy with a field that is no option."""

    factor: float = 1.0

    def __call__(self, view: Any) -> Any:
        """Starts nothing."""
        return iter(())


@dataclass(frozen=True)
class Lazy:
    """One job at a time, so that every other policy does better."""

    def __call__(self, view: Any) -> Any:
        """Start only the first job of an idle machine."""
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
    """Named by the values that only this run has; else the existing runs are listed."""
    table = results.jobs(policy="easy", seed=1)
    assert len(table) == 40
    held = results.holdings(policy="easy", seed=1)
    assert {row["job_id"] for row in held} == {str(number) for number in range(1, 41)}
    with pytest.raises(SpecError, match=r"policy='easy' is that of 2; there are: .*easy on kth-like, seed 0"):
        results.jobs(policy="easy")


def test_to_pandas_says_what_is_missing(results: sw.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas is no dependency of the project."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        results.to_pandas()


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
    """And returns them; a figure of one run lists the runs if several match."""
    axes = plt.figure().add_subplot()
    assert results.plot(figure, axes, **chosen) is axes
    assert axes.has_data() or axes.collections
    plt.close(axes.figure)
    if "policy" in chosen:
        with pytest.raises(SpecError, match="there are: easy on kth-like, seed 0"):
            results.plot(figure, policy="easy")
        plt.close("all")


def test_an_instance_is_a_policy_with_its_options(tmp_path: Path) -> None:
    """Its fields are the options that differ, and are in the label; an object that is no policy is refused."""
    found = sw.compare("kth-like:jobs=20", [Backfill(depth=2), Backfill()], folder=tmp_path / "out", **QUICK)
    assert [row["policy"] for row in found.runs] == ["Backfill depth=2", "Backfill"]
    assert any("jobs of" in note for note in found.notes)
    with pytest.raises(SpecError, match="expected names, functions, classes or instances of policies, got 3"):
        sw.compare("kth-like:jobs=20", [3], **QUICK)


def test_save_and_explain(results: sw.Results, tmp_path: Path) -> None:
    """A folder as the commands write it, with the stories of its jobs; an existing one is not overwritten."""
    saved = results.save(tmp_path / "kept")
    assert saved.runs == results.runs
    assert any("started" in line for line in saved.explain(7, policy="easy", seed=0))
    with pytest.raises(SpecError, match="exists"):
        results.save(tmp_path / "kept")
    assert ">Lazy</td>" in saved._repr_html_()


def test_whatif_has_a_table_and_sentences(tmp_path: Path) -> None:
    """Bands, the jobs that one change rejects, and the parts of the log that are not played, as rows."""
    log = own_log(tmp_path)
    found = sw.whatif(log, "load=x2", "nodes=x0.5", shakes=8, progress=False, workers=1)
    assert any(line.startswith("load=x2: under easy jobs wait ") for line in found.answer)
    (changed,) = [row for row in found.table if row["setting"] == "load=x2"]
    assert changed["to_same_over"] == "8 shakes"
    assert 1 < changed["to_same_ratio_low"] <= changed["to_same_ratio"] <= changed["to_same_ratio_high"]
    assert {row["setting"] for row in found.left_out} == {"nodes=x0.5"}
    assert {row["end"] for row in found.left_out} == {"rejected"}
    assert len(found.left_out) == sum(1 + n % 8 > 4 for n in range(1, 41))
    assert [omission["name"] for omission in found.omissions] == ["partitions"]


def test_a_wrong_name_is_refused_before_anything_runs() -> None:
    """With the nearest one; options of reading too."""
    with pytest.raises(SpecError, match="easy"):
        sw.compare("kth-like:jobs=5", "eazy", **QUICK)
    with pytest.raises(SpecError, match=r"unknown option 'formt'; known: .*format"):
        sw.read("mine.swf", formt="sacct")
    with pytest.raises(AttributeError, match=r"it has .*compare"):
        sw.compaer  # noqa: B018


@pytest.mark.parametrize(("chosen", "words"), [
    ({"tau_s": -1}, "option 'tau_s' must be a number from 0.001 to 1e+09 (s), got '-1'"),
    ({"tau_s": "x"}, "option 'tau_s' must be"),
    ({"workers": "x"}, "option 'workers' must be a whole number from 0 to 100000, got 'x'"),
    ({"workers": -1}, "option 'workers' must be a whole number from 0 to 100000, got '-1'"),
    ({"seeds": {1: 2}}, "seeds: expected a whole number or a list of them, got {1: 2}"),
    ({"seeds": "12"}, "seeds: expected a whole number"),
    ({"seeds": [1, 2.5]}, "seeds: expected a whole number of at least 0 or a list of them, got 2.5"),
    ({"seeds": True}, "seeds: expected a whole number"),
    ({"engine": "x"}, "option 'engine' must be"),
    ({"events": 1}, "option 'events' must be a text, got '1'"),
    *(({name: nothing}, "at least one log and one seed") for name, nothing in (
        ("seeds", 0), ("seeds", []), ("seeds", -2), ("logs", []))),
    ({"logs": 5}, "expected a log by name, file or sw.read(...), got 5"),
    ({"logs": b"kth-like"}, "expected a log by name"),
    ({"machine": 5}, "machine: expected a name, a file or a result of machine(), got 5"),
    ({"settings": 5}, "settings: expected values by name"),
    ({"folder": 5}, "folder: expected a path, got 5"),
    ({"models": [5]}, "models: expected texts, got 5"),
    ({"policies": [lambda view: ()]}, "a lambda has no name"),
    ({"policies": [_Weighted(factor=2.0)]}, "its field 'factor' is no option"),
])  # fmt: skip
def test_a_wrong_value_is_refused_at_once(chosen: dict[str, Any], words: str, tmp_path: Path) -> None:
    """Failed before: inside a run, with an error of Python's, or with empty results."""
    given = {"logs": "kth-like:jobs=5", "policies": ["fcfs"], "machine": "tiny", "folder": tmp_path / "out"}
    with pytest.raises(sw.SpillwayError, match=re.escape(words)):
        sw.compare(**(given | {"progress": False} | chosen))
    assert not (tmp_path / "out").exists()
    if (
        chosen.keys() <= {"workers", "seeds"}
        and words != "at least one log and one seed"
        and chosen != {"seeds": [1, 2.5]}
    ):
        with pytest.raises(OptionError, match=r"(seeds: expected|option 'workers' must be) a whole number"):
            sw.whatif("kth-like:jobs=5", "nodes=9", machine="tiny", folder=tmp_path / "out", **chosen)


def test_info_of_a_log(tmp_path: Path) -> None:
    """Figures by name, as the command prints them: of a log, a generator, and a Batsim workload; no line is lost."""
    log = Path(__file__).parents[1] / "data" / "swf" / "small.swf"
    assert sw.info(log)["records"] == 8
    assert sw.info("kth-like:jobs=20")["log"] == "kth-like"
    assert sw.info(own_log(tmp_path), nodes=16)["processors of the machine"] == 16
    twice = sw.info(sw.where(own_log(tmp_path), partition="2", time="0..600"))
    assert str(twice["lines"]).splitlines() == [
        "read 10 lines: as written",
        "left out 20 lines: partition is not 2",
        "left out 10 lines: time is not 0..600",
    ]
    assert main(["workload", "convert", str(log), "--out", str(tmp_path / "small.json")]) == 0
    assert int(sw.info(tmp_path / "small.json")["jobs"]) > 0


def test_jobs_of_a_log_are_chosen_by_field(tmp_path: Path) -> None:
    """Values of one field are alternatives; a second filter by it would widen the first, and is refused."""
    log = sw.where(own_log(tmp_path), partition=["1", "2"], time="0..600")
    assert log.reading["where"] == ("partition=1", "partition=2", "time=0..600")
    assert sw.where(sw.where("a.swf", user="1"), state="failed").reading["where"] == ("user=1", "state=failed")
    with pytest.raises(SpecError, match=r"filtered by 'partition=1' already; give all values of partition at once"):
        sw.where(log, partition="2")
    with pytest.raises(SpecError, match="expected a condition: partition=, user="):
        sw.where(log)
    with pytest.raises(WorkloadError, match=r"expected a range FROM\.\.TO"):
        sw.where("a.swf", time="2024")


def test_the_machine_of_a_log(tmp_path: Path) -> None:
    """Its nodes, and their source; it is the one that the log is played on if no machine is named."""
    log = sw.read(own_log(tmp_path))
    machine = sw.machine(log)
    assert machine.facts.nodes == 8
    assert machine.notes[0].startswith("machine: 8 nodes of 1 processor each (the workload states so many")
    own = sw.compare(log, "fcfs", folder=tmp_path / "own", **QUICK)
    given = sw.compare(log, "fcfs", machine=machine, folder=tmp_path / "given", **QUICK)
    assert [row["mean_waiting_time_s"] for row in own.runs] == [row["mean_waiting_time_s"] for row in given.runs]
    assert sw.machine(log, burst_buffer_total="2 TB").facts.all_storage_bytes == 2e12
    assert sw.machine(nodes=16).facts.nodes == 16
    assert sw.machine("tiny").spec.source == "tiny"


@pytest.mark.parametrize(("of", "stated", "words"), [
    ((), {}, r"expected the name of a machine, nodes=N, or a log such as sw\.read"),
    (("tiny",), {"nodes": 4}, "nodes= and platform= exclude each other"),
    (("thesiss",), {}, "thesis"),
    ((), {"nodes": 4, "burst_buffer_total": "80"}, "burst_buffer_total=: "),
    ((), {"nodes": 0}, "1 <= N"),
])  # fmt: skip
def test_a_wrong_machine_is_refused(of: tuple[str, ...], stated: dict[str, Any], words: str) -> None:
    """In the words of Python."""
    with pytest.raises((SpecError, PlatformError), match=words):
        sw.machine(*of, **stated)


def test_a_policy_is_checked_where_it_is_named(tmp_path: Path) -> None:
    """A name with its options, or a class: errors are reported at once; both are compared."""
    assert sw.policy("easy:depth=2").options == sw.policy("easy", depth="2").options == {"depth": 2}
    assert sw.policy(Backfill, depth=2) == Backfill(depth=2)
    for of, options, words in (
        ("easy", {"dept": 2}, "depth"),
        ("easy:depth=2", {"depth": 3}, "depth is given twice"),
        (Backfill, {"depth": -3}, "depth"),
        (int, {}, "policy int must be a frozen dataclass"),
    ):
        with pytest.raises((SpecError, OptionError), match=words):
            sw.policy(of, **options)
    found = sw.compare(
        "kth-like:jobs=20", [sw.policy("easy", depth=2), sw.policy(Backfill, depth=2)], folder=tmp_path / "a", **QUICK
    )
    assert [row["policy"] for row in found.runs] == ["easy depth=2", "Backfill depth=2"]
    asked = sw.whatif("kth-like:jobs=20", "load=x1.1", policy=Backfill(depth=2), seeds=1, shakes=0, progress=False)
    assert "backfill:Backfill depth=2" in {row["policy"].rpartition(".")[2] for row in asked.runs}


PLAYS_WHEN_IMPORTED = """
from dataclasses import dataclass
import spillway as sw

@dataclass(frozen=True)
class Mine:
    def __call__(self, view):
        return ()

sw.compare("kth-like:jobs=20", [Mine, "easy"], engine="fixed", workers=2, progress=False)
"""


@pytest.mark.parametrize("script", ["import mine_of_a_test", "import spillway; spillway.policy('mine_of_a_test.py')"])
def test_a_module_that_plays_when_it_is_imported_is_told_so(script: str, tmp_path: Path) -> None:
    """Failed before with "daemonic processes are not allowed to have children": each run loaded it and played again."""
    (tmp_path / "mine_of_a_test.py").write_text(PLAYS_WHEN_IMPORTED)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "line 10: SpecError: mine_of_a_test" in done.stderr
    assert "is being loaded for a class in it and begins to play: put its calls below if __name__ ==" in done.stderr


@pytest.mark.slow
def test_a_plain_script_without_a_main_guard(tmp_path: Path) -> None:
    """Its own class is a policy; several runs are played, and the script is not run again by their processes."""
    own_log(tmp_path)
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == PRINTED


def test_a_class_of_a_notebook_with_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last definition of each name counts, with what is added to it; cells that are no Python are left out."""
    cells = ["import math, spillway as sw", "%magic", "FACTOR = 1 / 0", "FACTOR = [2]\nFACTOR.append(3)"]
    cells += [
        "def key(job):\n    return math.log(sum(FACTOR))",
        "class Own:\n    def __call__(self, view):\n        key(1)",
    ]
    main = type(sys)("__main__")
    main.In = [*cells, "sw.compare('kth-like', [Own])"]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__main__", main)
    source = module_of(type("Own", (), {"__module__": "__main__"}))
    assert "FACTOR = [2]\nFACTOR.append(3)" in source
    assert "1 / 0" not in source
    assert "compare" not in source
    exec(source, {"__name__": "own"})
    with pytest.raises(OSError, match="no script or cell has it"):
        module_of(type("Other", (), {"__module__": "__main__"}))


CHANGED = """
import spillway as sw
from spillway.schedulers.policykit.passes import fill

TABLE = {}
for size in range(9):
    TABLE[size] = size
def prepare(table):
    table["made"] = 1
prepare(TABLE)
if len(TABLE) > 9:
    try:
        TABLE.update(more=2)
    finally:
        pass
LIMIT = 1
LIMIT = LIMIT + 1
if LIMIT > 5:
    LIMIT = 0
del TABLE[0]
print(TABLE)
MACHINE = sw.machine("tiny")
def play():
    return sw.compare("kth-like", [Own])
class Own:
    def __call__(self, view):
        return TABLE, LIMIT, MACHINE
for _ in range(2):
    TABLE["best"] = play()
play()
"""


def test_what_a_script_does_to_its_constants_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops, conditions, functions and deletions lost their effect in the other processes; what plays is left out."""
    main = type(sys)("__main__")
    main.In = [CHANGED]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__main__", main)
    names: dict[str, Any] = {"__name__": "own"}
    exec(module_of(type("Own", (), {"__module__": "__main__"})), names)
    table, limit, machine = names["Own"]()(None)
    assert (table, limit) == ({**{size: size for size in range(1, 9)}, "made": 1, "more": 2}, 2)
    assert machine.facts.nodes > 0
    assert "play" not in names


def test_a_simulation_that_ended_or_failed_has_no_step() -> None:
    """The process died by a segmentation fault."""
    simulation = sw.Simulation("kth-like:jobs=3", machine="tiny")
    assert simulation.step()
    job = simulation.queue[0]
    with pytest.raises(Deadlock):
        all(iter(simulation.step, False))
    assert (simulation.step(), simulation.queue, simulation.fits(job)) == (False, (), False)
    with pytest.raises(sw.SpillwayError, match="does not wait now"):
        simulation.start(job)
    other = sw.Simulation("kth-like:jobs=3", machine="tiny")
    assert other.step()
    other.close()
    assert (other.step(), other.queue) == (False, ())


def test_the_caller_is_the_scheduler() -> None:
    """Starts in order of submission give the schedule of fcfs; wrong starts are refused."""
    with sw.Simulation("kth-like:jobs=60", engine="fixed") as simulation:
        while simulation.step():
            for job in simulation.queue:
                if not simulation.fits(job):
                    with pytest.raises(sw.SpillwayError, match="does not fit now"):
                        simulation.start(job)
                    break
                before_s = simulation.now_s
                simulation.start(job)
                assert simulation.now_s == before_s
                with pytest.raises(sw.SpillwayError, match="does not wait now"):
                    simulation.start(job)
        assert not simulation.step()
    theirs = sw.compare("kth-like:jobs=60", "fcfs", **QUICK).jobs()
    assert {job["job"]: job["start_s"] for job in simulation.jobs} == pytest.approx(
        dict(zip(theirs.job_id, theirs.start_s.tolist(), strict=True))
    )
    with pytest.raises(sw.SpillwayError, match="expected one of"):
        sw.Simulation("kth-like:jobs=5", engine="fluidd")


def test_results_compare_policies(results: sw.Results) -> None:
    """With an interval over runs; a wrong name has the nearest one."""
    found = results.compare("easy", "Lazy")
    assert found.pairs == 80
    assert found.ratio.value < 1
    assert results.compare("easy", "easy").ratio.value == 1
    with pytest.raises(sw.SpillwayError, match="did you mean 'easy'"):
        results.compare("esay", "Lazy")
    with pytest.raises(sw.SpillwayError, match="expected wait_s"):
        results.compare("easy", "Lazy", metric="slowdown")


def test_a_log_of_jobs_in_memory() -> None:
    """A list of jobs; names of users become numbers; wrong columns and values are refused with the job."""
    jobs = [{"submit_s": 10 * n, "run_s": 100, "nodes": 4, "walltime_s": 200, "user": f"u{n % 2}"} for n in range(8)]
    made = sw.log(jobs, nodes=8)
    assert sw.info(made)["records"] == 8
    table = sw.compare(made, "fcfs", **QUICK).jobs()
    assert (len(table), table.nodes.tolist(), set(table.user)) == (8, [4] * 8, {"1", "2"})
    with pytest.raises(sw.SpillwayError, match="unknown column 'submit'; did you mean 'submit_s'"):
        sw.log([{"submit": 1}])
    with pytest.raises(sw.SpillwayError, match="missing: run_s"):
        sw.log([{"submit_s": 1, "nodes": 2}])
    with pytest.raises(sw.SpillwayError, match="job 1: run_s: expected a finite number, got 'long'"):
        sw.log([{"submit_s": 1, "nodes": 2, "run_s": "long"}])


def test_options_by_their_name(tmp_path: Path) -> None:
    """``first`` was an unknown option of ``read``, ``qos`` one of ``where``; figures were texts."""
    path = own_log(tmp_path)
    assert sw.compare(sw.read(path, first=5), "fcfs", **QUICK).runs[0]["jobs"] == 5
    with pytest.raises(sw.SpillwayError, match="expected a whole number"):
        sw.read(path, first="5")
    assert sw.where(path, qos="high").reading["where"] == ("qos=high",)
    found = sw.info(path)
    assert (found["records"], found["size, largest"]) == (40, 8)


def test_a_dozen_names() -> None:
    """Each with its meaning, here and on the page."""
    assert sorted(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == sorted(sw.__all__)
    assert len(sw.__all__) == 15
    assert all(getattr(sw, name).__doc__ for name in sw.__all__)


def test_the_import_is_light() -> None:
    """It loads itself and nothing else of ours, and no package from elsewhere; names come when they are used."""
    code = (
        "import sys; before = set(sys.modules); import spillway; new = set(sys.modules) - before;"
        " print(sorted(name for name in new if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['spillway']"
