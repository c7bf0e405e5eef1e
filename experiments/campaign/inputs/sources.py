"""From a source text to its workloads: files, patterns, members of archives, generators, public logs."""

from __future__ import annotations

import fnmatch
import glob
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spillway.base.errors import OptionError
from spillway.base.files import members
from spillway.base.limits import InputError
from spillway.base.options import build
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import WorkloadSpec
from spillway.schedulers.policies.replay import SITE_WAIT
from spillway.workloads.batsim.json_file import parse_batsim
from spillway.workloads.files import content_suffix, decompress, is_workload, plain_name, read_bytes
from spillway.workloads.load import load_log, load_table, refuse_address
from spillway.workloads.logs import where
from spillway.workloads.logs.lines import LogFile
from spillway.workloads.logs.nodes import held
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.table import JobTable
from spillway.workloads.logs.tables import as_table, parse_swf
from spillway.workloads.models.synthetic import GENERATORS, generator
from spillway.workloads.swf import SwfLog

FEW_SHARED = 0.02
"""Share of jobs that may share nodes in a log that is compared with its site's schedule."""

_FEW_UNKNOWN = 0.01
"""A log is replayed where at most this share of its jobs states no start: those are left out."""

MEMBER = "!"
"""Separates an archive from the member (or the pattern of members) in it."""


@dataclass(frozen=True)
class Source:
    """One workload to be read.

    Attributes
    ----------
    text
        File, archive member, generator or public log.
    name
        Name in the results.
    spec
        The description that it comes from.
    member
        Its bytes where it is a member of an archive.
    """

    text: str
    name: str
    spec: WorkloadSpec
    member: bytes | None = None

    @property
    def is_json(self) -> bool:
        """Whether it already is a Batsim workload (then it is taken as it is)."""
        return content_suffix(self._path) == ".json" if self.member is not None else is_workload(self._path)

    @property
    def is_generated(self) -> bool:
        """Whether a generator makes it."""
        return self.member is None and self.text.partition(":")[0] in GENERATORS

    def content(self) -> bytes:
        """Decompressed bytes of a file or member; raise :class:`spillway.workloads.errors.WorkloadError`."""
        return read_bytes(self._path) if self.member is None else decompress(self.member, self._path)

    def log(self, seed: int) -> SwfLog:
        """Read or generate the log; a generator draws with ``seed`` unless its text names one."""
        if self.member is not None:
            return parse_swf(self.content(), self.text)
        if self.is_generated and "seed=" not in self.text:
            return generator(f"{self.text}{',' if ':' in self.text else ':'}seed={seed}")()
        return load_log(self.text)[0]

    def table(self, seed: int, *, of_machine: bool = False) -> JobTable:
        """Read or generate the log, of any format, as a table of jobs.

        Parameters
        ----------
        seed
            As for :meth:`log`.
        of_machine
            All jobs of the machine, or of the partitions that are chosen, whatever else ``read`` chooses by: the size
            of a machine does not depend on which users are played.

        Raises
        ------
        SpecError
            The workload's ``read`` has an unknown option.
        """
        try:
            reading = build(Reading, self.spec.read)
        except OptionError as error:
            raise SpecError(f"{self.text}: 'read': {error}") from None
        if of_machine:
            reading = replace(reading, where=where.of_machine(reading.where))
        if self.is_generated:
            return where.narrowed(as_table(self.log(seed)), reading.where)
        if self.member is not None:
            from spillway.workloads.logs.formats import read_log  # readers of all formats

            return read_log(LogFile(self.text, self._path, self.member), reading)
        return load_table(self.text, reading)[0]

    def states_starts(self, seed: int, *, force: bool = False) -> bool:
        """Whether (nearly) all jobs state their start at the site, which the policy ``replay`` repeats.

        Not where jobs shared nodes, whose schedule no machine of whole nodes can have, unless ``force``.
        """
        if self.is_generated:
            return False
        if self.is_json:
            jobs = parse_batsim(self.content(), where=self.text).jobs
            return bool(jobs) and all(SITE_WAIT in job.extras for job in jobs)
        table = self.table(seed)
        if not force and (named := held(table)) is not None and named.shared.mean() > FEW_SHARED:
            return False
        known = (table["start_s"] >= table["submit_s"])[table["run_s"] > 0]
        return bool(known.size and known.mean() >= 1 - _FEW_UNKNOWN)

    @property
    def _path(self) -> Path:
        return Path(self.text.partition(MEMBER)[2] or self.text)


