"""``usage_trace``: replay of each rank's usage of its host's cores.

The ``trace`` file lists one file per rank, relative to itself. Each line of a rank's file reads
``RANK m_usage USAGE FLOPS``: compute ``FLOPS`` on each of ``USAGE`` (0 to 1) of the host's cores, at least on one.
"""

from __future__ import annotations

import math
from pathlib import Path

from spillway.base.errors import shown
from spillway.base.files import read_file, text_of
from spillway.base.limits import InputError
from spillway.core import Work
from spillway.simulator.jobs.profiles.base import (
    ChainTask,
    CompoundWork,
    Node,
    Origin,
    Parallel,
    ParsedProfile,
    Placement,
    ProfileLookup,
    Program,
)

REPORT_BYTES = 4.0
"""Message of a rank at its end."""


class _UsageTrace(CompoundWork):
    """One list of (usage, flops) per rank; ranks go round robin over the job's hosts.

    When a rank has ended it sends the job a message of four bytes, from its host to the job's first one, which
    receives one after another.
    """

    __slots__ = ("ranks",)

    def __init__(self, ranks: tuple[tuple[tuple[float, float], ...], ...]) -> None:
        self.ranks = ranks

    def steps(self, node: Node, place: Placement, lookup: ProfileLookup) -> Program:
        """All ranks side by side, the lines of each one after another."""
        hosts = place.executors
        cores = place.machines.cores
        home = place.machines.all[place.machine_ids[0]].host
        chains, reports = [], []
        for rank, lines in enumerate(self.ranks):
            host = hosts[rank % len(hosts)]
            chains.append(tuple(_task(host, cores[host], usage, flops) for usage, flops in lines))
            reports.append(ChainTask((host, home), 0.0, REPORT_BYTES))
        code: int = yield Parallel(tuple(chains), tuple(reports))
        return code


def _task(host: int, cores: int, usage: float, flops: float) -> ChainTask:
    used = max(math.floor(usage * cores + 0.5), 1)
    return ChainTask((host,) * used, flops)


def replay(name: str, where: str, origin: Origin) -> ParsedProfile:
    """Work of the trace in a file, its path relative to the workload file."""
    if origin.folder is None:
        raise ValueError(f"{where}: a 'usage_trace' profile is only allowed in a workload file")
    path = Path(origin.folder) / name
    ranks = []
    for number, line in enumerate(_lines(where, path)):
        ranks.append(_rank(where, path.parent / line, number))
    if not ranks:
        raise ValueError(f"{where}: the trace {str(path)!r} names no rank")
    return ParsedProfile(Work.of_program(_UsageTrace(tuple(ranks))))


def _lines(where: str, path: Path) -> list[str]:
    try:
        text = text_of(read_file(path))
    except InputError as fault:
        raise ValueError(f"{where}: the trace {str(path)!r} {fault}") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _rank(where: str, path: Path, rank: int) -> tuple[tuple[float, float], ...]:
    found = []
    for number, line in enumerate(_lines(where, path), 1):
        words = line.split()
        if words[0].startswith("#") or words[0] != str(rank):
            continue
        try:
            usage, flops = float(words[2]), float(words[3])
            good = words[1] == "m_usage" and 0 <= usage <= 1 and 0 <= flops < math.inf
        except (IndexError, ValueError):
            good = False
        if not good:
            raise ValueError(
                f"{path}, line {number}: expected '{rank} m_usage USAGE FLOPS' with a usage from 0 to 1, "
                f"got {shown(line)}"
            )
        found.append((usage, flops))
    return tuple(found)
