"""Contents of a platform, and the faults that would make a simulation on it fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from spillway.base import units
from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Platform

_PAIR_LIMIT = 40_000
"""Most pairs of hosts with routes to check; of larger platforms an even selection."""


def summary(platform: Platform) -> Iterator[str]:
    """Lines of text: hosts by role, burst buffers, links, routes, likely faults."""
    roles = Counter(host.role or "compute_node" for host in platform.hosts)
    counts = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    yield f"hosts: {len(platform.hosts)} ({counts})"
    buffers = [int(host.properties.get("capacity_bytes", "0")) for host in platform.hosts]
    if any(buffers):
        total = units.SIZE.write(float(sum(buffers)))
        yield f"burst buffers: {total} on {sum(map(bool, buffers))} hosts"
    fat = int(platform.fatpipe.sum())
    yield f"links: {len(platform.links)} ({fat} of them fat pipes)"
    yield from _routes(platform)
    if not roles["master"]:
        yield "note: no host has the property role=master; Batsim then expects one called master_host"
    idle = [host.name for host in platform.hosts if not host.role and host.speed == 0]
    if idle:
        yield f"note: {len(idle)} compute hosts have speed 0, such as {idle[0]}; Batsim refuses them"


def _routes(platform: Platform) -> Iterator[str]:
    count = len(platform.hosts)
    step = -(-count * count // _PAIR_LIMIT)
    longest, empty, missing, seen = 0, [], [], 0
    for pair in range(0, count * count, step):
        src, dst = divmod(pair, count)
        names = f"{platform.hosts[src].name} -> {platform.hosts[dst].name}"
        seen += 1
        try:
            links = platform.route(src, dst).links
        except PlatformError:
            missing.append(names)
            continue
        longest = max(longest, len(links))
        if not links:
            empty.append(names)
    checked = "all" if step == 1 else f"{seen} of"
    yield f"routes: {checked} {count * count} pairs looked at, {longest} links at most"
    if empty:
        yield f"note: {len(empty)} routes have no links, such as {empty[0]}; traffic there takes no time"
    if missing:
        yield f"note: {len(missing)} pairs have no route, such as {missing[0]}; traffic there is an error"
