"""``--pass-limit`` of a service, and its default; the clock is moved on by the test."""

from __future__ import annotations

import pytest

from spillway.schedulers.policykit.pass_limit import PassLimit
from spillway.schedulers.service.command import session_parser, spec_of


def limit_of(*arguments: str) -> PassLimit | None:
    """The bound of a service with these arguments."""
    return spec_of(session_parser().parse_args(arguments)).pass_limit


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        (["plan"], 10.0),
        (["conservative"], 10.0),
        (["plan:steps=20"], 10.0),
        (["easy"], None),
        (["plan", "--pass-limit", "2.5"], 2.5),
        (["plan", "--pass-limit", "inf"], None),
    ],
)
def test_seconds(arguments: list[str], seconds: float | None) -> None:
    """Ten by default, where the policy takes a bound; a stated value takes precedence."""
    limit = limit_of(*arguments)
    assert (limit.seconds if limit is not None else None) == seconds
