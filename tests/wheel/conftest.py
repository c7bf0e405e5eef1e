"""The wheel, built once for the tests of this folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports.graph import PACKAGES

ROOT = Path(__file__).parents[2]

FILES = ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "run_experiments.py")

COMPILER = """#!/bin/sh
for word; do
  case $before in -o) object=$word ;; -MF) rules=$word ;; esac
  before=$word
done
kept={objects}/$object
case $object in CMakeFiles/*.o) [ -f "$kept" ] && : >"$rules" && exec cp "$kept" "$object" ;; esac
exec {machines} "$@"
"""
"""Takes the objects of the working copy, compiled from the same sources with the same options."""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("spillway", *PACKAGES):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"), symlinks=True)
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    compiler = tmp_path_factory.mktemp("compiler") / "c++"
    compiler.write_text(
        COMPILER.format(
            objects=ROOT / "build" / "editable" if is_built() else "/no/objects",
            machines=os.environ.get("CXX") or "c++",
        )
    )
    compiler.chmod(0o755)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(out), str(source), CXX=str(compiler))
    (found,) = out.glob("spillway-*.whl")
    return found


def is_built() -> bool:
    """Whether the working copy's module was compiled from the present sources."""
    sources = [path for path in (ROOT / "core").rglob("*") if path.suffix in (".cpp", ".hpp", ".cmake")]
    newest = max(path.stat().st_mtime for path in (*sources, ROOT / "CMakeLists.txt"))
    return any(path.stat().st_mtime > newest for path in (ROOT / "core").glob("_native.*so"))


def pip(*arguments: str, **variables: str) -> None:
    """Call this interpreter's pip, without any index."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments, "--no-index"]
    environment = without_path() | variables
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def without_path() -> dict[str, str]:
    """The environment, in which the working copy cannot be seen."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
