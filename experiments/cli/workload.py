"""``spillway workload ACTION``: logs and workloads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from spillway.base.arguments import Parser, add_out, positive, tell

HELP = "logs and workloads: list, fetch, info, convert, split, fit, directives, scripts"
EXAMPLES = """
spillway workload info mine.swf
spillway workload convert mine.swf --out mine.json
spillway workload synth kth-like:jobs=500,seed=3 --out synthetic.swf
"""

_DIRECTIVES = """
spillway workload directives job.sh --nodes 4 --platform tuolumne
"""
_SCRIPTS = """
spillway workload scripts mine.json --scripts scripts/ --out buffered.json
"""


def add_arguments(parser: Parser) -> None:
    """Add the actions."""
    from spillway.workloads.cli import add_actions

    commands = add_actions(parser)
    text = "requests for burst buffers in job scripts, workflow objects and jobspecs, as fields of jobs"
    sub = commands.add_parser("directives", help=text, description=text, examples=_DIRECTIVES)
    sub.add_argument("files", nargs="+", type=Path, metavar="FILE", help="job scripts, or JSON (.json)")
    add = sub.add_argument_group("the job").add_argument
    add("--nodes", type=positive, default=0, metavar="N", help="its compute nodes, if the file does not state them")
    add("--stripes", type=positive, default=1, metavar="K", help="storage nodes of a striped buffer (%(default)s)")
    add = sub.add_argument_group("checks").add_argument
    add("--site", type=Path, default=None, metavar="FILE.toml", help="maxima, presets, profiles (rabbit.toml)")
    add("--platform", default=None, metavar="NAME|FILE", help="a machine's storage nodes")
    sub.set_defaults(command=_directives)
    text = "give the jobs of a Batsim workload the burst buffers and the staging that their scripts request"
    sub = commands.add_parser("scripts", help=text, description=text, examples=_SCRIPTS)
    sub.add_argument("workload", type=Path, metavar="FILE.json", help="Batsim workload")
    add_out(sub.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add = sub.add_argument_group("requests").add_argument
    add("--scripts", type=Path, required=True, metavar="DIR", help="job scripts, named by the jobs' numbers")
    add("--stripes", type=positive, default=1, metavar="K", help="storage nodes of a striped buffer (%(default)s)")
    add("--site", type=Path, default=None, metavar="FILE.toml", help="maxima, presets, profiles (rabbit.toml)")
    sub.set_defaults(command=_scripts)


def _directives(options: argparse.Namespace) -> None:
    lines = requested(options.files, options.nodes, options.site, options.platform, options.stripes)
    for line in list(lines):  # all of them, or the error alone
        tell(line)


def _scripts(options: argparse.Namespace) -> None:
    for line in with_scripts(options.workload, options.scripts, options.site, options.stripes, options.output):
        tell(line)


def command(options: argparse.Namespace) -> int:
    """Run the action that was chosen."""
    from spillway.workloads.cli import act

    return act(options)


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
    from spillway.platforms import platform_from
    from spillway.workloads.errors import WorkloadError
    from spillway.workloads.requests.fields import Site, fields_of, lines_of, read_requests, read_site

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
    from spillway.workloads.batsim.json_file import read_batsim, write_batsim
    from spillway.workloads.logs.directives import read_scripts
    from spillway.workloads.requests.fields import Site, read_site
    from spillway.workloads.requests.scripted_jobs import scripted

    allowed = replace(read_site(site) if site else Site(), stripes=stripes)
    made = scripted(read_batsim(source), read_scripts(folder).by_job, allowed)
    write_batsim(made, out)
    yield from made.notes
    yield f"wrote {out}, {len(made.jobs):,} jobs, content sha256 {made.checksum}"
