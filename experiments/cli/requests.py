"""Requests in files of directives, checked against a site and a machine, as lines to be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from spillway.platforms import platform_from
from spillway.workloads.batsim.json_file import read_batsim, write_batsim
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.directives import read_scripts
from spillway.workloads.requests.fields import Site, fields_of, lines_of, read_requests, read_site
from spillway.workloads.requests.scripted_jobs import scripted


def requested(
    files: Sequence[Path], nodes: int, site: Path | None, platform: str | None, stripes: int
) -> Iterator[str]:
    """Lines on each file: its requests, and the fields of a job.

    Parameters
    ----------
    nodes
        Nodes of the job where a file does not state them; 0: not stated.

    Raises
    ------
    WorkloadError
        A file is malformed, or its request cannot be met (the error has the inequality).
    """
    allowed = replace(read_site(site) if site else Site(), stripes=stripes)
    if platform is not None:
        hosts = platform_from(platform).hosts
        sizes = [int(host.properties["capacity_bytes"]) for host in hosts if "capacity_bytes" in host.properties]
        if not sizes:
            raise WorkloadError("the machine has no storage nodes", platform)
        allowed = replace(allowed, storages=tuple(sizes))
    for path in files:
        requests, stated = read_requests(path, allowed)
        count = stated or nodes
        if not count:
            raise WorkloadError("it states no nodes: state them with --nodes", str(path))
        yield f"{path}: {count} nodes"
        yield from (f"  {line}" for line in lines_of(requests))
        fields = fields_of(requests, count, allowed, str(path))
        yield f"  fields of the job: {', '.join(f'{key} {value}' for key, value in fields.items()) or 'none'}"


def with_scripts(source: Path, folder: Path, site: Path | None, stripes: int, out: Path) -> Iterator[str]:
    """Write a workload with the requests of the job scripts in a folder; yield lines on the result.

    Raises
    ------
    WorkloadError
        A file is malformed, or no job has a script.
    """
    allowed = replace(read_site(site) if site else Site(), stripes=stripes)
    made = scripted(read_batsim(source), read_scripts(folder).by_job, allowed)
    write_batsim(made, out)
    yield from made.notes
    yield f"wrote {out}, {len(made.jobs):,} jobs, content sha256 {made.checksum}"
