"""The hash of the code that decides: which modules it covers, and that nothing else changes it."""

import ast
import subprocess
import sys
import types
from pathlib import Path

import pytest

from spillway.experiments.run import codehash
from spillway.experiments.run.codehash import REPOSITORY, ROOT, TABLES, code_of, modules_of
from spillway.schedulers.policies import POLICIES

RUN = "spillway.experiments.run.simulation"
KEEPERS = {
    f"spillway.experiments.{name}"
    for name in ("campaign.folder.reuse", "run.errors", "run.folders", "run.manifest", "run.spec", "run.version")
}
"""Modules that describe and keep results."""
BEFORE = {"spillway.platforms.simgrid.annotate", "spillway.schedulers.service.arguments"}
"""Modules of inputs, which count with their checksums, and of command lines."""


def imported(tree: ast.AST) -> set[str]:
    """Names that the parser of Python finds imported."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            found.add(str(node.module))
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


@pytest.mark.parametrize("package", sorted(path.name for path in ROOT.iterdir() if path.is_dir()))
def test_no_import_is_overlooked(package: str) -> None:
    """The quick search finds all that Python's parser finds, in every file of ours."""
    for path in (ROOT / package).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert imported(ast.parse(text)) <= set(codehash._imports(text)), path


def test_layouts_of_imports() -> None:
    """Lists over several lines, other names, comments, inside functions."""
    text = "import a.b, c as d  # e\ndef f():\n    from g import (  # h\n        i as j,\n        k,\n    )\n"
    text += "from l import m, \\\n    n\n"
    assert set(codehash._imports(text)) >= {"a", "a.b", "c", "g.i", "g.k", "l.m", "l.n"}
    assert not {"e", "g.h"} & set(codehash._imports(text))


def test_a_run_loads_nothing_that_is_not_covered(tmp_path: Path) -> None:
    """Of our modules that a process has loaded after a run, only those that are left out on purpose are not hashed."""
    script = f"""
import sys
from pathlib import Path
from spillway.experiments.cli import parser_of
from spillway.experiments.campaign.comparison import campaign_of
from spillway.experiments.campaign.grid import expand
from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Playing, Task
given = ["--workload", "kth-like:jobs=3", "--model", "io", "--policy", "plan"]
campaign, root = campaign_of(parser_of('run').parse_args(given)), Path({str(tmp_path)!r})
(model,) = campaign.models
pairs = Inputs(root, print).pairs(campaign.workloads, campaign.platforms, model, 0)
(run,) = expand(campaign, {{(model.label, 0): pairs}})
execute(Task(run, root, Playing()))
print(*(name for name in sys.modules if name.startswith("spillway.")))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    decides = {
        name
        for name in loaded
        if name.startswith(("spillway.schedulers.", "spillway.simulator.", "spillway.platforms."))
    }
    assert {
        "spillway.simulator.wire.broker",
        "spillway.schedulers.core.session",
        "spillway.schedulers.policies.plan",
    } <= decides
    policies = {name: entry.cls.__module__ for name, entry in POLICIES.items()}
    assert (
        decides - modules_of(RUN, policies["plan"]).keys() - {*TABLES, *BEFORE} <= modules_of(*policies.values()).keys()
    )


def test_what_a_policy_needs() -> None:
    """Its module and all that this imports; not the other policies, and no module that only handles results."""
    covered = modules_of(RUN, POLICIES["plan"].cls.__module__)
    assert {
        "spillway.schedulers.policies.plan",
        "spillway.schedulers.policykit.planning",
        "spillway.schedulers.core.session",
    } <= covered.keys()
    assert {
        "spillway.core",
        "spillway.simulator.engines.native",
        "spillway.experiments.run.job_table",
    } <= covered.keys()
    assert not {"spillway.schedulers.policies.backfill", "spillway.schedulers.policies.pack"} & covered.keys()
    assert not {*KEEPERS, *TABLES, "spillway.analysis.measures.metrics"} & covered.keys()
    assert codehash._keepers() >= KEEPERS
    assert code_of(RUN, "spillway.schedulers.policies.plan") != code_of(RUN, "spillway.schedulers.policies.backfill")


def test_a_policy_in_a_file_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts with its neighbours that it imports; with a byte of one changed the hash is another."""
    (tmp_path / "mine.py").write_text("from helper import best\nfrom spillway.schedulers.policykit import ordering\n")
    (tmp_path / "helper.py").write_text("best = 1\n")
    module = types.ModuleType("mine_of_a_test")
    module.__file__ = str(tmp_path / "mine.py")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert {"helper", "spillway.schedulers.policykit.ordering"} <= modules_of(module.__name__).keys()
    before = code_of(module.__name__)
    (tmp_path / "helper.py").write_text("best = 2\n")
    assert code_of(module.__name__) == before, "a process says what it loaded, not what came later"
    codehash._sha256.cache_clear()
    code_of.cache_clear()
    assert code_of(module.__name__) != before


def test_the_compiled_core_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the sources that it was built from; code that does not import it has no other hash for that."""
    code_of.cache_clear()
    before = code_of(RUN), code_of("spillway.base.files")
    monkeypatch.setattr(codehash, "core_code", lambda: "another")
    code_of.cache_clear()
    assert code_of(RUN) != before[0]
    assert code_of("spillway.base.files") == before[1]
    code_of.cache_clear()


def test_what_is_claimed_makes_no_result() -> None:
    """Failed before: every change of the judge made the results of all studies those of other code."""
    covered = modules_of("spillway.experiments.studies.measures").keys()
    assert "spillway.experiments.studies.points" in covered
    assert (
        not {
            "spillway.experiments.studies",
            "spillway.experiments.studies.claims",
            "spillway.experiments.studies.figures",
        }
        & covered
    )
