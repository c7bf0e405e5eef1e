"""The burst-buffer request model: bounds, rules, and the published data."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.workloads import THESIS_MACHINE, BurstBufferModel, MachineFacts, Workload, WorkloadError, read_batsim
from spillway.workloads.models.burst_buffer import THESIS_MODEL, clamp_to_machine

requests = st.tuples(st.integers(1, 400), st.sampled_from([60, 120, 121, 3600]))
machines = st.builds(
    MachineFacts,
    nodes=st.just(96),
    storage_nodes=st.integers(1, 40),
    storage_bytes=st.integers(200_000_000, 10**12),
)


@given(
    st.lists(st.tuples(st.integers(1, 400), st.sampled_from([60, 120, 121, 3600])), min_size=1),
    machines,
    st.integers(0, 50),
)
def test_every_request_fits_an_empty_machine(jobs: list[tuple[int, int]], machine: MachineFacts, seed: int) -> None:
    """Whole requests of all nodes can be placed on the storage nodes; short jobs request the constant at most."""
    nodes, walltimes = np.array([job[0] for job in jobs]), np.array([job[1] for job in jobs])
    size = THESIS_MODEL.draw(nodes, walltimes, machine, seed)
    assert (size > 0).all()
    assert (machine.storage_nodes * (machine.storage_bytes // size) >= nodes).all()
    assert (size[walltimes <= 120] <= 10_000_000).all()
    assert (size == THESIS_MODEL.draw(nodes, walltimes, machine, seed)).all()


@given(st.integers(1, 400), st.integers(1, 10**12), machines)
def test_clamp_reduces_only_what_does_not_fit(nodes: int, size: int, machine: MachineFacts) -> None:
    """A request that an empty machine can place stays; another becomes the even share of a storage node."""
    size = min(size, machine.storage_bytes)
    clamped = int(clamp_to_machine(np.array([size]), np.array([nodes]), machine)[0])
    fits = machine.storage_nodes * (machine.storage_bytes // size) >= nodes
    assert clamped == (size if fits else machine.storage_bytes // -(-nodes // machine.storage_nodes))


def test_thesis_examples() -> None:
    """96 nodes get an eighth of 40 GB each; 12 nodes may have a whole storage node each."""
    size = clamp_to_machine(np.array([40 * 10**9] * 3), np.array([96, 12, 13]), THESIS_MACHINE)
    assert size.tolist() == [5 * 10**9, 40 * 10**9, 20 * 10**9]


def test_no_storage_no_request() -> None:
    """Without storage nodes nothing is requested."""
    assert THESIS_MODEL.draw([3, 4], [600, 600], MachineFacts(nodes=8), seed=1).tolist() == [0, 0]


def test_processors_share_a_node() -> None:
    """The distribution is per processor: a node of four requests four times as much."""
    machine = MachineFacts(nodes=8, storage_nodes=4, storage_bytes=10**15)
    one = THESIS_MODEL.draw([1] * 50, [600] * 50, machine, seed=1)
    four = THESIS_MODEL.draw([1] * 50, [600] * 50, machine, seed=1, processors_per_node=4)
    large = one > THESIS_MODEL.floor_bytes
    assert np.allclose(four[large], 4 * one[large], rtol=1e-7)


@pytest.mark.parametrize(("option", "value"), [("sigma", 0), ("scale_kib", -1), ("floor_bytes", -1), ("unit_bytes", 0)])
def test_options_out_of_range_are_refused(option: str, value: int) -> None:
    """The message names option, bound and value."""
    with pytest.raises(WorkloadError, match=f"burst-buffer option '{option}' must be >=? 0, got {value}"):
        BurstBufferModel(**{option: value})


@pytest.mark.reference
@pytest.mark.parametrize("model", ["alloc-only", "io-aware"])
def test_published_requests_have_our_distribution(reference: Path, model: str) -> None:
    """Kolmogorov-Smirnov distance of our draws (20 seeds pooled) from the published ones: below 0.012 (p about 0.001).

    26,015 published values; the pooled sample counts as the exact distribution. Published sizes were lowered by a byte
    per repetition of the same value, so both are rounded up to a kilobyte.
    """
    workload = read_batsim(reference / "data" / "kth" / f"KTH-SP2-1996-2.1-cln-{model}-from-parts.json.xz")
    nodes, walltimes, published = _columns(workload)
    long = walltimes > 120
    drawn = np.concatenate([THESIS_MODEL.draw(nodes, walltimes, THESIS_MACHINE, seed)[long] for seed in range(20)])
    assert _ks_distance(_round_up(published[long]), _round_up(drawn)) < 0.012
    assert np.median(drawn) == pytest.approx(np.median(published[long]), rel=0.02)
    assert drawn.mean() == pytest.approx(published[long].mean(), rel=0.02)
    assert (drawn == 40 * 10**9).mean() == pytest.approx((published[long] > 40 * 10**9 - 1000).mean(), abs=0.001)
    assert (published[~long] > 9_990_000).all()
    assert (published[~long] <= 10_000_000).all()


@pytest.mark.reference
def test_published_requests_obey_the_clamp(reference: Path) -> None:
    """No published request would be reduced further by our clamp."""
    path = reference / "data" / "kth" / "KTH-SP2-1996-2.1-cln-alloc-only-from-parts.json.xz"
    nodes, _, published = _columns(read_batsim(path))
    assert (clamp_to_machine(published, nodes, THESIS_MACHINE) == published).all()


def _columns(workload: Workload) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    jobs = workload.jobs
    buffers = [workload.profiles[job.profile]["bb"] for job in jobs]
    return np.array([job.res for job in jobs]), np.array([job.walltime for job in jobs]), np.array(buffers)


def _round_up(size: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return -(-size // 1000) * 1000


def _ks_distance(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> float:
    at = np.union1d(one, other)
    first = np.searchsorted(np.sort(one), at, side="right") / len(one)
    second = np.searchsorted(np.sort(other), at, side="right") / len(other)
    return float(np.abs(first - second).max())
