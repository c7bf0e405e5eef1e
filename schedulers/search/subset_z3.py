"""Packing and choice of items with the Z3 solver, as in the thesis.

Every solution comes from a context of its own, made for one choice and freed after it: memory use does not grow, and
the solution does not depend on earlier ones. Work is limited by Z3's own count of resources (``rlimit``, roughly a
million per second), never by time.

References
----------
Kopanski, master's thesis 2020, section 3.3 (equations 3.1-3.3); de Moura, Bjørner, *Z3: an efficient SMT solver*,
TACAS 2008 (DOI 10.1007/978-3-540-78800-3_24).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from spillway.schedulers.search.packing import Fits, Packing
from spillway.schedulers.search.subset import SubsetProblem, SubsetResult, loosest

_SEED = 42
"""Z3's own random seed: fixed, so that the same problem always has the same solution."""

_VERDICTS = {"sat": Fits.YES, "unsat": Fits.NO, "unknown": Fits.UNDECIDED}


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


def choose_z3(problem: SubsetProblem, rlimit: int, start: SubsetResult | None = None) -> SubsetResult:
    """Find the best set of items with Z3 alone, which improves a set until no better one exists.

    Parameters
    ----------
    problem
        The items to choose from.
    rlimit
        Z3 resource units for the whole choice; 0 for no limit.
    start
        A set to improve on.
    """
    import z3

    context: Any = z3.Context()
    solver = _solver(z3, context, None, rlimit)
    items, bins = range(len(problem.units)), len(problem.capacities)
    took = [z3.Bool(f"take_{i}", context) for i in items]
    counts = {
        i: _counts(z3, context, solver, i, problem.units[i], problem.sizes[i], problem.capacities)
        for i in items
        if problem.sizes[i] > 0
    }
    _constrain(z3, context, solver, problem, took, counts)
    best = start or SubsetResult(None, np.zeros((0, bins), np.int64), None, None, 0)
    spent, answer = 0, z3.sat
    while answer == z3.sat:
        solver.push()
        if best.chosen is not None:
            solver.add(_better(z3, context, problem, took, best.chosen))
        answer = solver.check() if rlimit == 0 or spent < rlimit else z3.unknown
        spent = _spent(solver)
        if answer == z3.sat:
            model = solver.model()
            chosen = tuple(i for i in items if z3.is_true(model.eval(took[i])))
            taken = np.zeros((len(chosen), bins), np.int64)
            for row, i in enumerate(chosen):
                if i in counts:
                    taken[row] = [model.eval(count, model_completion=True).as_long() for count in counts[i]]
            best = SubsetResult(chosen, taken, problem.score(chosen), None, spent)
            if rlimit:
                solver.set("rlimit", max(1, rlimit - spent))
        solver.pop()
    bound = best.score if answer == z3.unsat else loosest(problem)
    return SubsetResult(best.chosen, best.taken, best.score, bound, spent)


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


def _constrain(
    z3: Any, context: Any, solver: Any, problem: SubsetProblem, took: list[Any], counts: dict[int, list[Any]]
) -> None:
    """Add the constraints on every set."""
    zero = z3.IntVal(0, context)
    for i, row in counts.items():
        solver.add(z3.Sum([*row, zero]) == z3.If(took[i], z3.IntVal(problem.units[i], context), zero))
    _fill_no_bin(z3, solver, counts, problem.sizes, problem.capacities)
    solver.add(*[took[i] for i in problem.mandatory])
    limits = [(problem.units, problem.free_units), *zip(problem.loads, problem.load_limits, strict=True)]
    for load, limit in limits:
        solver.add(_sum(z3, context, took, load) <= limit)


def _better(z3: Any, context: Any, problem: SubsetProblem, took: list[Any], best: Sequence[int]) -> Any:
    """Constraint: the set's score is greater than that of ``best``. Mean waits are compared exactly, multiplied out."""
    totals = [units * size for units, size in zip(problem.units, problem.sizes, strict=True)]
    weights = [problem.units, totals] if problem.units_first else [totals, problem.units]
    first, second = (_sum(z3, context, took, weight) for weight in weights)
    best_first, best_second = (sum(weight[i] for i in best) for weight in weights)
    waits = [Fraction(wait) for wait in problem.waits]
    mean = sum((waits[i] for i in best), Fraction(0)) / max(len(best), 1)
    longer = _sum(z3, context, took, [wait - mean for wait in waits]) > 0
    return z3.Or(
        first > best_first,
        z3.And(first == best_first, second > best_second),
        z3.And(first == best_first, second == best_second, longer),
    )


def _sum(z3: Any, context: Any, took: list[Any], weights: Sequence[int | Fraction]) -> Any:
    """Sum of the weights of the items taken."""
    scale = math.lcm(*(weight.denominator for weight in weights))
    zero = z3.IntVal(0, context)
    terms = [
        z3.If(one, z3.IntVal(int(weight * scale), context), zero) for one, weight in zip(took, weights, strict=True)
    ]
    return z3.Sum([*terms, zero])


def _spent(solver: Any) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118
