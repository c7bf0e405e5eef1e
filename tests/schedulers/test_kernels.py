"""Kernels: they can be warmed and announced, and code compiled before a callee changed is dropped."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from schedulers import kernels
from schedulers.kernel_cache import drop_older_than


def test_every_kernel_module_is_warmed() -> None:
    """Warming imports all of them; afterwards the cache has them and nothing is announced."""
    lines: list[str] = []
    kernels.warm_up()
    assert kernels.is_cached()
    assert kernels.warm_up(lines.append) < 5.0
    assert lines == []
    assert "schedulers.timeline.fit_kernels" in kernels.kernel_modules()


def test_compiling_is_announced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With an empty cache one line says that it takes a while. (The modules are loaded here, nothing is compiled.)"""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    lines: list[str] = []
    kernels.warm_up(lines.append)
    assert len(lines) == 1
    assert "compiling" in lines[0]


def test_code_older_than_its_callees_is_dropped(tmp_path: Path) -> None:
    """Only index files, and only those that are older than one of the sources."""
    now_s = time.time()
    for name, age_s in (("old.f-1.py311.nbi", 50), ("new.f-1.py311.nbi", 10), ("old.f-1.py311.1.nbc", 50)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now_s - age_s, now_s - age_s))
    source = tmp_path / "callee.py"
    source.touch()
    os.utime(source, (now_s - 20, now_s - 20))
    assert drop_older_than(tmp_path, str(source)) == [tmp_path / "old.f-1.py311.nbi"]
    assert sorted(path.name for path in tmp_path.glob("*.nb*")) == ["new.f-1.py311.nbi", "old.f-1.py311.1.nbc"]


def test_kernels_of_sources_that_were_only_written_anew_are_announced_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A checkout makes sources look newer than what Numba keeps of them: after one warming they count as cached."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    for name in kernels.kernel_modules():
        *_, package, module = name.split(".")
        folder = tmp_path / f"{package}_0123"
        folder.mkdir(exist_ok=True)
        index = folder / f"{module}.kernel-1.{version}.nbi"
        index.touch()
        os.utime(index, (1.0, 1.0))
    assert not kernels.is_cached()
    lines: list[str] = []
    kernels.warm_up(lines.append)
    kernels.warm_up(lines.append)
    assert len(lines) == 1
    assert kernels.is_cached()
