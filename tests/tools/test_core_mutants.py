"""``python -m tools.core_mutants`` changes one place of code, and no comment, text or assertion."""

import pytest

from tools.core_mutants import FOLDERS, mutants
from tools.mutants import ROOT


@pytest.mark.parametrize(("source", "changed"), [
    ("a = b < c;", ["a = b <= c;"]),
    ("while (a && b >= c)", ["while (a && b > c)", "while (a || b >= c)"]),
    ("a = b[k + 1];", ["a = b[k - 1];", "a = b[k];"]),
    ("a = std::min(b, c);", ["a = std::max(b, c);"]),
    ("std::vector<int> a;", []),
    ("f(T&& a);", []),
    ("// a < b\n/* a < b\n && c */", []),
    ('a = "b < c";', []),
    ("#if A < B\n  assert(a < b);", []),
])  # fmt: skip
def test_mutants(source: str, changed: list[str]) -> None:
    """Operators with spaces around them, ones added or subtracted, the smaller of two values."""
    assert [mutant.text for mutant in mutants("a.cpp", source)] == changed


def test_lines_are_those_of_the_file() -> None:
    """A mutant says where it is, and how the line reads then."""
    (found,) = mutants("a.cpp", "int a;\n\nif (b == c) d();\n")
    assert str(found) == "a.cpp:3: '==' -> '!=': if (b != c) d();"


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_have_mutants(folder: str) -> None:
    """The folders are there, and their files have places to change."""
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / folder).glob("*.cpp")}
    assert sum(len(list(mutants(name, text))) for name, text in texts.items()) > 50
