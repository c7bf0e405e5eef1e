"""Load of a task on every link and processor, and the largest latencies on its way.

An all-to-all counts the occurrences of each link, by groups of hosts if these are known, and then turns counts into
bytes. Sums of bytes are rounded exactly as in SimGrid, which adds pair after pair.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from spillway.simulator.engines.fluid_kernels import begin_work, bound_rate, mark_dirty, run
from spillway.simulator.engines.fluid_state import (
    ACTIVE,
    BATCH,
    CAPACITY,
    CORE_SPEED,
    COUNT,
    COUNTS,
    ELEMENT_AT,
    ENTRY,
    EPOCH,
    FATPIPE,
    FIRST,
    FREE,
    GROUP_SIZES,
    HANDLE,
    HEAD,
    LATENCY,
    N_ACTIVE,
    N_ELEMENTS,
    N_FREE,
    NEXT,
    NEXT_HANDLE,
    RATE,
    REMAINING,
    RESOURCE_MARK,
    RESOURCES,
    SLEEPING,
    SPAN,
    STAGE,
    STATE,
    TASK,
    TASKS,
    WAITING,
    WINDOW_BOUND,
    inner,
    kernel,
)
from spillway.simulator.engines.routes import ROUTES, place_of

TCP_WINDOW = 4194304.0
"""Bytes (SimGrid's ``network/TCP-gamma``): no transfer is faster than this per two latencies."""

_F1, _I1, _I2, _S1 = nb.float64[::1], nb.int64[::1], nb.int64[:, ::1], nb.int32[::1]


@inner(nb.void(nb.int64, nb.float64, STATE))
def _add_weight(resource: int, amount: float, state: Any) -> None:
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


@inner(nb.int64(nb.int64, _I1, _I1, _S1))
def _route_of(key: int, missing: Any, keys: Any, ids: Any) -> int:
    """The id of a pair's route; if it is not stored yet, -1 and a note in ``missing`` (count, then keys)."""
    place = place_of(keys, key)
    if keys[place] >= 0:
        return int(ids[place])
    if missing[0] + 1 < len(missing):
        missing[0] += 1
        missing[missing[0]] = key
    return -1


@inner(nb.types.UniTuple(nb.float64, 2)(nb.int64, nb.int64, _I1, STATE, BATCH, ROUTES))
def _add_pairs(task: int, n_hosts: int, missing: Any, state: Any, batch: Any, routes: Any) -> Any:
    """Add the weights of a task's listed transfers; return the largest latency and product of latency and bytes."""
    _, _, _, _, pair_ends, sources, destinations, amounts = batch
    keys, ids, begins, links, latencies, _, _, _, _, _ = routes
    latency = 0.0
    window = 0.0
    for k in range(pair_ends[task], pair_ends[task + 1]):
        if amounts[k] <= 0.0:
            continue
        route = _route_of(sources[k] * n_hosts + destinations[k], missing, keys, ids)
        if route >= 0:
            latency = max(latency, latencies[route])
            window = max(window, latencies[route] * amounts[k])
            for at in range(begins[route], begins[route + 1]):
                _add_weight(links[at], amounts[k], state)
    return latency, window


@inner(nb.int64(nb.int64, nb.int64, nb.int64, _I1, _S1, _I2))
def tally(touched: int, times: int, part: int, begins: Any, links: Any, scratch: Any) -> int:
    """Count the links of a part of a route ``times`` times; return the number of different links counted so far."""
    for at in range(begins[part], begins[part + 1]):
        if scratch[COUNTS, links[at]] == 0:
            scratch[RESOURCES, touched] = links[at]
            touched += 1
        scratch[COUNTS, links[at]] += times
    return touched


@inner(nb.types.Tuple((nb.int64, nb.float64))(_I1, nb.int64, _I1, _I2, ROUTES))
def _count_by_pairs(hosts: Any, n_hosts: int, missing: Any, scratch: Any, routes: Any) -> Any:
    """Count the links of an all-to-all pair by pair; return the number of different links, and the largest latency."""
    keys, ids, begins, links, latencies, _, _, _, _, notes = routes
    notes[0] += len(hosts) ** 2
    touched = 0
    latency = 0.0
    for i in range(len(hosts)):
        notes[1 + hosts[i]] = 1
        for j in range(len(hosts)):
            if i == j:
                continue
            route = _route_of(hosts[i] * n_hosts + hosts[j], missing, keys, ids)
            if route >= 0:
                latency = max(latency, latencies[route])
                touched = tally(touched, 1, route, begins, links, scratch)
    return touched, latency


@inner(nb.boolean(_I1, _I1, _I2))
def _is_grouped(hosts: Any, group: Any, scratch: Any) -> bool:
    """Whether all hosts of a task belong to groups, and no host occurs twice."""
    distinct = True
    known = True
    for host in hosts:
        known &= group[host] >= 0
        distinct &= scratch[GROUP_SIZES, host] == 0
        scratch[GROUP_SIZES, host] = 1
    for host in hosts:
        scratch[GROUP_SIZES, host] = 0
    return known and distinct


@inner(nb.types.Tuple((nb.int64, nb.float64))(_I1, nb.int64, _I2, ROUTES))
def _count_by_groups(hosts: Any, n_hosts: int, scratch: Any, routes: Any) -> Any:
    """Same as ``_count_by_pairs``, for hosts with known groups."""
    _, _, _, _, _, group, begins, links, latencies, _ = routes
    sizes, present = scratch[GROUP_SIZES], scratch[TASKS]
    n_groups = int(np.sqrt(len(latencies)) + 0.5)
    n_present = 0
    touched = 0
    for host in hosts:
        touched = tally(touched, len(hosts) - 1, host, begins, links, scratch)
        touched = tally(touched, len(hosts) - 1, n_hosts + host, begins, links, scratch)
        if sizes[group[host]] == 0:
            present[n_present] = group[host]
            n_present += 1
        sizes[group[host]] += 1
    latency = 0.0
    for a in present[:n_present]:
        for b in present[:n_present]:
            times = sizes[a] * sizes[b] if a != b else sizes[a] * (sizes[a] - 1)
            if times > 0:
                pair = a * n_groups + b
                latency = max(latency, latencies[pair])
                touched = tally(touched, times, 2 * n_hosts + pair, begins, links, scratch)
    for a in present[:n_present]:
        sizes[a] = 0
    return touched, latency


@inner(nb.void(nb.int64, nb.float64, STATE))
def _counts_to_bytes(touched: int, amount: float, state: Any) -> None:
    """Make elements of counted links, each with as many additions of ``amount``, rounded one by one."""
    _, counters, _, _, _, _, resource_ints, element_resource, weight, _, _, scratch = state
    largest = 1
    for k in range(touched):
        largest = max(largest, scratch[COUNTS, scratch[RESOURCES, k]])
    sums = np.empty(largest + 1)
    sums[0] = 0.0
    for k in range(largest):
        sums[k + 1] = sums[k] + amount
    for k in range(touched):
        resource = scratch[RESOURCES, k]
        element_resource[counters[N_ELEMENTS]] = resource
        fat = resource_ints[resource, FATPIPE]
        weight[counters[N_ELEMENTS]] = amount if fat else sums[scratch[COUNTS, resource]]
        counters[N_ELEMENTS] += 1
        scratch[COUNTS, resource] = 0


@inner(nb.float64(_I1, nb.float64, nb.int64, _I1, STATE, ROUTES))
def _add_all_to_all(hosts: Any, amount: float, n_hosts: int, missing: Any, state: Any, routes: Any) -> float:
    """Add the weights of an all-to-all; return the largest latency."""
    scratch = state[11]
    if _is_grouped(hosts, routes[5], scratch):
        touched, latency = _count_by_groups(hosts, n_hosts, scratch, routes)
    else:
        touched, latency = _count_by_pairs(hosts, n_hosts, missing, scratch, routes)
    _counts_to_bytes(touched, amount, state)
    return float(latency)


@inner(nb.int64(nb.int64, nb.int64, STATE))
def _take_row(first: int, stage: int, state: Any) -> int:
    """Begin a task with the elements made since ``first``; return its row, with a handle and among the active tasks."""
    _, counters, _, ints, lists, _, _, _, _, _, _, _ = state
    counters[N_FREE] -= 1
    row = int(lists[FREE, counters[N_FREE]])
    ints[row, HANDLE] = counters[NEXT_HANDLE]
    counters[NEXT_HANDLE] += 1
    ints[row, FIRST] = first
    ints[row, COUNT] = counters[N_ELEMENTS] - first
    ints[row, STAGE] = stage
    ints[row, ENTRY] = 0
    lists[ACTIVE, counters[N_ACTIVE]] = row
    counters[N_ACTIVE] += 1
    return row


@kernel(nb.void(nb.float64, STATE))
def begin_sleep(seconds: float, state: Any) -> None:
    """Start a sleep."""
    floats = state[2]
    row = _take_row(state[1][N_ELEMENTS], SLEEPING, state)
    floats[row, REMAINING] = 1.0
    floats[row, RATE] = 0.0
    floats[row, LATENCY] = seconds
    floats[row, SPAN] = seconds


@inner(nb.void(nb.int64, nb.float64, nb.float64, STATE))
def enter(first: int, latency: float, window: float, state: Any) -> None:
    """Start the task with the elements made since ``first``."""
    floats, ints = state[2], state[3]
    row = _take_row(first, WAITING, state)
    idle = ints[row, COUNT] == 0
    floats[row, REMAINING] = 0.0 if idle else 1.0
    floats[row, RATE] = 1.0 if idle else 0.0
    floats[row, LATENCY] = latency
    floats[row, WINDOW_BOUND] = TCP_WINDOW / (2.0 * window) if window > 0.0 else np.inf
    if latency <= 0.0:
        begin_work(row, state)


@inner(nb.boolean(nb.int64, nb.int64, _I1, STATE, BATCH, ROUTES))
def _admit_one(task: int, n_hosts: int, missing: Any, state: Any, batch: Any, routes: Any) -> bool:
    """Start a task of a batch at the present clock; return whether it could start.

    It could not if routes are not stored (their number and keys are in ``missing``) or its elements may not fit
    (then ``missing[0]`` is 0).
    """
    _, counters, _, _, _, resource_floats, _, element_resource, weight, _, _, _ = state
    hosts, ends, work, each, pair_ends, _, _, _ = batch
    n_links = len(resource_floats) - n_hosts
    missing[0] = 0
    first = counters[N_ELEMENTS]
    if len(weight) - first < ends[task + 1] - ends[task] + n_links:
        return False
    for k in range(ends[task], ends[task + 1]):
        if work[k] > 0.0:
            element_resource[counters[N_ELEMENTS]] = n_links + hosts[k]
            weight[counters[N_ELEMENTS]] = work[k]
            counters[N_ELEMENTS] += 1
    counters[EPOCH] += 1
    latency = 0.0
    window = 0.0
    if each[task] > 0.0:
        members = hosts[ends[task] : ends[task + 1]]
        latency = _add_all_to_all(members, each[task], n_hosts, missing, state, routes)
        window = latency * each[task]
    elif pair_ends[task] < pair_ends[task + 1]:
        latency, window = _add_pairs(task, n_hosts, missing, state, batch, routes)
    if missing[0] > 0:
        counters[N_ELEMENTS] = first
        return False
    enter(first, latency, window, state)
    return True


@kernel(nb.int64(nb.int64, nb.int64, _I1, STATE, BATCH, ROUTES))
def admit(begin: int, n_hosts: int, missing: Any, state: Any, batch: Any, routes: Any) -> int:
    """Start the tasks of a batch from ``begin`` on, at the present clock; return the first that could not start.

    ``_admit_one`` gives the reasons.
    """
    for task in range(begin, len(batch[3])):
        if not _admit_one(task, n_hosts, missing, state, batch, routes):
            return task
    return len(batch[3])


@kernel(nb.types.UniTuple(nb.int64, 2)(nb.int64, nb.int64, _F1, _I1, nb.int64, _I1, STATE, BATCH, ROUTES))
def pass_moments(
    begin: int, task: int, moments: Any, starts: Any, n_hosts: int, missing: Any, state: Any, batch: Any, routes: Any
) -> Any:
    """Move to one moment after another from ``begin`` on, and start the next task, from ``task`` on, at each start.

    Returns the numbers of moments and of tasks passed: all of them, or up to the moment before which tasks ended (they
    stay until ``retire``), or up to the moment at which a task could not start (see ``_admit_one``; the clock then
    shows that moment).
    """
    at = begin
    while at < len(moments):
        if run(moments[at], state) > 0:
            break
        if starts[at]:
            if not _admit_one(task, n_hosts, missing, state, batch, routes):
                break
            task += 1
        at += 1
    return at, task


@kernel(nb.void(nb.int64, nb.int64, nb.float64, nb.int64, STATE))
def change_speed(host: int, cores: int, speed: float, n_hosts: int, state: Any) -> None:
    """Let a host compute at another speed, flop/s of one core."""
    _, _, _, _, _, resource_floats, resource_ints, _, _, links, _, _ = state
    processor = len(resource_floats) - n_hosts + host
    resource_floats[processor, CORE_SPEED] = speed
    resource_floats[processor, CAPACITY] = cores * speed
    element = resource_ints[processor, HEAD]
    while element >= 0:
        bound_rate(links[element, TASK], state)
        mark_dirty(links[element, TASK], state)
        element = links[element, NEXT]
