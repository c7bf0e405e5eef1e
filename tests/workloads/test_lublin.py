"""The generator lublin: the distribution of gamma numbers, its bytes, and the public log of the same model."""

import math
from pathlib import Path

import numpy as np
import pytest

from spillway.base.errors import OptionError
from spillway.workloads.draws import Draws
from spillway.workloads.logs.tables import read_swf
from spillway.workloads.models.synthetic import Lublin, generator
from spillway.workloads.models.synthetic.lublin import gamma


@pytest.mark.parametrize("shape", [1.0, 4.2, 10.2303, 312.0])
def test_gamma_numbers_have_mean_and_variance_of_their_shape(shape: float) -> None:
    """Both are the shape itself: within four standard errors of 40,000 numbers."""
    found = gamma(Draws(1, "test"), np.full(40_000, shape))
    assert found.mean() == pytest.approx(shape, abs=4 * math.sqrt(shape / 40_000))
    kurtosis = 3 + 6 / shape
    assert found.var() == pytest.approx(shape, abs=4 * shape * math.sqrt((kurtosis - 1) / 40_000))


def test_the_same_seed_gives_the_same_log_at_the_load_that_was_stated() -> None:
    """Load: node-seconds over nodes x time."""
    log = Lublin(jobs=3000, seed=5, load=0.8, nodes=128)()
    assert log == generator("lublin:jobs=3000,seed=5,load=0.8,nodes=128")()
    assert log != Lublin(jobs=3000, seed=6, load=0.8, nodes=128)()
    work = sum(record.run_s * record.processors for record in log.records)
    last = max(record.submit_s for record in log.records)
    assert work / (128 * last) == pytest.approx(0.8, rel=0.05)
    assert {record.processors for record in log.records} <= set(range(1, 129))
    assert [record.submit_s for record in log.records] == sorted(record.submit_s for record in log.records)


def test_options_out_of_range_are_refused() -> None:
    """The model's sizes need a machine of some nodes."""
    with pytest.raises(OptionError, match="option 'nodes' must be a whole number from 8 to 10000000, got '4'"):
        Lublin(nodes=4)


@pytest.mark.reference
def test_it_resembles_the_public_log_of_the_model(reference: Path) -> None:
    """10,000 jobs on 256 processors: shares of sizes within 0.02, mean logarithms of runtimes by size within 0.3."""
    public = read_swf(reference / "data/swf/lublin_256.swf.xz")
    ours = Lublin(jobs=10_000, seed=1)()
    both = [np.array([(record.processors, max(record.run_s, 1)) for record in log.records]) for log in (ours, public)]
    for low, high in ((1, 2), (2, 16), (16, 64), (64, 257)):
        inside = [(table[:, 0] >= low) & (table[:, 0] < high) for table in both]
        shares = [float(series.mean()) for series in inside]
        runs = [float(np.log(table[one, 1]).mean()) for table, one in zip(both, inside, strict=True)]
        assert shares[0] == pytest.approx(shares[1], abs=0.02)
        assert runs[0] == pytest.approx(runs[1], abs=0.3)
