"""The rules of imports hold, and a probe that breaks one is caught."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports.graph import PACKAGES, REPOSITORY, imports, modules
from tests.imports.law import EXCEPTIONS, LAW, faults, rule_of
from tests.kit.cases import cases

OURS = modules()

PROBES = cases("imports")


@pytest.mark.parametrize("module", sorted(OURS))
def test_every_module_keeps_the_law(module: str) -> None:
    """A module imports only the modules that its rule names, except for the listed exceptions."""
    path = OURS[module]
    found = faults(module, path.read_text(), OURS, path.name == "__init__.py")
    assert [str(edge) for edge in found if (edge.module, edge.target) not in EXCEPTIONS] == []


@pytest.mark.parametrize(("module", "source"), PROBES)
def test_probe_is_caught(module: str, source: str) -> None:
    """A file that breaks the rules is named with the line of its import."""
    found = faults(module, source, OURS)
    assert [fault.line for fault in found] == [source.count("\n") + 1]
    assert module in str(found[0])


def test_every_rule_has_a_probe() -> None:
    """Every rule but those of the shell, which may import all of the scheduler, is broken by some probe."""
    probed = {rule_of(module) for module, _ in PROBES}
    shell = {
        "schedulers",
        "schedulers.service.pybatsim",
        "schedulers.service.pybatsim4",
        "protocol.transcript",
        "base.errors",
    }
    assert set(LAW) - probed == shell


def test_every_exception_is_needed() -> None:
    """An exception without its import must be deleted."""
    needed = {
        (module, fault.target)
        for module in {module for module, _ in EXCEPTIONS}
        for fault in faults(module, OURS[module].read_text(), OURS)
    }
    assert set(EXCEPTIONS) - needed == set()


def test_a_new_folder_needs_a_rule() -> None:
    """A module of a part that no rule names is an error, not free."""
    with pytest.raises(KeyError, match=r"no rule in tests/imports/law\.py holds for 'schedulers\.novel\.thing'"):
        rule_of("schedulers.novel.thing")


def test_the_documented_policy_keeps_the_law() -> None:
    """The policy that docs/adding-a-policy.md builds has only imports that the rule for policies allows."""
    page = (REPOSITORY / "docs" / "adding-a-policy.md").read_text()
    blocks = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "import View" in block]
    assert len(blocks) == 2
    for code in blocks:
        assert "schedulers.policykit.view" in {
            imported.target for imported in imports("schedulers.policies.own", code, frozenset(OURS))
        }
        assert faults("schedulers.policies.own", code, OURS) == []


def test_lint_imports_catches_a_probe(tmp_path: Path) -> None:
    """``lint-imports`` fails at a policy's forbidden import: once it printed "10 kept, 0 broken" here."""
    for package in (*PACKAGES, "spillway", "tests/imports"):
        shutil.copytree(
            REPOSITORY / package,
            tmp_path / package,
            ignore=shutil.ignore_patterns("__pycache__", "*.xz"),
            symlinks=True,
        )
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    (tmp_path / "tests" / "__init__.py").touch()
    denied = [
        "time",
        "spillway.schedulers.policies.backfill",
        "spillway.schedulers.core.book",
        "spillway.schedulers.core.guard",
        "spillway.protocol.messages",
    ]
    probe = tmp_path / "schedulers" / "policies" / "probe.py"
    probe.write_text("".join(f"import {target}\n" for target in denied))
    command = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    ended = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    said = " ".join(ended.stdout.split())
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert [
        f"schedulers.policies.probe, line {line}: imports {target.removeprefix('spillway.')}," in said
        for line, target in enumerate(denied, 1)
    ] == [True] * 5
    assert "Policies do not see each other, also indirectly BROKEN" in said
