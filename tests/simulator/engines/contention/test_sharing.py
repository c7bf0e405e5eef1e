"""Water-filling and the tree: the paper's formulas, its Figure 3, and properties of any tree."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.platforms import platform_from
from spillway.simulator.engines.contention.sharing import water_fill
from spillway.simulator.engines.contention.tree import IoLink, IoTree, interference_factor
from spillway.simulator.errors import SimulatorInputError
from tests.simulator.worlds import small_platform

MB = 1_000_000
AMOUNTS = st.lists(st.integers(0, 500), min_size=1, max_size=12)


def figure_2(network_mb: int) -> IoTree:
    """The tree of Figures 2 and 3: two lowest switches of 256 MB/s with two nodes each, under one network switch."""
    links = (
        IoLink("pfs", 512 * MB, -1), IoLink("network", network_mb * MB, 0), IoLink("lowest1", 256 * MB, 1),
        IoLink("lowest2", 256 * MB, 1),
    )  # fmt: skip
    return IoTree(links, (2, 2, 3, 3))


def share(tree: IoTree, demand: dict[int, int]) -> dict[int, float]:
    """Bandwidth of each host: its factor times its request."""
    tree.change_demand(demand)
    factors = tree.factors()
    return {host: rate * of(factors[tree.above[host]], host) for host, rate in demand.items()}


def of(factors: float | dict[int, float], host: int) -> float:
    """Factor of a host below a link."""
    return factors[host] if isinstance(factors, dict) else factors


def test_first_case_of_the_paper() -> None:
    """Requests below the peak are all granted."""
    assert water_fill([10, 30, 20], 60) == [10, 30, 20]


def test_second_case_of_the_paper() -> None:
    """Smaller requests are satisfied, the others share the rest equally."""
    assert water_fill([100, 10, 90], 110) == [50, 10, 50]


@given(requests=AMOUNTS, peak=st.integers(0, 2000))
def test_formula_of_the_paper(requests: list[int], peak: int) -> None:
    """Literally: ActualBW_i = min(ReqBW_i, (PeakBW - sum_j<i ActualBW_j) / (n - i)), requests ascending."""
    actual: list[float] = []
    for index, request in enumerate(sorted(requests)):
        actual.append(min(request, (peak - sum(actual)) / (len(requests) - index)))
    assert sorted(water_fill(requests, peak)) == pytest.approx(sorted(actual))


@given(requests=AMOUNTS, peak=st.integers(0, 2000), whole=st.booleans())
def test_nothing_is_shared_twice_or_wasted(requests: list[int], peak: int, whole: bool) -> None:
    """Shares add up to the peak or to the requests; no share exceeds its request; whole units stay whole."""
    shares = water_fill(requests, peak, whole)
    assert sum(shares) == pytest.approx(min(sum(requests), peak))
    assert all(got <= most for got, most in zip(shares, requests, strict=True))
    assert not whole or all(float(got).is_integer() for got in shares)


def test_contention_of_figure_3() -> None:
    """Job 1: three processes of 192 MB/s. Two share a switch of 256 MB/s and get 128, the third could have its 192."""
    tree = figure_2(448)
    grants = share(tree, {0: 192 * MB, 1: 192 * MB, 2: 192 * MB})
    assert grants == {0: 128 * MB, 1: 128 * MB, 2: 192 * MB}
    assert min(grants.values()) == 128 * MB
    assert interference_factor(128 * MB, 192 * MB) == pytest.approx(2 / 3)


def test_a_second_job_steals_bandwidth_from_the_first() -> None:
    """Figure 3: Job 2 on the fourth node takes more of the network switch, and Job 1 falls below 128 MB/s."""
    tree = figure_2(448)
    grants = share(tree, dict.fromkeys(range(4), 192 * MB))
    assert min(grants[host] for host in range(3)) == 112 * MB


def test_the_over_allocation_of_section_3_4_contends() -> None:
    """Job 2 of section 3.4 started nevertheless (64 on one node, 128 on three): the network switch of 384 is over."""
    tree = figure_2(384)
    demand = {0: 64 * MB, 1: 128 * MB, 2: 128 * MB, 3: 128 * MB}
    grants = share(tree, demand)
    assert tree.contended
    assert grants == {0: 64 * MB, 1: 128 * MB, 2: 96 * MB, 3: 96 * MB}
    tree.change_demand(demand, -1)
    assert not tree.contended


def test_whole_megabytes_give_the_published_least_share() -> None:
    """All 3,888 nodes busy, 30 % less bandwidth: 12.6 of 18 MB/s each; in whole MB/s 12 (66.7 %).

    The paper states 66.7 % as the least share of any job (section 5.3).
    """
    platform = platform_from("cts1-30")
    demand = {index: 18 * MB for index, host in enumerate(platform.hosts) if host.name.startswith("cts")}
    assert len(demand) == 3888
    exact = share(IoTree.from_platform(platform), demand)
    assert min(exact.values()) / (18 * MB) == pytest.approx(0.7, abs=1e-3)
    whole = share(IoTree.from_platform(platform, whole_units=True), demand)
    assert min(whole.values()) / (18 * MB) == pytest.approx(2 / 3)


@st.composite
def trees(draw: st.DrawFn) -> IoTree:
    """Any tree of up to seven links with up to eight hosts."""
    links = [IoLink("root", draw(st.integers(1, 400)), -1)]
    for index in range(draw(st.integers(0, 6))):
        links.append(IoLink(f"link{index}", draw(st.integers(1, 400)), draw(st.integers(0, len(links) - 1))))
    hosts = draw(st.lists(st.integers(0, len(links) - 1), min_size=1, max_size=8))
    return IoTree(tuple(links), tuple(hosts))


@given(tree=trees(), rates=st.lists(st.integers(1, 200), min_size=8, max_size=8))
def test_no_link_carries_more_than_it_can(tree: IoTree, rates: list[int]) -> None:
    """Grants fit every link; without contention every host gets its demand; contention is reported."""
    demand = {host: rates[host] for host in range(len(tree.above))}
    grants = share(tree, demand)
    load = [0.0] * len(tree.links)
    wanted = [0] * len(tree.links)
    for host, got in grants.items():
        assert got <= demand[host] + 1e-9
        link = tree.above[host]
        while link >= 0:
            load[link] += got
            wanted[link] += demand[host]
            link = tree.links[link].parent
    assert all(amount <= link.bytes_per_s * (1 + 1e-12) for amount, link in zip(load, tree.links, strict=True))
    over = any(amount > link.bytes_per_s for amount, link in zip(wanted, tree.links, strict=True))
    assert tree.contended == over
    assert over == any(not math.isclose(grants[host], demand[host]) for host in demand)


@given(tree=trees(), rate=st.integers(1, 200))
def test_equal_requests_share_as_the_formula_says(tree: IoTree, rate: int) -> None:
    """If all hosts of a link request the same, the factor is that of :func:`water_fill`, to the last bit."""
    demand = dict.fromkeys(range(len(tree.above)), rate)
    single = IoTree((tree.links[0],), (0,) * len(tree.above))
    got = share(single, demand)
    shares = water_fill([float(rate)] * len(demand), min(tree.links[0].bytes_per_s, rate * len(demand)))
    assert got == {host: rate * interference_factor(part, rate) for host, part in enumerate(shares)}


def test_a_platform_without_levels_is_refused() -> None:
    """The message says what is missing and what to do."""
    with pytest.raises(SimulatorInputError, match=r"io_path.*or the engine 'fluid'"):
        IoTree.from_platform(small_platform())
