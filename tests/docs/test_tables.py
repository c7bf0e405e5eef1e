"""Tables of the pages: a line that follows a table without an empty one becomes a row of it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"])


def glued(text: str) -> list[str]:
    """Lines right below a table outside of blocks of code, and lines right above one."""
    found, in_code, before = [], False, ""
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        is_row, was_row = (text.lstrip().startswith("|") for text in (line, before))
        if not in_code and is_row != was_row and line.strip() and before.strip():
            found.append(before if is_row else line)
        before = "" if in_code else line
    return found


def test_what_is_found() -> None:
    """A sentence right below a table or right above one; in a block of code, or after an empty line, nothing."""
    table = "| a |\n| --- |\n| 1 |\n"
    assert glued(f"{table}below\n") == ["below"]
    assert glued(f"above\n{table}") == ["above"]
    assert glued(f"text\n\n{table}\ntext\n\n```\nabove\n{table}below\n```\n") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_stand_alone(page: Path) -> None:
    """The text below the deviations of docs/slurm.md was the last row of its table."""
    assert glued(page.read_text(encoding="utf-8")) == []
