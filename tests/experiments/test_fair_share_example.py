"""The example of the documentation: its own test, installed from its project file, run, checked, shown on its page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "fair_share"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example installed by pip into a folder, without a network."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "fair_share"
    source.mkdir()
    for name in ("pyproject.toml", "fair_share.py"):
        (source / name).write_bytes((EXAMPLE / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*pip, "--target", str(folder), str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def spillway(*arguments: str, site: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command beside the installed example."""
    path = os.pathsep.join([str(ROOT), str(site)])
    command = [sys.executable, "-m", "run_experiments", *arguments]
    return subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )


def test_its_own_test_passes(site: Path, tmp_path: Path) -> None:
    """As a user's continuous integration would run it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE / "tests")]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_runs_by_its_registered_name(site: Path, tmp_path: Path) -> None:
    """Beside a policy of ours; the run's record names the package."""
    given = ["--workload", "kth-like:jobs=40", "--platform", "thesis", "--policy", "easy"]
    given += ["--policy", "fair-share:half_life_s=86400", "--no-plots", "--workers", "1", "--out", "out"]
    done = spillway("run", *given, site=site, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    records = [json.loads(path.read_text()) for path in tmp_path.glob("out/**/run.json")]
    packages = [record["packages"] for record in records if "packages" in record]
    assert packages == [{"fair-share": "spillway-fair-share 1.0"}]


def test_it_keeps_the_rules_of_the_house(site: Path, tmp_path: Path) -> None:
    """Every check passes."""
    done = spillway("check-policy", "fair-share", "--cases", "1", site=site, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("  passed  ") == 7


def test_the_page_shows_it() -> None:
    """Word for word."""
    page = (ROOT / "docs" / "adding-a-policy.md").read_text()
    for name in ("fair_share.py", "pyproject.toml"):
        assert (EXAMPLE / name).read_text().strip() in page, name
