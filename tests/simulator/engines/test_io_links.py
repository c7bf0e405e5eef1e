"""Water-filling and the tree: the paper's formulas, its Figure 3, and properties of any tree."""

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.core import IoTree, water_fill
from spillway.platforms import platform_from
from spillway.simulator.engines.io_links import io_tree
from spillway.simulator.errors import SimulatorInputError
from tests.simulator.worlds import small_platform

MB = 1_000_000
AMOUNTS = st.lists(st.integers(0, 500), min_size=1, max_size=12)


@dataclass
class Links:
    """A tree of links as columns, and the tree of the core made of them."""

    bytes_per_s: list[int]
    parents: list[int]
    above: list[int]
    tree: IoTree = field(init=False)

    def __post_init__(self) -> None:
        self.tree = IoTree(self.bytes_per_s, self.parents, self.above)


def figure_2(network_mb: int) -> Links:
    """The tree of Figures 2 and 3: two lowest switches of 256 MB/s with two nodes each, under one network switch."""
    return Links([512 * MB, network_mb * MB, 256 * MB, 256 * MB], [-1, 0, 1, 1], [2, 2, 3, 3])


def share(tree: IoTree, demand: dict[int, int]) -> dict[int, float]:
    """Bandwidth of each host: its factor times its request."""
    tree.change_demand(list(demand), list(demand.values()))
    tree.share()
    return {host: rate * tree.factor(host) for host, rate in demand.items()}


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
    grants = share(figure_2(448).tree, {0: 192 * MB, 1: 192 * MB, 2: 192 * MB})
    assert grants == {0: 128 * MB, 1: 128 * MB, 2: 192 * MB}
    assert min(grants.values()) == 128 * MB


def test_the_over_allocation_of_section_3_4_contends() -> None:
    """Job 2 of section 3.4 started nevertheless (64 on one node, 128 on three): the network switch of 384 is over."""
    tree = figure_2(384).tree
    demand = {0: 64 * MB, 1: 128 * MB, 2: 128 * MB, 3: 128 * MB}
    grants = share(tree, demand)
    assert tree.contended
    assert grants == {0: 64 * MB, 1: 128 * MB, 2: 96 * MB, 3: 96 * MB}
    tree.change_demand(list(demand), list(demand.values()), -1)
    assert not tree.contended


def test_whole_megabytes_give_the_published_least_share() -> None:
    """All 3,888 nodes busy, 30 % less bandwidth: 12.6 of 18 MB/s each; in whole MB/s 12 (66.7 %).

    The paper states 66.7 % as the least share of any job (section 5.3).
    """
    platform = platform_from("cts1-30")
    demand = {index: 18 * MB for index, host in enumerate(platform.hosts) if host.name.startswith("cts")}
    assert len(demand) == 3888
    exact = share(io_tree(platform), demand)
    assert min(exact.values()) / (18 * MB) == pytest.approx(0.7, abs=1e-3)
    whole = share(io_tree(platform, whole_units=True), demand)
    assert min(whole.values()) / (18 * MB) == pytest.approx(2 / 3)


@st.composite
def trees(draw: st.DrawFn) -> Links:
    """Any tree of up to seven links with up to eight hosts."""
    parents = [-1]
    for _ in range(draw(st.integers(0, 6))):
        parents.append(draw(st.integers(0, len(parents) - 1)))
    bytes_per_s = draw(st.lists(st.integers(1, 400), min_size=len(parents), max_size=len(parents)))
    hosts = draw(st.lists(st.integers(0, len(parents) - 1), min_size=1, max_size=8))
    return Links(bytes_per_s, parents, hosts)


@given(links=trees(), rates=st.lists(st.integers(1, 200), min_size=8, max_size=8))
def test_no_link_carries_more_than_it_can(links: Links, rates: list[int]) -> None:
    """Grants fit every link; without contention every host gets its demand; contention is reported."""
    demand = {host: rates[host] for host in range(len(links.above))}
    grants = share(links.tree, demand)
    load = [0.0] * len(links.parents)
    wanted = [0] * len(links.parents)
    for host, got in grants.items():
        assert got <= demand[host] + 1e-9
        link = links.above[host]
        while link >= 0:
            load[link] += got
            wanted[link] += demand[host]
            link = links.parents[link]
    assert all(amount <= most * (1 + 1e-12) for amount, most in zip(load, links.bytes_per_s, strict=True))
    over = any(amount > most for amount, most in zip(wanted, links.bytes_per_s, strict=True))
    assert links.tree.contended == over
    assert over == any(not math.isclose(grants[host], demand[host]) for host in demand)


@given(links=trees(), rates=st.lists(st.integers(0, 200), min_size=8, max_size=8), whole=st.booleans())
def test_shares_are_those_of_the_plain_tree(links: Links, rates: list[int], whole: bool) -> None:
    """Link by link from the root down, the formula of the paper: the same factors to the last bit."""
    unit = MB if whole else 1
    demand = {host: rate * unit for host, rate in enumerate(rates[: len(links.above)]) if rate}
    bytes_per_s = [most * unit for most in links.bytes_per_s]
    tree = IoTree(bytes_per_s, links.parents, links.above, whole)
    grants = share(tree, demand)
    assert grants == {
        host: demand[host] * factor
        for host, factor in plain_factors(bytes_per_s, links.parents, links.above, demand, whole).items()
    }


def plain_factors(
    bytes_per_s: list[int], parents: list[int], above: list[int], demand: dict[int, int], whole: bool
) -> dict[int, float]:
    """Interference factors; each link lists its children, links first, and shares among them."""
    requested = [0] * len(parents)
    for host, rate in demand.items():
        link = above[host]
        while link >= 0:
            requested[link] += rate
            link = parents[link]
    given: dict[int, float] = {link: requested[link] for link, parent in enumerate(parents) if parent < 0}
    factors: dict[int, float] = {}
    unit = MB if whole else 1
    for link, most in enumerate(bytes_per_s):
        inner = [child for child, parent in enumerate(parents) if parent == link]
        hosts = [host for host in sorted(demand) if above[host] == link]
        wanted = [requested[child] / unit for child in inner] + [demand[host] / unit for host in hosts]
        shares = water_fill(wanted, min(given[link], most) / unit, whole)
        given |= {child: part * unit for child, part in zip(inner, shares, strict=False)}
        for host, part in zip(hosts, shares[len(inner) :], strict=True):
            factors[host] = 1.0 if part * unit >= demand[host] else part * unit / demand[host]
    return factors


def test_a_platform_without_levels_is_refused() -> None:
    """The message says what is missing and what to do."""
    with pytest.raises(SimulatorInputError, match=r"io_path.*or the engine 'fluid'"):
        io_tree(small_platform())
