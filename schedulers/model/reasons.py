"""Words of the reasons for which a runtime ends a job or its stage-in without a request (``core/session/step.hpp``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spillway.protocol.messages import JobState
from spillway.schedulers.model.machine import Machine


def words(code: int, number: float, machine: Machine) -> str:
    """Text of a reason by its code and its number."""
    return _WORDS[code](number, machine)


def _host_out(host: float, machine: Machine) -> str:
    return f"its next operation needs {machine.name_of(int(host))}, which is unavailable"


def _stage_in_ended(state: float, machine: Machine) -> str:
    return f"its stage-in ended as {tuple(JobState)[int(state)].value}"


def _stage_in_timed_out(limit_s: float, machine: Machine) -> str:
    return f"its stage-in had not ended after {limit_s:g} s"


_WORDS: Mapping[int, Callable[[float, Machine], str]] = {1: _host_out, 2: _stage_in_ended, 3: _stage_in_timed_out}
