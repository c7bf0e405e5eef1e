"""Shared fixtures: reference data, deterministic Hypothesis; several processes (tests/parallel.py)."""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests import parallel

ROOM = "SPILLWAY_TESTS_ROOM"

# Tests whose examples are few in kind or cheap state a number of their own; the fuzz drivers draw without end.
settings.register_profile(
    "deterministic",
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
settings.load_profile("deterministic")

# Hypothesis draws numbers and texts from the source of all modules of ours that are imported by then, so that a test's
# examples would depend on which other tests run (tests/test_draws.py). No setting turns that off.
providers._get_local_constants = lambda: providers._local_constants

# About a hundred processes that tests start import the product: the bytecode of one serves the others, also where the
# environment forbids bytecode in the tree (compiling was most of the CPU time of a start). It stays beside the sources:
# in a folder of the suite's own all of site-packages would be compiled again, by each of the processes at once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Folder of the locks that the processes of one suite share (tests/parallel.py).
if not parallel.is_worker():
    os.environ[ROOM] = tempfile.mkdtemp(prefix="spillway-tests-")
    atexit.register(shutil.rmtree, os.environ[ROOM], ignore_errors=True)

# A suite in the background of a shell has Ctrl-C ignored; the processes that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """See :func:`tests.parallel.longest_first`."""
    parallel.longest_first(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """See :func:`tests.parallel.scheduler`."""
    return parallel.scheduler(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hold the machine for the test, exclusively if it measures time."""
    folder = Path(os.environ[ROOM]) if parallel.is_worker() else None
    with parallel.Machine(folder).held(alone=item.get_closest_marker("alone") is not None):
        return (yield)


def pytest_collection_finish() -> None:
    """Leave imported and collected objects out of every later garbage collection, and collect less often: a tenth of
    the CPU time of long simulations was spent on looking at the same test modules again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def reference() -> Path:
    """Folder of the reference data; skips if the environment names no folder, unless SPILLWAY_REQUIRE_DATA is set."""
    folder = os.environ.get("SPILLWAY_DATA", "")
    if not folder:
        if os.environ.get("SPILLWAY_REQUIRE_DATA", "") not in ("", "0"):
            pytest.fail(
                "SPILLWAY_REQUIRE_DATA is set, but SPILLWAY_DATA does not name the folder of the reference data"
            )
        pytest.skip("SPILLWAY_DATA does not name the folder of the reference data")
    path = Path(folder)
    assert path.is_dir(), f"SPILLWAY_DATA names {folder!r}, which is no folder"
    return path
