"""Descriptions of sessions in a line."""

from collections.abc import Mapping
from typing import Any

from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.terms import Cadence
from spillway.schedulers.description import ModelSpec, PolicySpec


def session_spec(
    policy: str,
    options: Mapping[str, Any] | None = None,
    model: str = "",
    model_options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    literal: bool = False,
    cadence: Cadence | None = None,
    **others: Any,
) -> SessionSpec:
    """A policy and a job model by their names, with their options and the settings of the session."""
    chosen = PolicySpec(policy, options={**(options or {})}, session={**(settings or {})}, literal=literal)
    return SessionSpec(chosen, ModelSpec(model, {**(model_options or {})}), cadence, **others)
