"""The documentation is as long as a newcomer can read."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_WORDS = 28_000
MOST_WORDS_OF_CHANGES = 1_500


def words(path: Path) -> int:
    """Number of words, as ``wc -w`` counts."""
    return len(path.read_text(encoding="utf-8").split())


def test_all_pages_together() -> None:
    """Without the reference, which is generated."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "reference" not in path.relative_to(ROOT).parts]
    pages += [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    assert sum(map(words, pages)) <= MOST_WORDS


def test_the_changes_of_a_release() -> None:
    """Older entries are in the history of the repository."""
    assert words(ROOT / "CHANGELOG.md") <= MOST_WORDS_OF_CHANGES
