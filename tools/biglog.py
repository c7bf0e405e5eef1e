"""``python -m tools.biglog --rows 10000000``: writes a large log, and measures its reading and conversion.

Time and peak memory (resident set) of ``workload info`` and of ``workload convert``, each in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

_BATCH = 100_000
_SACCT = "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|NNodes|ReqTRES\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.biglog", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="jobs (%(default)s)")
    parser.add_argument("--kind", choices=tuple(KINDS), default="swf", help="format (%(default)s)")
    parser.add_argument("--folder", type=Path, default=None, help="folder for the files (a temporary one)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        suffix, write = KINDS[options.kind]
        log, workload = Path(folder) / f"big{suffix}", Path(folder) / "big.json"
        with log.open("w") as stream:
            for text in write(options.rows):
                stream.write(text)
        print(f"{options.rows:,} rows, {log.stat().st_size / 1e6:,.0f} MB of {options.kind}", flush=True)
        measure("info", ["info", str(log)])
        measure("convert", ["convert", str(log), "--out", str(workload), "--nodes", "4096"])
        print(f"workload of {workload.stat().st_size / 1e6:,.0f} MB")
    return 0


def measure(name: str, arguments: list[str]) -> None:
    """Run an action in a process of its own; print its time and its peak memory."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "spillway", "workload", *arguments]
    child = os.spawnv(os.P_NOWAIT, sys.executable, command)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{name} ended with status {status}")
    seconds = time.perf_counter() - begin
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{name}: {seconds:.0f} s ({cpu:.0f} s of processor), peak {usage.ru_maxrss / 1e6:.2f} GB", flush=True)


def swf(rows: int) -> Iterator[str]:
    """A log in the Standard Workload Format, in pieces."""
    yield "; Version: 2.2\n; MaxProcs: 4096\n; UnixStartTime: 1500000000\n"
    for first, columns in _jobs(rows):
        yield "".join(
            f"{number} {submit} {wait} {run} {nodes} -1 -1 {nodes} {limit} -1 1 {user} 1 -1 {user % 5} -1 -1 -1\n"
            for number, (submit, wait, run, nodes, limit, user) in enumerate(columns, start=first)
        )


def sacct(rows: int) -> Iterator[str]:
    """Output of sacct --parsable2, in pieces."""
    yield _SACCT
    for first, columns in _jobs(rows):
        yield "".join(
            f"{number}|user{user}|queue{user % 5}|COMPLETED|{_clock(submit)}|{_clock(submit + wait)}|"
            f"{_clock(submit + wait + run)}|{run}|{limit // 3600:02}:{limit % 3600 // 60:02}:00|{nodes}|"
            f"cpu={nodes * 4},mem={nodes * 8}G,node={nodes},billing={nodes}\n"
            for number, (submit, wait, run, nodes, limit, user) in enumerate(columns, start=first)
        )


KINDS: dict[str, tuple[str, Callable[[int], Iterator[str]]]] = {"swf": (".swf", swf), "sacct": (".txt", sacct)}


def _clock(seconds: int) -> str:
    return f"{datetime.fromtimestamp(1_500_000_000 + seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def _jobs(rows: int) -> Iterator[tuple[int, Iterator[tuple[int, ...]]]]:
    """Number of the first job of a batch, and submission, wait, run time, nodes, limit and user of each."""
    random = np.random.default_rng(1)
    clock = 0
    for first in range(0, rows, _BATCH):
        count = min(_BATCH, rows - first)
        submit = clock + np.cumsum(random.integers(0, 40, count))
        clock = int(submit[-1])
        run = random.integers(1, 20_000, count)
        columns = (
            submit, random.integers(0, 50_000, count), run, 2 ** random.integers(0, 7, count),
            60 * (run // 60 + random.integers(1, 300, count)), random.integers(0, 900, count),
        )  # fmt: skip
        yield first + 1, zip(*(column.tolist() for column in columns), strict=True)


if __name__ == "__main__":
    sys.exit(main())
