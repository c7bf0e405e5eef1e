"""Parts of the description of a run that schedulers take: a policy with the settings of its session, and a job model.

The options are keys of campaign files. :class:`spillway.schedulers.assembly.SessionSpec` makes a session of both,
:class:`spillway.experiments.run.spec.RunSpec` a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spillway.base.limits import NAME
from spillway.base.options import Value, form_of, option, required
from spillway.base.plugins import joined_spec, split_spec


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= NAME.value and value.isprintable()


TEXT = form_of(lambda value: isinstance(value, str) and bool(value), "a text")
NAMED = form_of(_is_name, f"a text of 1 to {NAME.value} printable characters on one line")
FLAG = form_of(lambda value: isinstance(value, bool), "true or false")
TABLE = form_of(lambda value: isinstance(value, dict), "a table")

_DEFAULT_MODEL = "default"
"""Name in the results of the job models that go with the policies."""


@dataclass(frozen=True)
class PolicySpec:
    """A policy with values or texts of its options, and settings of the session that differ from the defaults.

    :func:`spillway.experiments.run.sessions.typed` reads texts among them.
    """

    policy: str = required(form=TEXT, help="name of a policy")
    label: str = option("", form=NAMED, help="name in the results; default: policy and given options")
    options: dict[str, Value] = option(
        {}, form=TABLE, help="options of the policy; a list of values is a range, and ranges are combined"
    )
    session: dict[str, Value] = option({}, form=TABLE, help="settings of the session, see below")
    literal: bool = option(
        False,
        form=FLAG,
        help="whether this policy follows the published experiment to the letter; default: thesis_literal",
    )

    @property
    def site(self) -> str:
        """Text or file of the site; "" without one."""
        return str(self.session.get("site") or "")


@dataclass(frozen=True)
class ModelSpec:
    """A job model: the behaviour of started jobs.

    Attributes
    ----------
    default
        Whether no model was requested: policies are then compared although each has its own.
    """

    name: str = option("", form=TEXT, help="name of a job model, or FILE.py:CLASS; default: the policy's own")
    options: dict[str, Any] = option(
        {}, form=TABLE, help="options of the model; a list of values is a range, and ranges are combined"
    )
    default: bool = False

    @classmethod
    def of(cls, text: str) -> ModelSpec:
        """Read ``NAME[:key=value,...]``, "" for the policy's own."""
        return cls(*split_spec(text)) if text else cls()

    @property
    def label(self) -> str:
        """Name in the results."""
        return _DEFAULT_MODEL if self.default or not self.name else self.text

    @property
    def text(self) -> str:
        """``NAME[:key=value,...]`` in the form of the command line."""
        return joined_spec(self.name, self.options)
