"""Shares of samples: by the innermost function of ours, loading by any."""

from __future__ import annotations

from tools.benchmarks.cpu_shares import LOADING, shares


def test_samples_belong_to_the_innermost_function_of_ours() -> None:
    """What the core takes is its caller's; a module that is being loaded is loading, whoever imports it."""
    session = "main (experiments/run/single.py:1);handle (schedulers/core/session.py:2)"
    found = shares(
        f"{session};anneal (schedulers/policykit/planning.py:3) 7\n"
        f"{session};dumps (json/__init__.py:9) 2\n"
        "main (experiments/run/single.py:1);_load (<frozen importlib._bootstrap>:3);x (simulator/wire/broker.py:1) 3\n"
        "main (elsewhere.py:1) 1\n"
    )
    assert found == {"plans: search and scoring": 7, "session, ledger, guard": 2, LOADING: 3, "other": 1}
