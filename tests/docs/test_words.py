"""Docstrings name things: no summary begins with a question word, and no private idiom of old comes back."""

import ast
import re
from pathlib import Path

import pytest

from tests.imports.graph import REPOSITORY

FOLDERS = (
    "base",
    "protocol",
    "schedulers",
    "simulator",
    "experiments",
    "platforms",
    "workloads",
    "analysis",
    "learning",
)
QUESTION = re.compile(r"(?:What(?!-if)|How|Where|Who|Whose|Why)\b")
CLAUSE = re.compile(
    r"\b(?:of|in|by|for|from|on|than|with|as|and|is|are|or) "
    r"what (?:is|was|are|were|has|had|it|they|a|the|one|each|every|no)\b"
)
IDIOM = re.compile(r"\b(?:is through|every door|doomed|condemned|reprieve[ds]?)\b")


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_say_it_in_main_clauses(folder: str) -> None:
    """Summaries are noun phrases or begin with a verb; noun clauses with "what" and old idioms are in no docstring."""
    found: list[str] = []
    for path in sorted((REPOSITORY / folder).rglob("*.py")):
        for line, text in _docstrings(path):
            words, place = " ".join(text.split()), f"{path.relative_to(REPOSITORY)}:{line}"
            if QUESTION.match(words):
                found.append(f"{place}: {words[:80]}")
            for pattern in (CLAUSE, IDIOM):
                found += [f"{place}: ...{match[0]}" for match in pattern.finditer(words)]
    assert found == []


def _docstrings(path: Path) -> list[tuple[int, str]]:
    """Line and text of each docstring, those of attributes included."""
    return [
        (node.lineno, node.value.value)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
