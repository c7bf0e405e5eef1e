"""Computations in worker processes."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from experiments.side_by_side import side_by_side


def _power(base: int, exponent: int) -> int:
    return int(base**exponent)


def _write(number: int, folder: Path) -> int:
    if number == 0:
        raise ValueError("nought")
    (folder / str(number)).touch()
    return os.getpid()


def test_every_item_comes_once_with_its_result() -> None:
    """Nothing is lost, nothing comes twice."""
    found = list(side_by_side(partial(_power, exponent=2), range(5), 2))
    assert [done for done, _, _ in found] == [1, 2, 3, 4, 5]
    assert sorted((item, result) for _, item, result in found) == [(n, n * n) for n in range(5)]


def test_work_is_done_elsewhere(tmp_path: Path) -> None:
    """The caller computes nothing itself."""
    assert {pid for _, _, pid in side_by_side(partial(_write, folder=tmp_path), [1, 2], 1)} != {os.getpid()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]


def test_an_error_comes_through_and_what_has_not_begun_is_given_up(tmp_path: Path) -> None:
    """Hundreds of computations do not go on without a reader."""
    with pytest.raises(ValueError, match="nought"):
        list(side_by_side(partial(_write, folder=tmp_path), range(500), 1))
    assert len(list(tmp_path.iterdir())) < 499
