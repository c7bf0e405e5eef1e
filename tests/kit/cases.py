"""Cases of tests that are values only: each a line of a file."""

import ast
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "data" / "cases"


def cases(name: str) -> list[Any]:
    """Lines of ``tests/data/cases/NAME.txt``: a value of Python each, or several with commas between them."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [ast.literal_eval(line) for line in lines]
