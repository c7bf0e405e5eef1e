"""The gallery of the documentation: every kind of plot, by commands that are right."""

import ast
import shlex
from pathlib import Path

import pytest

from docs.tools import gallery
from docs.tools.gallery import EXHIBITS, IMAGES, PAGE, Exhibit
from spillway.experiments import cli

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 3_000_000


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.name)
def test_the_command_is_right(exhibit: Exhibit) -> None:
    """The command that the page shows is read without complaint."""
    name, *rest = shlex.split(exhibit.typed(f"results/{exhibit.name}"))
    assert cli.parser_of(name).parse_args(rest)


def test_every_kind_of_plot_is_shown() -> None:
    """A new kind of plot, a public function that returns the axes it drew into, needs a picture in the gallery."""
    shown = {plot for exhibit in EXHIBITS for picture in exhibit.pictures for plot in picture.plots}
    drawing = {
        node.name
        for path in (ROOT / "analysis" / "plots").glob("[!_]*.py")
        if path.stem != "style"
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id == "Axes"
    }
    assert len(drawing) > 10
    assert drawing == shown


def test_the_page_is_made_of_the_table() -> None:
    """The page is up to date, its pictures are there and small, and no other pictures are beside them."""
    assert PAGE.read_text(encoding="utf-8") == gallery.page()
    kept = {exhibit.image(picture) for exhibit in EXHIBITS for picture in exhibit.pictures}
    assert kept == set(IMAGES.iterdir())
    assert sum(path.stat().st_size for path in kept) < MOST_BYTES
