"""Kernels: they can be warmed, with a note when that takes time."""

from __future__ import annotations

from pathlib import Path

import pytest

from spillway.simulator import kernels


def test_warmed_kernels_are_cached() -> None:
    """Once warmed, nothing is announced."""
    lines: list[str] = []
    kernels.warm_up()
    assert kernels.is_cached()
    assert kernels.warm_up(lines.append) >= 0.0
    assert lines == []


def test_compiling_is_announced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With an empty cache one line says that it takes a while. (The modules are loaded here, nothing is compiled.)"""
    kernels.warm_up()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    lines: list[str] = []
    kernels.warm_up(lines.append)
    assert len(lines) == 1
    assert "compiling" in lines[0]


def test_every_module_with_kernels_is_warmed() -> None:
    """A new file with kernels must be named."""
    folder = Path(kernels.__file__).parent / "engines"
    with_kernels = {path.stem for path in folder.glob("*.py") if "\n@kernel(" in path.read_text()}
    assert with_kernels == {name.rpartition(".")[2] for name in kernels.KERNEL_MODULES}
