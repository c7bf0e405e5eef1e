"""Packing of items with the Z3 solver, as in the thesis.

Every solution comes from a context of its own, made for one choice and freed after it: memory use does not grow, and
the solution does not depend on earlier ones. Work is limited by Z3's own count of resources (``rlimit``, roughly a
million per second), never by time.

References
----------
Kopanski, master's thesis 2020, section 3.3 (equations 3.1-3.3); de Moura, Bjørner, *Z3: an efficient SMT solver*,
TACAS 2008 (DOI 10.1007/978-3-540-78800-3_24).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spillway.schedulers.search.packing import Packing, PackingAnswer

_SEED = 42
"""Z3's own random seed: fixed, so that the same problem always has the same solution."""

_VERDICTS = {"sat": PackingAnswer.YES, "unsat": PackingAnswer.NO, "unknown": PackingAnswer.UNDECIDED}


class Z3Packer:
    """Answers packing questions, all in one Z3 context.

    Parameters
    ----------
    rlimit
        Z3 resource units that one question may cost; 0 for no limit.
    """

    def __init__(self, rlimit: int) -> None:
        import z3  # costs time and memory, and most runs do not need it

        self._z3: Any = z3
        self._context = z3.Context()
        self._rlimit = rlimit

    def pack(self, units: Sequence[int], sizes: Sequence[int], capacities: Sequence[int]) -> Packing:
        """Pack units into bins by integer programming; see :func:`spillway.schedulers.search.packing.pack`."""
        taken = np.zeros((len(units), len(capacities)), np.int64)
        sized = [i for i in range(len(units)) if sizes[i] > 0 and units[i] > 0]
        solver = _solver(self._z3, self._context, "QF_LIA", self._rlimit)
        counts = {i: _counts(self._z3, self._context, solver, i, units[i], sizes[i], capacities) for i in sized}
        for i in sized:
            solver.add(self._z3.Sum(counts[i]) == units[i])
        _fill_no_bin(self._z3, solver, counts, sizes, capacities)
        answer = solver.check() if sized else self._z3.sat
        if answer == self._z3.sat and sized:
            model = solver.model()
            for i in sized:
                taken[i] = [model.eval(count, model_completion=True).as_long() for count in counts[i]]
        return Packing(_VERDICTS[str(answer)], taken, _spent(solver))


def _solver(z3: Any, context: Any, logic: str | None, rlimit: int) -> Any:
    solver = z3.SolverFor(logic, ctx=context) if logic else z3.Solver(ctx=context)
    solver.set("random_seed", _SEED)
    if rlimit:
        solver.set("rlimit", rlimit)
    return solver


def _counts(z3: Any, context: Any, solver: Any, i: int, units: int, size: int, capacities: Sequence[int]) -> list[Any]:
    """Make one whole number per bin: units of the item in it (equation 3.1)."""
    counts = [z3.Int(f"count_{i}_{j}", context) for j in range(len(capacities))]
    for count, capacity in zip(counts, capacities, strict=True):
        solver.add(count >= 0, count <= min(units, capacity // size))
    return counts


def _fill_no_bin(
    z3: Any, solver: Any, counts: dict[int, list[Any]], sizes: Sequence[int], capacities: Sequence[int]
) -> None:
    """Constrain each bin to its capacity (equation 3.3)."""
    for j, capacity in enumerate(capacities):
        if counts:
            solver.add(z3.Sum([sizes[i] * row[j] for i, row in counts.items()]) <= capacity)


def _spent(solver: Any) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118
