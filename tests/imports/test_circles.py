"""No module imports itself by way of others, wherever the import statement is."""

import pytest

from tests.imports.graph import circles, graph


@pytest.mark.parametrize("places", [["module"], ["module", "function"], ["module", "function", "types"]], ids="+".join)
def test_no_circles(places: list[str]) -> None:
    """Modules form a hierarchy: also with imports inside functions and those for annotations only."""
    assert circles(graph(places)) == []


def test_a_circle_is_found() -> None:
    """The search finds a circle of three, one of one, and nothing besides."""
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"e"}, "f": {"a"}}
    assert circles(edges) == [["a", "b", "c"], ["e"]]
