"""Lines, names and parameters are counted by the tables' headings."""

from __future__ import annotations

from pathlib import Path

from tools.benchmarks.house import Size, longest_signatures, sizes


def test_counting(tmp_path: Path) -> None:
    """One folder of two files: five lines, three public names, and the longest signature without ``self``."""
    folder = tmp_path / "schedulers" / "part"
    folder.mkdir(parents=True)
    (folder / "one.py").write_text("A = 1\n_B = 2\ndef f(x, y, *, z): pass\n")
    (folder / "two.py").write_text("class C:\n    def m(self, x): pass\n")
    assert sizes(tmp_path) == {"schedulers/part": Size(2, 5, 3)}
    assert [tuple(signature) for signature in longest_signatures(1, tmp_path)] == [(3, "schedulers/part/one.py:f")]
