"""The table of routes that kernels look up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spillway.platforms.catalogue import platform_from
from spillway.simulator.engines.routes import RouteTable, place_of

PLATFORM = platform_from("tiny")
HOSTS = len(PLATFORM.hosts)
PORTIONS = st.lists(st.lists(st.integers(0, HOSTS * HOSTS - 1), max_size=200), max_size=4)


@given(portions=PORTIONS)
def test_each_pair_leads_to_its_route(portions: list[list[int]]) -> None:
    """In any portions of pairs, also repeated ones: the table has each once, with its links and latency."""
    table = RouteTable(PLATFORM)
    for portion in portions:
        table.add(portion)
    keys, ids, begins, links, latencies, *_ = table.arrays
    known = {key for portion in portions for key in portion}
    assert sorted(keys[keys >= 0]) == sorted(known)
    assert sorted(ids[keys >= 0]) == list(range(len(known)))
    for key in known:
        route = PLATFORM.route(*divmod(key, HOSTS))
        number = ids[place_of(keys, key)]
        assert tuple(links[begins[number] : begins[number + 1]]) == route.links
        assert latencies[number] == route.latency
