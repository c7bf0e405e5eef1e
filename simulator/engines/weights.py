"""What a task asks of every link and processor, and the largest latencies on its way.

An all-to-all counts how often each link occurs and then turns counts into bytes. Sums of bytes are rounded exactly as
SimGrid rounds them, which adds pair after pair.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from simulator.engines.batch import BATCH
from simulator.engines.fluid_kernels import link_elements, mark_dirty
from simulator.engines.fluid_state import (
    ACTIVE,
    BOUND,
    CORE_SPEED,
    COUNT,
    ELEMENT_AT,
    ENABLED,
    EPOCH,
    FATPIPE,
    FIRST,
    FREE,
    HANDLE,
    LATENCY,
    N_ACTIVE,
    N_ELEMENTS,
    N_ENABLED,
    N_FREE,
    NEXT_HANDLE,
    RATE,
    REMAINING,
    RESOURCE_MARK,
    SLEEPING,
    STAGE,
    STATE,
    WAITING,
    WINDOW_BOUND,
    WORKING,
)
from simulator.engines.routes import place_of

TCP_WINDOW = 4194304.0
"""Bytes (SimGrid's ``network/TCP-gamma``): no transfer is faster than this per two latencies."""

_F1, _I1, _S1 = nb.float64[::1], nb.int64[::1], nb.int32[::1]
ROUTES = nb.types.Tuple((_I1, _S1, _I1, _S1, _F1))
"""See :class:`simulator.engines.routes.RouteTable`."""


@nb.njit(nb.void(nb.int64, nb.float64, STATE), cache=True)
def add_weight(resource: int, amount: float, state: Any) -> None:
    """Add to the weight of the task being built on a link: the sum over its pairs, on a fat pipe the largest."""
    _, counters, _, _, _, _, resource_ints, element_resource, weight, _, _, _ = state
    if resource_ints[resource, RESOURCE_MARK] != counters[EPOCH]:
        element = counters[N_ELEMENTS]
        counters[N_ELEMENTS] += 1
        resource_ints[resource, RESOURCE_MARK] = counters[EPOCH]
        resource_ints[resource, ELEMENT_AT] = element
        element_resource[element] = resource
        weight[element] = amount
        return
    element = resource_ints[resource, ELEMENT_AT]
    if resource_ints[resource, FATPIPE]:
        weight[element] = max(weight[element], amount)
    else:
        weight[element] += amount


@nb.njit(nb.int64(nb.int64, nb.int64[::1], STATE, ROUTES), cache=True)
def route_of(key: int, missing: Any, state: Any, routes: Any) -> int:
    """The id of a pair's route; where it is not stored yet, -1 and a note in ``missing`` (count, then keys)."""
    place = place_of(routes[0], key)
    if routes[0][place] >= 0:
        return int(routes[1][place])
    if missing[0] + 1 < len(missing):
        missing[0] += 1
        missing[missing[0]] = key
    return -1


@nb.njit(nb.types.UniTuple(nb.float64, 2)(nb.int64, nb.int64, _I1, STATE, BATCH, ROUTES), cache=True)
def add_pairs(task: int, n_hosts: int, missing: Any, state: Any, batch: Any, routes: Any) -> Any:
    """Weights of a task's listed transfers; the largest latency, and the largest product of latency and bytes."""
    _, _, _, _, pair_ends, sources, destinations, amounts = batch
    _, _, begins, links, latencies = routes
    latency = 0.0
    window = 0.0
    for k in range(pair_ends[task], pair_ends[task + 1]):
        if amounts[k] <= 0.0:
            continue
        route = route_of(sources[k] * n_hosts + destinations[k], missing, state, routes)
        if route >= 0:
            latency = max(latency, latencies[route])
            window = max(window, latencies[route] * amounts[k])
            for at in range(begins[route], begins[route + 1]):
                add_weight(links[at], amounts[k], state)
    return latency, window


@nb.njit(nb.float64(nb.int64, nb.int64, _I1, STATE, BATCH, ROUTES), cache=True)
def count_all_to_all(task: int, n_hosts: int, missing: Any, state: Any, batch: Any, routes: Any) -> float:
    """How often an all-to-all uses each link, as weights; returns the largest latency."""
    hosts, ends, _, _, _, _, _, _ = batch
    _, _, begins, links, latencies = routes
    latency = 0.0
    for i in range(ends[task], ends[task + 1]):
        for j in range(ends[task], ends[task + 1]):
            if i == j:
                continue
            route = route_of(hosts[i] * n_hosts + hosts[j], missing, state, routes)
            if route >= 0:
                latency = max(latency, latencies[route])
                for at in range(begins[route], begins[route + 1]):
                    add_weight(links[at], 1.0, state)
    return latency


@nb.njit(nb.void(nb.int64, nb.float64, STATE), cache=True)
def counts_to_bytes(first: int, amount: float, state: Any) -> None:
    """Replace counts by as many additions of ``amount``, with the rounding errors of adding one by one."""
    _, counters, _, _, _, _, resource_ints, element_resource, weight, _, _, _ = state
    largest = 1
    for element in range(first, counters[N_ELEMENTS]):
        if not resource_ints[element_resource[element], FATPIPE]:
            largest = max(largest, int(weight[element]))
    sums = np.empty(largest + 1)
    sums[0] = 0.0
    for k in range(largest):
        sums[k + 1] = sums[k] + amount
    for element in range(first, counters[N_ELEMENTS]):
        fat = resource_ints[element_resource[element], FATPIPE]
        weight[element] = amount if fat else sums[int(weight[element])]


@nb.njit(nb.void(nb.int64, nb.int64, STATE), cache=True)
def bound_by_processors(row: int, n_links: int, state: Any) -> None:
    """Set a task's largest rate: that of the TCP window, and on every host one core's speed."""
    _, _, floats, ints, _, resource_floats, _, element_resource, weight, _, _, _ = state
    bound = floats[row, WINDOW_BOUND]
    for element in range(ints[row, FIRST], ints[row, FIRST] + ints[row, COUNT]):
        if element_resource[element] >= n_links:
            bound = min(bound, resource_floats[element_resource[element], CORE_SPEED] / weight[element])
    floats[row, BOUND] = bound if bound < np.finfo(np.float64).max else 0.0


@nb.njit(nb.int64(nb.int64, nb.int64, STATE), cache=True)
def take_row(first: int, stage: int, state: Any) -> int:
    """Begin a task with the elements made since ``first``: its row, with a handle and among the active tasks."""
    _, counters, _, ints, lists, _, _, _, _, _, _, _ = state
    counters[N_FREE] -= 1
    row = int(lists[FREE, counters[N_FREE]])
    ints[row, HANDLE] = counters[NEXT_HANDLE]
    counters[NEXT_HANDLE] += 1
    ints[row, FIRST] = first
    ints[row, COUNT] = counters[N_ELEMENTS] - first
    ints[row, STAGE] = stage
    lists[ACTIVE, counters[N_ACTIVE]] = row
    counters[N_ACTIVE] += 1
    return row


@nb.njit(nb.void(nb.float64, STATE), cache=True)
def begin_sleep(seconds: float, state: Any) -> None:
    """Start a sleep."""
    floats = state[2]
    row = take_row(state[1][N_ELEMENTS], SLEEPING, state)
    floats[row, REMAINING] = 1.0
    floats[row, RATE] = 0.0
    floats[row, LATENCY] = seconds


@nb.njit(nb.void(nb.int64, nb.float64, nb.float64, nb.int64, STATE), cache=True)
def enter(first: int, latency: float, window: float, n_links: int, state: Any) -> None:
    """Start the task whose elements were made since ``first``."""
    _, counters, floats, ints, lists, _, _, _, _, _, _, _ = state
    row = take_row(first, WAITING, state)
    link_elements(row, state)
    idle = ints[row, COUNT] == 0
    floats[row, REMAINING] = 0.0 if idle else 1.0
    floats[row, RATE] = 1.0 if idle else 0.0
    floats[row, LATENCY] = latency
    floats[row, WINDOW_BOUND] = TCP_WINDOW / (2.0 * window) if window > 0.0 else np.inf
    bound_by_processors(row, n_links, state)
    if latency <= 0.0:
        ints[row, STAGE] = WORKING
        lists[ENABLED, counters[N_ENABLED]] = row
        counters[N_ENABLED] += 1
        mark_dirty(row, state)


@nb.njit(nb.int64(nb.int64, nb.int64, _I1, STATE, BATCH, ROUTES), cache=True)
def admit(begin: int, n_hosts: int, missing: Any, state: Any, batch: Any, routes: Any) -> int:
    """Start the tasks of a batch from ``begin`` on, at the present clock; returns the first that could not start.

    It could not if routes are not stored (their number and keys are in ``missing``) or its elements may not fit
    (then ``missing[0]`` is 0).
    """
    _, counters, _, _, _, resource_floats, _, element_resource, weight, _, _, _ = state
    hosts, ends, work, each, pair_ends, _, _, _ = batch
    n_links = len(resource_floats) - n_hosts
    missing[0] = 0
    for task in range(begin, len(each)):
        first = counters[N_ELEMENTS]
        if len(weight) - first < ends[task + 1] - ends[task] + n_links:
            return task
        for k in range(ends[task], ends[task + 1]):
            if work[k] > 0.0:
                element_resource[counters[N_ELEMENTS]] = n_links + hosts[k]
                weight[counters[N_ELEMENTS]] = work[k]
                counters[N_ELEMENTS] += 1
        counters[EPOCH] += 1
        latency = 0.0
        window = 0.0
        if each[task] > 0.0:
            begin_links = counters[N_ELEMENTS]
            latency = count_all_to_all(task, n_hosts, missing, state, batch, routes)
            window = latency * each[task]
            counts_to_bytes(begin_links, each[task], state)
        elif pair_ends[task] < pair_ends[task + 1]:
            latency, window = add_pairs(task, n_hosts, missing, state, batch, routes)
        if missing[0] > 0:
            counters[N_ELEMENTS] = first
            return task
        enter(first, latency, window, n_links, state)
    return len(each)
