"""The fluid engine's inner loops: the rates of tasks, and the next event.

This is SimGrid's ``ptask_L07`` with its *fair bottleneck* sharing, reproduced operation by operation and in its order,
so that even rounding agrees: whether a resource counts as exhausted may depend on the last bit, and one round more or
less changes rates visibly. Only its cost differs: rates are computed again in the part of the machine that a change can
reach (tasks linked by common resources), and the rates of other tasks stay unchanged; rounds in one part never depend
on another part.

The sharing, in rounds, over tasks that are still *open* and resources still in play: a resource offers each of its
open tasks an equal part of its free capacity (a fat pipe: all of it to each); a task raises its rate by the smallest
offer/weight, at most up to its bound; the raise is taken from all its resources. A resource with free capacity below
1e-5 leaves, and settles its tasks; so does reaching the bound. Settled tasks continue to take their last raise from
resources in play in every later round: this is SimGrid's behaviour, and its difference from max-min.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from spillway.simulator.engines.fluid_state import (
    ACTIVE,
    BOUND,
    CAPACITY,
    CORE_SPEED,
    COUNT,
    DIRTY,
    ENDED,
    ENTRY,
    EPOCH,
    FATPIPE,
    FIRST,
    FREE,
    HANDLE,
    HEAD,
    LATENCY,
    N_ACTIVE,
    N_DIRTY,
    N_ELEMENTS,
    N_FREE,
    NEXT,
    NEXT_ENTRY,
    OFFER,
    OPEN,
    PREVIOUS,
    RAISE,
    RATE,
    REMAINING,
    RESOURCE_MARK,
    RESOURCES,
    SLEEPING,
    STAGE,
    STATE,
    TASK,
    TASK_MARK,
    TASKS,
    UNUSED,
    WINDOW_BOUND,
    WORKING,
    inner,
    kernel,
)

RATE_PRECISION = 1e-5
"""Free capacity below this counts as 0 (SimGrid's ``maxmin/precision``)."""
TIME_PRECISION = 1e-9
"""Latency below this counts as 0 (SimGrid's ``surf/precision``), in s."""
WORK_PRECISION = RATE_PRECISION * TIME_PRECISION
"""Remaining work below this counts as 0."""
_PATIENCE = 100_000_000
"""Work, in tasks and resources visited, without any task settled, after which the rounds are cut short: a second or
two. Fat pipes with very unequal users take that long to fill; SimGrid continues, for hours in some cases."""
_LAST_ROUNDS = 100
"""Rounds from then on; bounds count as reached within a slack that grows by 1e-15 with each."""


@inner(nb.void(nb.int64, STATE))
def mark_dirty(row: int, state: Any) -> None:
    """Note that the users of all resources of a task changed."""
    _, counters, _, ints, _, _, resource_ints, element_resource, _, _, dirty, _ = state
    for element in range(ints[row, FIRST], ints[row, FIRST] + ints[row, COUNT]):
        resource = element_resource[element]
        if not resource_ints[resource, DIRTY]:
            resource_ints[resource, DIRTY] = 1
            dirty[counters[N_DIRTY]] = resource
            counters[N_DIRTY] += 1


@kernel(nb.void(nb.int64, STATE))
def link_elements(row: int, state: Any) -> None:
    """Put the elements of a task into the lists of their resources."""
    _, _, _, ints, _, _, resource_ints, element_resource, _, links, _, _ = state
    for element in range(ints[row, FIRST], ints[row, FIRST] + ints[row, COUNT]):
        resource = element_resource[element]
        head = resource_ints[resource, HEAD]
        links[element, TASK] = row
        links[element, PREVIOUS] = -1
        links[element, NEXT] = head
        if head >= 0:
            links[head, PREVIOUS] = element
        resource_ints[resource, HEAD] = element


@inner(nb.void(nb.int64, STATE))
def _unlink_elements(row: int, state: Any) -> None:
    """Take the elements of a task out of the lists of their resources."""
    _, _, _, ints, _, _, resource_ints, element_resource, _, links, _, _ = state
    for element in range(ints[row, FIRST], ints[row, FIRST] + ints[row, COUNT]):
        before, after = links[element, PREVIOUS], links[element, NEXT]
        if before >= 0:
            links[before, NEXT] = after
        else:
            resource_ints[element_resource[element], HEAD] = after
        if after >= 0:
            links[after, PREVIOUS] = before


@inner(nb.void(nb.int64, STATE))
def bound_rate(row: int, state: Any) -> None:
    """Set a task's largest rate: that of the TCP window, and on every host one core's speed."""
    _, _, floats, ints, _, resource_floats, _, element_resource, weight, _, _, _ = state
    bound = floats[row, WINDOW_BOUND]
    for element in range(ints[row, FIRST], ints[row, FIRST] + ints[row, COUNT]):
        bound = min(bound, resource_floats[element_resource[element], CORE_SPEED] / weight[element])
    floats[row, BOUND] = bound if bound < np.finfo(np.float64).max else 0.0


@inner(nb.void(nb.int64, STATE))
def begin_work(row: int, state: Any) -> None:
    """Let a task take part in the sharing from now on."""
    counters, ints = state[1], state[3]
    ints[row, STAGE] = WORKING
    ints[row, ENTRY] = counters[NEXT_ENTRY]
    counters[NEXT_ENTRY] += 1
    bound_rate(row, state)
    link_elements(row, state)
    mark_dirty(row, state)


@inner(nb.types.UniTuple(nb.int64, 2)(STATE))
def reach(state: Any) -> Any:
    """Collect the tasks and resources that the dirty resources can influence, in their initial state; count both."""
    _, counters, floats, ints, _, resource_floats, resource_ints, element_resource, _, links, dirty, scratch = state
    counters[EPOCH] += 1
    epoch = counters[EPOCH]
    found = counters[N_DIRTY]
    counters[N_DIRTY] = 0
    for k in range(found):
        resource_ints[dirty[k], DIRTY] = 0
        resource_ints[dirty[k], RESOURCE_MARK] = epoch
        scratch[RESOURCES, k] = dirty[k]
    tasks = 0
    k = 0
    while k < found:
        at = scratch[RESOURCES, k]
        k += 1
        resource_floats[at, UNUSED] = resource_floats[at, CAPACITY]
        element = resource_ints[at, HEAD]
        while element >= 0:
            row = links[element, TASK]
            if ints[row, TASK_MARK] != epoch:
                ints[row, TASK_MARK] = epoch
                ints[row, OPEN] = 1
                floats[row, RATE] = 0.0
                scratch[TASKS, tasks] = row
                tasks += 1
                for other in range(ints[row, FIRST], ints[row, FIRST] + ints[row, COUNT]):
                    resource = element_resource[other]
                    if resource_ints[resource, RESOURCE_MARK] != epoch:
                        resource_ints[resource, RESOURCE_MARK] = epoch
                        scratch[RESOURCES, found] = resource
                        found += 1
            element = links[element, NEXT]
    return tasks, found


@inner(nb.int64(nb.int64, STATE))
def _make_offers(resources: int, state: Any) -> int:
    """First part of a round: set the offer of every resource; return the number of resources with open tasks."""
    _, _, _, ints, _, resource_floats, resource_ints, _, _, links, _, scratch = state
    kept = 0
    for k in range(resources):
        resource = scratch[RESOURCES, k]
        users = 0
        element = resource_ints[resource, HEAD]
        while element >= 0:
            users += ints[links[element, TASK], OPEN]
            element = links[element, NEXT]
        if users > 0:
            if resource_ints[resource, FATPIPE]:
                users = 1
            resource_floats[resource, OFFER] = resource_floats[resource, UNUSED] / users
            scratch[RESOURCES, kept] = resource
            kept += 1
    return kept


@inner(nb.void(nb.int64, nb.float64, STATE))
def _raise_rates(tasks: int, slack: float, state: Any) -> None:
    """Second part: raise open tasks by their smallest offer per weight; settle those at their bound (with a slack)."""
    _, _, floats, ints, _, resource_floats, _, element_resource, weight, _, _, scratch = state
    for k in range(tasks):
        row = scratch[TASKS, k]
        step = np.finfo(np.float64).max
        for element in range(ints[row, FIRST], ints[row, FIRST] + ints[row, COUNT]):
            step = min(step, resource_floats[element_resource[element], OFFER] / weight[element])
        bound = floats[row, BOUND]
        if bound > 0:
            step = min(step, bound - floats[row, RATE])
        floats[row, RAISE] = step
        floats[row, RATE] += step
        if bound > 0 and abs(floats[row, RATE] - bound) <= slack * bound:
            ints[row, OPEN] = 0


@inner(nb.int64(nb.int64, STATE))
def _take_raises(resources: int, state: Any) -> int:
    """Third part: take the last raises of all users, settled ones too, and settle the users of exhausted resources.

    Returns the number of resources left.
    """
    _, _, floats, ints, _, resource_floats, resource_ints, _, weight, links, _, scratch = state
    kept = 0
    for k in range(resources):
        resource = scratch[RESOURCES, k]
        unused = resource_floats[resource, UNUSED]
        least = resource_floats[resource, OFFER]
        fat = resource_ints[resource, FATPIPE]
        head = resource_ints[resource, HEAD]
        element = head
        while element >= 0:
            taken = weight[element] * floats[links[element, TASK], RAISE]
            if fat:
                least = min(least, taken)
            else:
                unused = 0.0 if unused - taken < RATE_PRECISION else unused - taken
            element = links[element, NEXT]
        if fat:
            unused = 0.0 if unused - least < RATE_PRECISION else unused - least
        resource_floats[resource, UNUSED] = unused
        if unused > 0.0:
            scratch[RESOURCES, kept] = resource
            kept += 1
            continue
        element = head
        while element >= 0:
            ints[links[element, TASK], OPEN] = 0
            element = links[element, NEXT]
    return kept


@inner(nb.int64(nb.int64, STATE))
def _still_open(tasks: int, state: Any) -> int:
    """Keep the tasks that are not settled yet; return their number."""
    ints, scratch = state[3], state[11]
    kept = 0
    for k in range(tasks):
        if ints[scratch[TASKS, k], OPEN]:
            scratch[TASKS, kept] = scratch[TASKS, k]
            kept += 1
    return kept


@inner(nb.void(STATE))
def solve(state: Any) -> None:
    """Find the rates of all tasks that the changes since the last call can influence."""
    if state[1][N_DIRTY] == 0:
        return
    tasks, resources = reach(state)
    idle = 0
    extra = 0
    while tasks > 0 and extra < _LAST_ROUNDS:
        resources = _make_offers(resources, state)
        _raise_rates(tasks, extra * 1e-15, state)
        resources = _take_raises(resources, state)
        before = tasks
        tasks = _still_open(tasks, state)
        idle = idle + tasks + resources if tasks == before else 0
        extra += idle > _PATIENCE


@inner(nb.float64(STATE))
def _time_to_event(state: Any) -> float:
    """Seconds to the next end of a latency or a task at the present rates; negative if no such end will come."""
    _, counters, floats, ints, lists, _, _, _, _, _, _, _ = state
    soonest = -1.0
    for k in range(counters[N_ACTIVE]):
        row = lists[ACTIVE, k]
        if ints[row, STAGE] != WORKING:
            wait = floats[row, LATENCY]
        elif floats[row, RATE] > 0.0:
            wait = floats[row, REMAINING] / floats[row, RATE] if floats[row, REMAINING] > 0.0 else 0.0
        else:
            continue
        if soonest < 0.0 or wait < soonest:
            soonest = wait
    return soonest


@inner(nb.int64(nb.float64, STATE))
def _pass_time(delta: float, state: Any) -> int:
    """Let ``delta`` seconds pass for all tasks; return the number of those that ended (stage ``ENDED``)."""
    _, counters, floats, ints, lists, _, _, _, _, _, _, _ = state
    ended = 0
    for k in range(counters[N_ACTIVE]):
        row = lists[ACTIVE, k]
        if ints[row, STAGE] != WORKING:
            left = floats[row, LATENCY] - delta
            floats[row, LATENCY] = left
            if left >= TIME_PRECISION:
                continue
            floats[row, LATENCY] = 0.0
            if ints[row, STAGE] == SLEEPING:
                ints[row, STAGE] = ENDED
                ended += 1
            else:
                begin_work(row, state)
        else:
            left = floats[row, REMAINING] - floats[row, RATE] * delta
            floats[row, REMAINING] = left
            if left < WORK_PRECISION:
                floats[row, REMAINING] = 0.0
                ints[row, STAGE] = ENDED
                ended += 1
    return ended


@kernel(nb.int64(nb.float64, STATE))
def run(until: float, state: Any) -> int:
    """Move the clock to ``until`` or the first end of a task; return the number of ended tasks, kept for ``retire``."""
    clock = state[0]
    while True:
        solve(state)
        delta = _time_to_event(state)
        span = until - clock[0]
        if delta >= 0.0 and delta < span:
            clock[0] = min(clock[0] + delta, until)
            ended = int(_pass_time(delta, state))
            if ended > 0:
                return ended
        elif span < np.inf:
            clock[0] = until
            return int(_pass_time(span, state))
        else:
            return 0


@kernel(nb.int64(STATE, nb.int64[::1]))
def retire(state: Any, handles: Any) -> int:
    """Remove ended tasks; write their handles in the order of their starts, and return their number."""
    _, counters, _, ints, lists, _, _, _, _, _, _, _ = state
    ended = 0
    kept = 0
    for k in range(counters[N_ACTIVE]):
        row = lists[ACTIVE, k]
        if ints[row, STAGE] != ENDED:
            lists[ACTIVE, kept] = row
            kept += 1
            continue
        handles[ended] = ints[row, HANDLE]
        ended += 1
        if ints[row, ENTRY] > 0:
            mark_dirty(row, state)
            _unlink_elements(row, state)
            ints[row, ENTRY] = 0
        lists[FREE, counters[N_FREE]] = row
        counters[N_FREE] += 1
    counters[N_ACTIVE] = kept
    if counters[N_ACTIVE] == 0:
        counters[N_ELEMENTS] = 0
    return ended
