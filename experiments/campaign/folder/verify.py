"""``spillway verify DIR``: a check that files on the disk are as they were written."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from spillway.analysis.tables.campaign import read_campaign
from spillway.base.arguments import Parser, tell
from spillway.experiments.campaign.folder import reuse
from spillway.experiments.campaign.folder.summary import RESULTS, SUMMARY
from spillway.experiments.run import manifest, prepared_input
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.folders import FAILED, FINISHED, INPUTS, MANIFEST, RUN_FILE, read_json
from spillway.experiments.run.spec import PreparedInput

HELP = "whether runs and campaigns are as they were written"
DESCRIPTION = (
    "Check that results are as they were written: every run's files and inputs and a campaign's tables, against their "
    "sizes and checksums. Each damaged file is named with its fault."
)
EPILOG = (
    "Exit codes: 0 all whole (failed runs are named, they hold no result); 1 something is damaged; 2 there is nothing "
    "to verify."
)
EXAMPLES = """
spillway verify results
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a run, a campaign, or a folder with several of them")


def command(options: argparse.Namespace) -> int:
    """Print the damage."""
    return verify(options.folder, print)


_DAMAGED = 1
"""Exit code for damage."""

KEPT = "runs"
"""Folder in which the commands of the papers keep one file per result
(:func:`spillway.experiments.campaign.folder.reuse.keep`)."""

_CAMPAIGN_TABLES = frozenset({SUMMARY, RESULTS})

_NOT_READ = ("plots/", "report.html:")
"""Beginnings of the faults of files that no command reads."""


@dataclass
class Findings:
    """Findings below a folder.

    Attributes
    ----------
    whole
        Number of runs and results that are as they were written.
    damaged
        Faults, one line each.
    failed
        Runs that failed and hold no result.
    open
        Campaigns without a manifest of their tables: they were stopped, or one is under way.
    bad
        Number of runs and results with damage.
    """

    whole: int = 0
    bad: int = 0
    damaged: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def add(self, name: str, faults: list[str]) -> None:
        """Count one run or result."""
        self.bad += bool(faults)
        self.whole += not faults
        self.damaged += [f"{name}: {fault}" for fault in faults]


class _Inputs(msgspec.Struct, frozen=True):
    workload: PreparedInput
    platform: PreparedInput
    events: PreparedInput | None = None


def verify(top: Path, say: Callable[[str], None]) -> int:
    """Check all runs, kept results and campaigns below a folder, and print the damage; return the exit code.

    Raises
    ------
    SpecError
        There is nothing to verify.
    """
    found = check(top)
    for word, lines in (("damaged", found.damaged), ("failed", found.failed), ("unfinished", found.open)):
        for line in lines:
            say(f"{word}: {line}")
    say(f"{found.whole} whole, {found.bad} damaged, {len(found.failed)} failed")
    return _DAMAGED if found.damaged else 0


def check(top: Path) -> Findings:
    """Check everything below a folder; raise :class:`SpecError` where there is nothing to check."""
    if not top.is_dir():
        raise SpecError(f"{str(top)!r} is not a folder; expected a run's, a campaign's, or one with several of them")
    verdict = Findings()
    inputs: dict[Path, str] = {}
    claimed: set[Path] = set()
    for folder in _folders(top):
        if (folder / MANIFEST).exists() and _is_campaign(folder):
            claimed.update(folder / run for run in manifest.runs_of(folder))
    for folder in _folders(top):
        name = _name(folder, top)
        if folder in claimed or os.path.lexists(folder / RUN_FILE):
            _check_run(folder, name, verdict, inputs)
        elif _is_campaign(folder):
            _check_campaign(folder, name, verdict)
        elif folder.name == KEPT:
            for path in sorted(folder.glob("*.json")):
                verdict.add(_name(path, top), reuse.damage(path))
        elif os.path.lexists(folder / MANIFEST):
            verdict.add(name, manifest.damage(folder, _CAMPAIGN_TABLES))
    if not (verdict.whole or verdict.bad or verdict.failed or verdict.open):
        raise SpecError(f"{str(top)!r} holds no run and no campaign; expected the folder of one")
    return verdict


def refuse_damaged(folder: Path) -> None:
    """Refuse a campaign's folder whose tables or runs are not as they were written; figures and pages are not read.

    A folder without a manifest of its tables is read, and that is said.

    Raises
    ------
    SpecError
        With the first of its faults.
    """
    if not any(os.path.lexists(folder / name) for name in (MANIFEST, SUMMARY)):
        return  # no campaign, as its reader says
    if os.path.lexists(folder / MANIFEST):
        for fault in manifest.damage(folder, _CAMPAIGN_TABLES):
            if not fault.startswith(_NOT_READ):
                raise SpecError(manifest.damaged(folder, fault))
        runs: Iterable[str] = manifest.runs_of(folder)
    else:
        runs = [row.run for row in read_campaign(folder).rows]
        tell(
            f"note: {folder}: its tables have no manifest: the command that writes them was stopped, and they may be "
            "older than the runs",
            to=sys.stderr,
        )
    for run in runs:
        manifest.refuse_damage(folder / run)


def _folders(top: Path) -> Iterator[Path]:
    """All folders but hidden ones (of writers under way); links are not followed."""
    for place, names, _ in os.walk(top):
        names[:] = sorted(name for name in names if not name.startswith("."))
        yield Path(place)


def _is_campaign(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (INPUTS, *_CAMPAIGN_TABLES))


def _check_campaign(folder: Path, name: str, verdict: Findings) -> None:
    if not os.path.lexists(folder / MANIFEST):
        verdict.open.append(f"{name}: its tables have no manifest; repeat its command")
        return
    verdict.add(name, manifest.damage(folder, _CAMPAIGN_TABLES))


def _check_run(folder: Path, name: str, verdict: Findings, inputs: dict[Path, str]) -> None:
    faults = manifest.damage(folder)
    record = read_json(folder / RUN_FILE)
    if not faults and record.get("status") == FAILED:
        verdict.failed.append(f"{name}: {record.get('cause')}")
        return
    if not faults:
        faults = _contents(folder, record, inputs)
    verdict.add(name, faults)


def _contents(folder: Path, record: dict[str, object], inputs: dict[Path, str]) -> list[str]:
    """Faults of a run with whole files: files of another run, a wrong status, damaged inputs."""
    faults = []
    if record.get("status") != FINISHED:
        faults.append(f"{RUN_FILE}: expected the status {FINISHED!r} or {FAILED!r}, found {record.get('status')!r}")
    if record.get("id") != folder.resolve().name:
        faults.append(f"{RUN_FILE}: it is of another run ({record.get('id')})")
    try:
        used = msgspec.convert(record.get("configuration"), _Inputs)
    except msgspec.ValidationError as error:
        return [*faults, f"{RUN_FILE}: {error}"]
    for input_file in filter(None, (used.workload, used.platform, used.events)):
        path = folder.resolve().parent / input_file.path
        if path not in inputs:
            inputs[path] = prepared_input.damage(path.parent.parent, input_file)
        if inputs[path]:
            faults.append(f"{input_file.path}: {inputs[path]}")
    return faults


def _name(path: Path, top: Path) -> str:
    return str(path.relative_to(top)) if path != top else str(top)
