"""User input is checked before kernels are compiled."""

from __future__ import annotations

import argparse
import os
from functools import partial

import pytest

from spillway.base.errors import OptionError
from spillway.schedulers import kernels


def refuse(options: argparse.Namespace) -> None:
    """A check that fails, where kernels are plain Python."""
    raise OptionError(f"unknown policy {options.policy!r}, compiling: {os.environ.get('NUMBA_DISABLE_JIT') != '1'}")


def test_refusal_comes_before_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a cache the error is the check's, nothing was compiled, and no line says that it was."""
    monkeypatch.setattr(kernels, "is_cached", lambda: False)
    monkeypatch.setattr(kernels, "kernel_modules", lambda: pytest.fail("compiled before the check"))
    said: list[str] = []
    with pytest.raises(OptionError, match="unknown policy 'nonsense', compiling: False"):
        kernels.warm_up(said.append, partial(refuse, argparse.Namespace(policy="nonsense")))
    assert said == []
    assert "NUMBA_DISABLE_JIT" not in os.environ


def test_right_input_is_compiled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the check the line comes."""
    monkeypatch.setattr(kernels, "is_cached", lambda: False)
    monkeypatch.setattr(kernels, "kernel_modules", lambda: ["spillway.base.errors"])
    monkeypatch.setattr(kernels, "compile_side_by_side", lambda names: None)
    said: list[str] = []
    kernels.warm_up(said.append, partial(dict, {}))
    assert ["compiling" in line for line in said] == [True]
