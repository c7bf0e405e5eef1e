"""Several processes of one suite: order of files, one engine for all containers, exclusive time measurements."""

import fcntl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.parallel import Machine, group_of, longest_first


@dataclass
class Item:
    """A collected test."""

    nodeid: str
    marks: tuple[str, ...] = ()

    def get_closest_marker(self, name: str) -> str | None:
        """The mark of that name."""
        return name if name in self.marks else None


def test_slow_files_come_first_and_those_alone_last() -> None:
    """Containers are one group, and no test leaves its file."""
    items: list[Any] = [
        *(Item("a::1"), Item("b::1", ("slow",)), Item("b::2"), Item("c::1", ("slow", "alone")), Item("c::2")),
        *(Item("tests/docker/x::1"), Item("tests/docker/y::1", ("slow",)), Item("z::1")),
    ]
    longest_first(items)
    assert [item.nodeid for item in items] == [
        *("b::1", "b::2", "tests/docker/x::1", "tests/docker/y::1", "a::1", "z::1", "c::1", "c::2")
    ]
    assert group_of("tests/docker/x.py::test[a::b]") == group_of("tests/docker/y.py::test") != group_of("b::1")


def can_enter(folder: Path, how: int) -> bool:
    """Whether another process would be let in now."""
    with open(folder / "room", "w") as room:
        try:
            fcntl.flock(room, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.mark.parametrize("alone", [False, True])
def test_alone_means_alone(tmp_path: Path, alone: bool) -> None:
    """Others enter beside an ordinary test only; a test that measures time waits for either; afterwards all may."""
    with Machine(tmp_path).held(alone=alone):
        assert can_enter(tmp_path, fcntl.LOCK_SH) is not alone
        assert not can_enter(tmp_path, fcntl.LOCK_EX)
    assert can_enter(tmp_path, fcntl.LOCK_EX)


def test_one_process_needs_no_locks() -> None:
    """Without a folder nothing is opened."""
    with Machine(None).held(alone=True):
        pass