def expand(spec: WorkloadSpec) -> list[Source]:
    """List the workloads that a description stands for, in natural order (``part-9`` before ``part-10``).

    Raises
    ------
    SpecError
        A pattern matches nothing, or an archive cannot be read.
    WorkloadError
        The text is an address on the web.
    """
    refuse_address(spec.source)
    if MEMBER in spec.source:
        found = _members(spec)
    elif any(sign in spec.source for sign in "*?["):
        found = [Source(path, plain_name(Path(path)), spec) for path in glob.glob(spec.source, recursive=True)]
    else:
        found = [Source(spec.source, _name(spec.source), spec)]
    if not found:
        raise SpecError(f"workload {spec.source!r}: the pattern matches no file; check it and the folder, and quote it")
    found.sort(key=lambda source: _natural(source.text))
    if spec.name:
        numbered = len(found) > 1
        found = [replace(s, name=f"{spec.name}-{s.name}" if numbered else spec.name) for s in found]
    return found


def the_source(spec: WorkloadSpec) -> Source:
    """The one workload that a description stands for; raise :class:`SpecError` for several."""
    found = expand(spec)
    if len(found) > 1:
        raise SpecError(f"workload {spec.source!r}: expected one log, the pattern matches {len(found)}")
    return found[0]


def with_names(sources: Sequence[Source]) -> list[Source]:
    """Distinguish sources of the same name: files by their folders, generators by the options in which they differ.

    Raises
    ------
    SpecError
        The same workload is given twice.
    """
    counts = Counter(source.name for source in sources)
    same = {name: [s for s in sources if s.name == name] for name, count in counts.items() if count > 1}
    named = [replace(s, name=_distinct(s, same[s.name])) if s.name in same else s for s in sources]
    twice = [name for name, count in Counter(source.name for source in named).items() if count > 1]
    if twice:
        raise SpecError(f"two workloads are called {twice[0]!r}; give each its own name")
    return named


def _members(spec: WorkloadSpec) -> list[Source]:
    archive, _, pattern = spec.source.partition(MEMBER)
    try:
        return [
            Source(f"{archive}{MEMBER}{name}", plain_name(Path(name)), spec, read())
            for name, read in members(archive)
            if fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, f"*/{pattern}")
        ]
    except InputError as error:
        raise SpecError(f"workload {spec.source!r}: the archive {archive!r} {error}") from None


def _name(text: str) -> str:
    generated = text.partition(":")[0]
    return generated if generated in GENERATORS else plain_name(Path(text))


def _folder(source: Source) -> str:
    return Path(source.text.partition(MEMBER)[2] or source.text).resolve().parent.name


def _distinct(source: Source, others: Sequence[Source]) -> str:
    """A name that distinguishes a source from others of the same name."""
    if not source.is_generated:
        return f"{_folder(source)}-{source.name}"
    given = [_options(other) for other in others if other.is_generated]
    keys = sorted({key for options in given for key in options})
    differ = [key for key in keys if len({options.get(key) for options in given}) > 1]
    mine = _options(source)
    said = ",".join(f"{key}={mine[key]}" for key in differ if key in mine)
    return f"{source.name}:{said}" if said else source.name


def _options(source: Source) -> dict[str, str]:
    """Options of a generator, as they were given; the seed that its description names is one of them."""
    items = filter(None, source.text.partition(":")[2].split(","))
    seed = {} if source.spec.seed is None else {"seed": str(source.spec.seed)}
    return seed | dict(item.partition("=")[::2] for item in items)


def _natural(text: str) -> list[tuple[int, int, str]]:
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|\D+", text)]
