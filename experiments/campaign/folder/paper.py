"""Formats of figures and tables: kinds of files, the width of a paper's column, a style of one's own."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.base.arguments import Parser, add_declared, given
from spillway.base.near import near
from spillway.base.options import build
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import Playing

FIGURES = ("png", "svg", "pdf", "pgf")
TABLES = ("tex", "parquet")
OPTIONS = ("figures", "width", "style")
"""Options of :class:`spillway.experiments.run.spec.Playing` for figures, on every command that draws."""


@dataclass(frozen=True)
class Paper:
    """Formats that :class:`spillway.experiments.run.spec.Playing` states, parsed.

    Attributes
    ----------
    figures, tables
        Kinds of files of each figure, and of the summary besides CSV.
    width_mm
        Width of every figure; 0: the figure's own.
    style
        File of a Matplotlib style; "": no such file.
    """

    figures: tuple[str, ...]
    tables: tuple[str, ...]
    width_mm: float
    style: str


def add_figures(parser: Parser) -> None:
    """Add the options for figures to a command line."""
    add_declared(parser.add_argument_group("figures"), Playing, *OPTIONS)


def paper_given(options: argparse.Namespace) -> Paper:
    """Formats that a command line states; raise :class:`SpecError` as :func:`paper_of`."""
    return paper_of(build(Playing, given(options, Playing)))


def paper_of(playing: Playing) -> Paper:
    """Parse the formats of figures and tables.

    Raises
    ------
    SpecError
        A kind is unknown or cannot be written here, a length or a style is wrong.
    """
    figures, tables = _kinds("--figures", playing.figures, FIGURES), _kinds("--tables", playing.tables, TABLES)
    if "pgf" in figures and not shutil.which("xelatex"):
        raise SpecError(
            "--figures pgf: Matplotlib needs xelatex for the size of letters, which is not on PATH; use pdf"
        )
    if "parquet" in tables and not importlib.util.find_spec("pyarrow"):
        raise SpecError("--tables parquet needs pyarrow: pip install 'spillway[parquet]'")
    if playing.style:
        _check_style(Path(playing.style))
    return Paper(figures, tables, _millimetres(playing.width), playing.style)


def _kinds(option: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    kinds = tuple(dict.fromkeys(text.split(","))) if text else ()
    for kind in kinds:
        if kind not in known:
            raise SpecError(f"{option} {text}: expected kinds of {', '.join(known)}, got {kind!r}{near(kind, known)}")
    return kinds


def _millimetres(text: str) -> float:
    """A length in millimetres; 0 for no text."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(mm|cm|in)", text)
    length = float(found[1]) * {"mm": 1.0, "cm": 10.0, "in": 25.4}[found[2]] if found else 0.0
    if text and not 40.0 <= length <= 1000.0:
        raise SpecError(f"--width {text}: expected 40 mm to 1 m with its unit, such as 84mm, 8.4cm or 3.3in")
    return length


def _check_style(path: Path) -> None:
    """Refuse a style from which Matplotlib would leave something out and only log that."""
    import logging

    import matplotlib as mpl

    if not path.is_file():
        raise SpecError(f"--style: there is no file {str(path)!r}; expected a Matplotlib style (.mplstyle)")
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage().strip())  # type: ignore[method-assign]
    logger = logging.getLogger("matplotlib")
    before, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        mpl.rc_params_from_file(path, use_default_template=False)
    except (OSError, ValueError) as error:
        said.append(str(error))
    finally:
        logger.removeHandler(handler)
        logger.propagate = before
    if said:
        raise SpecError(f"--style {path}: {said[0].splitlines()[0]}")
