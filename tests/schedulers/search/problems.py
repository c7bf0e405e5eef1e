"""Random problems of choosing items, shared by the tests of the solvers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from spillway.schedulers.search.subset import Score, SubsetProblem, SubsetResult


@st.composite
def problems(draw: st.DrawFn, most_items: int = 7) -> SubsetProblem:
    """Problems small enough to try every set; with ties, items without size, mandatory items and further limits."""
    items = draw(
        st.lists(
            st.tuples(st.integers(1, 4), st.integers(0, 8), st.sampled_from([0.0, 1.0, 2.5, 7.0]), st.integers(0, 4)),
            max_size=most_items,
        )
    )
    mandatory = draw(st.sets(st.integers(0, len(items) - 1), max_size=2)) if items and draw(st.booleans()) else set()
    limited = draw(st.booleans())
    return SubsetProblem(
        units=[units for units, _, _, _ in items],
        sizes=[size for _, size, _, _ in items],
        waits=[wait for _, _, wait, _ in items],
        free_units=draw(st.integers(0, 11)),
        capacities=draw(st.lists(st.integers(0, 15), max_size=3)),
        units_first=draw(st.booleans()),
        mandatory=tuple(sorted(mandatory)),
        loads=[[load for _, _, _, load in items]] if limited else (),
        load_limits=[draw(st.integers(0, 10))] if limited else (),
    )


def assert_feasible(problem: SubsetProblem, result: SubsetResult) -> None:
    """Assert that the set keeps to every limit, contains the mandatory items, and has a valid packing."""
    if result.chosen is None:
        assert result.score is None
        return
    assert list(result.chosen) == sorted(set(result.chosen))
    assert set(problem.mandatory) <= set(result.chosen)
    assert problem.within_limits(result.chosen)
    assert result.score == problem.score(result.chosen)
    sized = [row for row, i in enumerate(result.chosen) if problem.sizes[i] > 0]
    units, sizes = problem.of([result.chosen[row] for row in sized])
    assert is_packing(units, sizes, problem.capacities, result.taken[sized])


def assert_same_score(found: Score | None, wanted: Score | None) -> None:
    """Equal in whole numbers; means of the same waits may differ in the last digit."""
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        assert found[:2] == wanted[:2]
        assert abs(found.mean_wait - wanted.mean_wait) < 1e-9


def is_packing(
    units: Sequence[int], sizes: Sequence[int], capacities: Sequence[int], taken: npt.NDArray[np.int64]
) -> bool:
    """Whether ``taken`` packs all units and overfills no bin."""
    used = taken * np.array(sizes, np.int64).reshape(-1, 1)
    complete = (taken >= 0).all() and taken.sum(axis=1).tolist() == list(units)
    return bool(complete and (used.sum(axis=0) <= np.array(capacities, np.int64)).all())
