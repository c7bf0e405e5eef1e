"""One way in: a file, a public log's name or a generator's name becomes a workload."""

from __future__ import annotations

from pathlib import Path

from workloads.batsim_json import read_batsim
from workloads.convert import ConvertOptions, convert
from workloads.errors import WorkloadError
from workloads.files import content_suffix, plain_name
from workloads.machine_facts import THESIS_MACHINE, MachineFacts
from workloads.swf import SwfLog, read_swf
from workloads.synthetic import GENERATORS, generator
from workloads.workload import Workload


def load_workload(
    source: Path | str, machine: MachineFacts = THESIS_MACHINE, options: ConvertOptions | None = None
) -> Workload:
    """Load a workload.

    Parameters
    ----------
    source
        A Batsim workload (``.json``, ``.json.xz``, ``.json.gz``: taken as it is); a log (``.swf``, ``.swf.xz``,
        ``.swf.gz``), a generator (``kth-like:jobs=500,seed=3``) or the name of a public log: these are converted.
    machine
        The machine that logs are converted for.
    options
        How logs are converted; the default is the thesis's Alloc-Only model.

    Raises
    ------
    WorkloadError
        If there is no such source, or it is malformed.
    """
    if _is_json(str(source)):
        return read_batsim(source)
    log, name = load_log(source)
    return convert(log, machine, options, name)[0]


def load_log(source: Path | str) -> tuple[SwfLog, str]:
    """Load a log from a file, a generator or the catalogue; returns it with a name for it."""
    text = str(source)
    path = Path(text)
    if text.partition(":")[0] in GENERATORS:
        return generator(text)(), text.partition(":")[0]
    if path.exists() or content_suffix(path) == ".swf":
        if _is_json(text):
            raise WorkloadError("expected a log in the Standard Workload Format (.swf), got a Batsim workload", text)
        return read_swf(path), plain_name(path)
    from workloads.catalogue import CATALOGUE, fetch

    if text in CATALOGUE:
        return read_swf(fetch(text).path), text
    raise WorkloadError(
        f"no such workload: {text!r} is no file, no generator ({', '.join(GENERATORS)}) "
        f"and no public log ('python -m workloads list' shows those)"
    )


def _is_json(text: str) -> bool:
    return content_suffix(Path(text)) == ".json"
