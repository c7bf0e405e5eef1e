"""Results without runs."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.thesis.published import Key, Value
from experiments.thesis.results import Results


class StubResults(Results):
    """Results that hold what they are given: ``values`` by key, one per seed."""

    def __init__(self, values: Mapping[Key, list[float]]) -> None:
        self._values = values
        self.rows = []

    @classmethod
    def of(cls, published: Mapping[Key, Value], factor: float = 1.0) -> StubResults:
        """Exactly what was published, times a factor."""
        return cls({key: [factor * value.value] for key, value in published.items()})

    def has(self, model: str, workload: str, policy: str) -> bool:
        """Whether there is any value of the place."""
        return any((key.model, key.workload, key.policy) == (model, workload, policy) for key in self._values)

    def values(self, model: str, workload: str, policy: str, metric: str) -> list[float]:
        """What was given."""
        return self._values.get(Key(model, workload, policy, metric), [])
