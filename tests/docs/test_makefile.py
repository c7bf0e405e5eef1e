"""The lists of the Makefile name what exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_quick_tests_exist_and_are_of_every_package() -> None:
    """A list that names a file that is gone ends in an error, and one without a package says nothing about it."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"\btests/[\w/.]+", text[text.index("QUICK :=") : text.index("announce:\n")])
    assert [name for name in named if not (ROOT / name).exists()] == []
    packages = {
        "base",
        "protocol",
        "schedulers",
        "simulator",
        "platforms",
        "workloads",
        "analysis",
        "experiments",
        "learning",
    }
    assert packages <= {name.split("/")[1] for name in named}
