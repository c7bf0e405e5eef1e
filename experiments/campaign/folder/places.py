"""Folders of results: one per comparison, named by its workload and its question, with nothing else in it.

``comparison.json`` in a folder states the workloads of the comparison that it holds, with their checksums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from spillway.analysis.answers.whatif import CSV, LEFT_OUT, TEXT
from spillway.analysis.tables.names import slug
from spillway.base import durable
from spillway.experiments.campaign.folder.paper import FIGURES, TABLES
from spillway.experiments.campaign.inputs.sources import Source, expand, with_names
from spillway.experiments.run import manifest
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.folders import read_json, write_json
from spillway.experiments.run.spec import Campaign, WorkloadSpec

RECORD = "comparison.json"
_DIGITS = 7
_DECIDING = ("workloads", "platforms", "policies", "models", "seeds", "engine", "image", "events")
"""Fields of a campaign that runs' schedules depend on; runs are kept when others change."""


def default_folder(campaign: Campaign, below: Path, prefix: str = "") -> Path:
    """``WORKLOAD-DIGEST`` below a folder; the digest is that of the workloads' contents and of the comparison.

    Raises
    ------
    SpecError
        A pattern matches nothing, or two workloads have the same name.
    """
    sources = checksums(campaign.workloads)
    first, *more = sources
    asked = {key: value for key, value in msgspec.to_builtins(campaign).items() if key in _DECIDING}
    text = msgspec.json.encode([asked, sources], order="deterministic")
    name = f"{first}+{len(more)}" if more else first
    return below / f"{prefix}{slug(name)}-{hashlib.sha256(text).hexdigest()[:_DIGITS]}"


def checksums(specs: Iterable[WorkloadSpec]) -> dict[str, str]:
    """Workloads by name, each with the sha256 of its file, or of its text if it is not a file."""
    return {
        source.name: _checksum(source) for source in with_names([source for spec in specs for source in expand(spec)])
    }


def check(folder: Path, campaign: Campaign) -> dict[str, str]:
    """Check that a folder may take a comparison; return the checksums of its workloads.

    Raises
    ------
    SpecError
        It holds a comparison on other workloads.
    """
    ours = checksums(campaign.workloads)
    theirs = read_json(folder / RECORD).get("workloads", {})
    if theirs and not ours.items() & theirs.items():
        raise SpecError(
            f"{str(folder)!r} holds a comparison on {_listed(theirs)}{_changed(ours, theirs)}, this one is on "
            f"{_listed(ours)}: a folder holds one comparison; name another with --out, or delete that one"
        )
    return ours


def claim(folder: Path, workloads: Mapping[str, str]) -> None:
    """Record the workloads of a comparison in its folder."""
    if read_json(folder / RECORD).get("workloads") != workloads:
        manifest.unseal(folder)
        write_json(folder / RECORD, {"workloads": workloads})


def clear(folder: Path, written: Collection[Path]) -> list[str]:
    """Remove report, answer and figures that were not written now: they show an earlier comparison.

    Returns
    -------
    list of str
        Their paths below the folder.
    """
    names = ("report.html", CSV, TEXT, LEFT_OUT, *(f"summary.{kind}" for kind in TABLES))
    old = [folder / name for name in names]
    old += [path for kind in FIGURES for path in (folder / "plots").rglob(f"*.{kind}")]
    gone = sorted(path for path in old if path.is_file() and path not in written)
    for path in gone:
        durable.remove(path)
    return [str(path.relative_to(folder)) for path in gone]


def _checksum(source: Source) -> str:
    if source.member is not None:
        return hashlib.sha256(source.member).hexdigest()
    path = Path(source.text)
    if source.is_generated or not path.is_file():
        return hashlib.sha256(source.text.encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _listed(names: Iterable[str]) -> str:
    first, *more = map(repr, names)
    return f"{first} and {len(more)} more" if more else first


def _changed(ours: dict[str, str], theirs: dict[str, str]) -> str:
    return " (with other contents)" if ours.keys() & theirs.keys() else ""
