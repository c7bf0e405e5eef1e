"""The commands on the pages are accepted by the program."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from spillway.experiments.cli import build_parser, expanded, main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
OPERATORS = ("|", ">", "&&", "&", "||")


def commands(page: Path) -> list[list[str]]:
    """Words of each command ``spillway ...`` in a page's blocks, up to the shell's own operators."""
    lines = [
        line.strip().removeprefix("$ ")
        for block in BLOCK.findall(page.read_text())
        for line in re.sub(r"\\\n\s*", " ", block).splitlines()
    ]
    split = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("spillway ")]
    return [words[: min((words.index(sign) for sign in OPERATORS if sign in words), default=None)] for words in split]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_taken(page: Path) -> None:
    """Options, their values and actions exist; nothing is played."""
    for words in commands(page):
        with contextlib.redirect_stdout(io.StringIO()):
            if words[-1] in ("--help", "--version"):
                with pytest.raises(SystemExit, match="0"):
                    build_parser().parse_args(expanded(words))
            else:
                assert build_parser().parse_args(expanded(words))


def test_there_are_commands() -> None:
    """The pattern still finds them."""
    assert sum(len(commands(page)) for page in PAGES) > 60


def test_runs_of_the_demo_are_named_as_on_the_pages(tmp_path: Path) -> None:
    """Patterns of folders below ``results/demo`` fit the names of runs (the model's name in them had changed)."""
    campaign = tmp_path / "demo.toml"
    campaign.write_text(
        'engine = "fluid"\nplots = false\n[[workload]]\nsource = "kth-like:jobs=3"\n[[platform]]\nsource = "thesis"\n'
        '[[policy]]\npolicy = "easy-no-bb"\n[[policy]]\npolicy = "easy"\n'
    )
    assert main([str(campaign), "--out", str(tmp_path / "out")]) == 0
    patterns = {
        pattern
        for page in PAGES
        for pattern in re.findall(r"(?:results/demo/|glob\(\")(kth-like_[a-z0-9*_-]+)", page.read_text())
    }
    assert len(patterns) >= 2
    for pattern in patterns:
        assert len(list((tmp_path / "out").glob(pattern))) == 1, pattern
