"""The example of the documentation: its own test, installed from its project file, run, checked, shown on its page."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from spillway.experiments.trials.disciplines import CHECKS

ROOT = Path(__file__).parents[3]
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


STEPS = """
import sys
from pathlib import Path
import pytest
from spillway.experiments.cli import main

tests, *run = sys.argv[1:]
codes = [
    pytest.main(["-q", "-p", "no:cacheprovider", tests]),
    main(run),
    main(["check-policy", "fair-share", "--cases", "1"]),
]
Path("codes.txt").write_text(" ".join(str(int(code)) for code in codes))
"""
"""Its own tests as a user's continuous integration runs them, a comparison, and the check: one process, as most of
the time of each is that of starting."""

RUN = ["--workload", "kth-like:jobs=40", "--platform", "thesis", "--policy", "easy"]
RUN += ["--policy", "fair-share:half_life_s=86400", "--no-plots", "--workers", "1", "--out", "out"]


@dataclass(frozen=True)
class Used:
    """Results of the steps: exit codes, output, the folder."""

    codes: list[int]
    text: str
    folder: Path


@pytest.fixture(scope="module")
def used(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Used:
    """The installed example used, beside a folder of work."""
    folder = tmp_path_factory.mktemp("used")
    command = [sys.executable, "-c", STEPS, str(EXAMPLE / "tests"), "run", *RUN]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    return Used([int(code) for code in (folder / "codes.txt").read_text().split()], text, folder)


def test_its_own_test_passes(used: Used) -> None:
    """It is found (pytest's exit code would be 5) and passes."""
    assert used.codes[0] == 0, used.text


def test_it_runs_by_its_registered_name(used: Used) -> None:
    """Beside a policy of ours; the run's record names the package."""
    assert used.codes[1] == 0, used.text
    records = [json.loads(path.read_text()) for path in used.folder.glob("out/**/run.json")]
    packages = [record["packages"] for record in records if "packages" in record]
    assert packages == [{"fair-share": "spillway-fair-share 1.0"}]


def test_it_keeps_the_rules_of_the_house(used: Used) -> None:
    """Every check passes."""
    assert used.codes[2] == 0, used.text
    assert used.text.count("  passed  ") == len(CHECKS)


def test_the_page_shows_it() -> None:
    """Word for word."""
    page = (ROOT / "docs" / "adding-a-policy.md").read_text()
    for name in ("fair_share.py", "pyproject.toml"):
        assert (EXAMPLE / name).read_text().strip() in page, name
