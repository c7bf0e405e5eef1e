"""The suite in several processes (``pytest -n 2``): their test files, and exclusive use of the machine."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

TOGETHER = ("tests/docker/", "tests/wheel/")
"""Folders of tests that share an engine and an image, or the wheel: one process runs all of them."""


def group_of(test: str) -> str:
    """Group of tests that run in one process: a test's file, whose fixtures are made once, or one of these folders."""
    return next((folder for folder in TOGETHER if test.startswith(folder)), test.partition("::")[0])


def longest_first(items: list[pytest.Item]) -> None:
    """Put groups with slow tests first, and those that measure time last; within a group nothing moves.

    The last file to begin should be a short one, and no file should wait while an image is built.
    """
    marked = {
        name: {group_of(item.nodeid) for item in items if item.get_closest_marker(name) is not None}
        for name in ("slow", "alone")
    }

    def place(item: pytest.Item) -> int:
        group = group_of(item.nodeid)
        return 2 if group in marked["alone"] else 0 if group in marked["slow"] else 1

    items.sort(key=place)


class Machine:
    """The machine, shared by the processes of one suite through two locks on files of a folder.

    Parameters
    ----------
    folder
        A folder common to all of them; ``None`` if the suite has one process only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def held(self, *, alone: bool) -> Iterator[None]:
        """Hold the machine while a test runs: any number of tests at a time, or one that measures time.

        A waiting test that measures time keeps the lock ``door``, so that the others do not overtake it for ever.
        """
        if self._folder is None:
            yield
            return
        with open(self._folder / "room", "w") as room:
            with open(self._folder / "door", "w") as door:
                fcntl.flock(door, fcntl.LOCK_EX)
                fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            yield


def is_worker() -> bool:
    """Whether this process is one of several that run the suite's tests."""
    return "PYTEST_XDIST_WORKER" in os.environ


def scheduler(config: pytest.Config, log: object) -> object:
    """Give out groups of tests in the order in which they were collected."""
    from xdist.scheduler import LoadFileScheduling

    class ByGroup(LoadFileScheduling):
        """Gives out the groups of :func:`group_of`."""

        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return ByGroup(config, log)
