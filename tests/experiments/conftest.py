"""Several runs of a test are played in its process, except in the tests of processes."""

from collections.abc import Iterator

import pytest

from tests.kit.runs import played_here

OWN_PROCESSES = {f"test_{name}.py" for name in ("pool", "dask_pool", "one_run", "end_to_end", "lock")}
"""Files whose tests are about processes."""


@pytest.fixture(autouse=True, scope="module")
def _here(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs, points and questions start no processes."""
    if request.path.name in OWN_PROCESSES:
        yield
        return
    with played_here():
        yield
