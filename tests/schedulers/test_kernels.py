"""Kernels: they can be warmed and announced, and code compiled before a callee changed is dropped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spillway.base.kernel_cache import drop_older_than
from spillway.base.lazy_modules import load
from spillway.schedulers import kernels

ROOT = Path(__file__).resolve().parents[2]


def test_every_kernel_module_is_warmed() -> None:
    """Warming imports all of them; afterwards the cache has them and nothing is announced."""
    lines: list[str] = []
    kernels.warm_up()
    assert kernels.is_cached()
    assert kernels.warm_up(lines.append) < 5.0
    assert lines == []
    assert "spillway.schedulers.timeline.fit_kernels" in kernels.kernel_modules()


@pytest.mark.slow
def test_kernels_stay_within_their_arrays(tmp_path: Path) -> None:
    """Tests of timeline and engine with kernels that check the bounds of arrays; otherwise compiled code continues."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)

    beyond = run("-c", "import numpy, numba; numba.njit(lambda array: array[len(array)])(numpy.zeros(3))")
    assert "IndexError" in beyond.stderr, "bounds are not checked"
    files = [f"tests/schedulers/timeline/test_{name}.py" for name in ("kernels", "timeline", "placement", "apart")]
    files += ["tests/schedulers/policykit/test_nodespace.py"]
    files += ["tests/simulator/engines/test_engines.py", "tests/simulator/engines/test_fluid_properties.py"]
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", *files)
    assert done.returncode == 0, done.stdout


def test_a_late_module_is_run() -> None:
    """Importing one by its name ran nothing: its kernels were compiled by each of their callers."""
    script = (
        "import sys, importlib; from spillway.base.lazy_modules import load; from types import ModuleType;"
        "name = 'spillway.schedulers.timeline.fit_kernels'; importlib.import_module(name);"
        "print(type(sys.modules[name]) is ModuleType); load(name); print(type(sys.modules[name]) is ModuleType)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["False", "True"]
    with pytest.raises(ModuleNotFoundError):
        load("schedulers.no_such")


def test_what_only_kernels_call_is_compiled_with_them() -> None:
    """Loaded, the modules have only the code of functions that Python calls; a calling kernel gets the others."""
    script = (
        "from spillway.schedulers.timeline import fit_kernels as one, placement_kernels as two;"
        "print(len(one.find_fit.overloads), len(one.book.overloads), len(two.choose.overloads));"
        "from numba import njit\n"
        "called = njit(lambda times, count, at: one.segment_at(times, count, at))\n"
        "import numpy as np; print(called(np.array([0.0, 5.0, 9.0]), 3, 6.0), len(one.segment_at.overloads))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout.splitlines() == ["1 0 0", "1 1"], done.stderr


def test_some_kernels_are_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those that a run computes with count as cached although others are not, and only they are marked."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    some = ["spillway.schedulers.timeline.fit_kernels", "spillway.schedulers.timeline.placement_kernels"]
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    (tmp_path / "timeline_0123").mkdir()
    for name in ("fit_kernels", "placement_kernels", "plan_kernels"):
        index = tmp_path / "timeline_0123" / f"{name}.kernel-1.{version}.nbi"
        index.touch()
        os.utime(index, (1.0, 1.0))
    assert not kernels.is_cached(some)
    kernels.mark_cached(some)
    assert kernels.is_cached(some)
    assert not kernels.is_cached([*some, "spillway.schedulers.timeline.plan_kernels"])


def test_compiling_is_announced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With an empty cache one line says that it takes a while, and all modules are compiled (here with a stub)."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    compiled: list[str] = []
    monkeypatch.setattr(kernels, "compile_side_by_side", compiled.extend)
    lines: list[str] = []
    kernels.warm_up(lines.append)
    assert len(lines) == 1
    assert "compiling" in lines[0]
    assert compiled == kernels.kernel_modules()


def test_modules_are_compiled_side_by_side_after_the_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Code of the first is in others': it must be in the cache when these begin. (Here nothing is compiled.)"""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernels, "ProcessPoolExecutor", lambda workers, mp_context: ThreadPoolExecutor(4))
    ended: list[str] = []

    def compile_slowly(modules: Sequence[str]) -> None:
        time.sleep(0.05 if modules == [kernels.FIRST] else 0.0)
        ended.extend(modules)

    monkeypatch.setattr(kernels, "_compile", compile_slowly)
    done: list[tuple[int, int]] = []
    kernels.compile_side_by_side(["a", kernels.FIRST, "b"], [["x", "y"]], lambda *counts: done.append(counts))
    assert ended[:3] == ["x", "y", kernels.FIRST]
    assert sorted(ended[3:]) == ["a", "b"]
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]


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
    """A checkout makes sources look newer than Numba's cache of them: after one warm-up they count as cached."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernels, "_compile", list)
    monkeypatch.setattr(kernels, "ProcessPoolExecutor", lambda workers, mp_context: ThreadPoolExecutor(1))
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


def test_what_is_compiled_is_loaded_without_the_compiler() -> None:
    """Kernels from Numba's cache run in a process without Numba loaded; it can still compile afterwards."""
    script = (
        "import sys; from spillway.base.lazy_modules import load;"
        "one = load('spillway.schedulers.timeline.fit_kernels');"
        "import spillway.schedulers.search.random64 as two, numpy as np;"
        "state = np.arange(1, 5).astype(np.uint64); first = two.next_word(state);"
        "print([name in sys.modules for name in ('numba', 'pycparser', 'numba.typed.typeddict')]);"
        "from numba import njit\n"
        "called = njit(lambda state: two.next_word(state))\n"
        "print(first == two.next_word.py_func(np.arange(1, 5).astype(np.uint64)), called(state) > 0)"
    )
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.stdout.splitlines() == ["[True, False, False]", "True True"], done.stderr


PAIRS = """
from typing import NamedTuple
from numba import float64, int64, types
from spillway.base.kernel_cache import njit

class {name}(NamedTuple):
    first: int
    second: float

@njit(float64(types.NamedTuple([int64, float64], {name})), cache=True)
def total(pair):
    return pair.first + pair.second

print(total({name}(1, 2.0)))
"""


def test_a_class_of_a_signature_may_be_renamed(tmp_path: Path) -> None:
    """Failed before: code compiled before the change names the old class, and the module could not be imported."""
    for name in ("Pair", "Renamed", "Renamed"):
        (tmp_path / "pairs.py").write_text(PAIRS.format(name=name))
        command = [sys.executable, "-c", "import pairs"]
        path = os.pathsep.join([str(tmp_path), str(ROOT)])
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr
