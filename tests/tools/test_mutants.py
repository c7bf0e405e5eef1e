"""``python -m tools.mutants`` on a tiny module, with some mutants that its test does not notice."""

import pytest

from tests.kit.cases import cases
from tools.equivalent_mutants import EQUIVALENT
from tools.mutants import ROOT, TESTS, mutants, telling


@pytest.mark.parametrize(("source", "changed"), cases("mutants"))
def test_mutants(source: str, changed: list[str]) -> None:
    """One place of a source is changed; annotations, decorators, texts, assertions and errors stay."""
    assert [mutant.text for mutant in mutants(source)] == changed


@pytest.mark.parametrize("name", TESTS)
def test_files_and_their_tests_are_there(name: str) -> None:
    """And every mutant of a file can be compiled."""
    assert all((ROOT / test).exists() for test in TESTS[name].split())
    found = list(mutants((ROOT / name).read_text(encoding="utf-8")))
    assert found
    for mutant in found:
        compile(mutant.text, name, "exec")


@pytest.mark.parametrize("name", EQUIVALENT)
def test_mutants_that_make_no_difference_are_there(name: str) -> None:
    """Every change of every row is one of the file, and the tool leaves it out."""
    source = (ROOT / name).read_text(encoding="utf-8")
    lines, every = source.splitlines(), list(mutants(source))
    for row in EQUIVALENT[name]:
        for change in row.changes:
            assert any(row.covers(lines[mutant.line - 1], change) for mutant in every if mutant.change == change), (
                row,
                change,
            )
    found, same = telling(source, EQUIVALENT[name])
    assert len(found) + same == len(every)
    assert same >= sum(len(row.changes) for row in EQUIVALENT[name])
