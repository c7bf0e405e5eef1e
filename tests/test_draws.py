"""The examples that Hypothesis draws do not depend on which other tests run."""

import importlib.util
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st


def drawn() -> list[float]:
    """Draw as a test of ours does."""
    found: list[float] = []

    @given(st.floats(0, 1e300))
    def probe(value: float) -> None:
        found.append(value)

    probe()
    return found


def test_a_module_that_is_imported_changes_no_draws(tmp_path: Path) -> None:
    """Hypothesis draws constants from the source of local modules, unless conftest.py turns that off."""
    before = drawn()
    path = tmp_path / "constants_of_another.py"
    path.write_text(f"FOUND = {[number + 0.125 for number in range(90)]}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
        assert drawn() == before
    finally:
        del sys.modules[path.stem]
