"""Recordings of a Slurm: read from its controller's log, kept as JSON."""

from __future__ import annotations

import lzma
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from spillway.base import durable, limits
from spillway.base.files import read_file
from spillway.experiments.run.errors import RunFailed, SpecError
from spillway.experiments.slurm.configuration import Settings, Submission

MINUTE_S = 60
"""Recordings begin at a whole minute: Slurm rounds planned times to whole minutes of the clock."""

STEPS: Mapping[str, str] = {
    "submitted": r"_slurm_rpc_submit_batch_job: JobId=(\d+) .*usec=(\d+)",
    "allocated": r"start job allocate JobId=(\d+)",
    "staged": r"stage-in complete for JobId=(\d+)",
    "started": r"(?:sched: Allocate|_start_job: Started) JobId=(\d+) ",
    "ended": r"_job_complete: JobId=(\d+) done",
    "staged_out": r"Modify JobId=(\d+) burst buffer state from staging-out to teardown",
    "freed": r"Modify JobId=(\d+) burst buffer state from teardown to complete",
}
"""Log lines of the controller on the steps of a job: the job's number, and the duration of the step, us."""


NODES = re.compile(r"(?:NodeList=| on )n(\d+|\[[\d,-]+\])")
"""Nodes of a job, in the line of its start."""
RESPONSE = re.compile(r"node_did_resp n(\d+)")
"""A node has answered; the first answer after the end of a job is from a node that had to end it."""
_ALL_RESPONSES = re.compile(r"Tree head got back (\d+)$")
"""This many nodes have answered: the controller frees nodes then, and logs each node later, 22.05 within a few ms. If a
pass begins in the same ms, the order in the log shows which was first."""

TIE_S = 0.0004
"""Time of an event before or after a pass that began in the same ms: the log's clock has no finer resolution."""

_EXTENDED = re.compile(r"Extending JobId=(\d+) time limit by (\d+) secs for configuration")
"""A job's limit is extended by the seconds of the clock that its configuration took, which follows its start."""
_BETWEEN_PASSES = frozenset({"staged", "ended", "freed"})
"""Steps that are taken between passes and calculations: in the ms of one the order of the log shows which was first."""

BACKFILLED = "_start_job: Started"
_TESTED = re.compile(r"BACKFILL: test for JobId=(\d+) .*Partition=(\S+)")
"""A backfill pass tests a job in one of its partitions."""
_NOT_PLANNED = re.compile(r"entering _try_sched for JobId|Try later JobId|overlaps with existing reservation")
"""Log lines of a backfill pass on a job that it has not planned yet."""
_PASS_ENDS = "_attempt_backfill: completed testing"
_PASS_IS_WHOLE = re.compile("BACKFILL: (?:reached end of job queue|bf_max_job_test: limit of)")

PASSES = {
    "main": "sched: Running job scheduler",
    "backfill": "_attempt_backfill: beginning",
    "calculated": "Fair Tree fairshare algorithm, starting at",
}
"""Log lines of the controller at the begin of a pass, or of a calculation of priorities."""


class RecordedJob(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A job as it was submitted, and the times of its steps.

    Attributes
    ----------
    request
        The submission; its time is the planned one.
    submitted, allocated, staged, started, ended, idle, staged_out, freed
        Times of the submission, of the allocation of its buffer and the end of its stage-in, of the start, of the end,
        of the return of its last node, of the end of its stage-out and the release of its buffer: s after the begin of
        the recording. ``None`` for a step that did not happen.
    extended
        Extension of its limit, s; ``None`` where it was not recorded.
    backfilled
        Whether the backfill scheduler started it.
    """

    request: Submission
    submitted: float | None = None
    allocated: float | None = None
    staged: float | None = None
    started: float | None = None
    ended: float | None = None
    idle: float | None = None
    staged_out: float | None = None
    freed: float | None = None
    backfilled: bool = False
    extended: float | None = None


class Instant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Priorities and shares at one time.

    Attributes
    ----------
    at_s
        s after the begin of the recording.
    priorities
        A line of ``sprio`` for each waiting job in each of its partitions: job, partition, priority, and the terms age,
        fair share, size, partition, QOS, nice and TRES (``-`` for an empty term).
    shares
        A line of ``sshare -P`` for each user in an account: account, user, raw usage, fair share.
    """

    at_s: float
    priorities: list[str]
    shares: list[str]


class SlurmOutput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Output of the commands of a Slurm, at times in s since the epoch; as in :class:`Recording`.

    Attributes
    ----------
    submitted
        Time of submission of each job that waited, in whole seconds of the controller's clock, as ``squeue`` prints it.
    """

    states: list[tuple[float, int, str, str]] = []
    submitted: dict[int, str] = {}
    instants: list[Instant] = []
    site: dict[str, str] = {}


class Recording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run of a real Slurm.

    Attributes
    ----------
    slurm
        Its version.
    settings
        Its settings.
    main, backfill
        Times of the passes of these schedulers, s after the begin; their loops sleep for the interval after each pass,
        so that passes drift against the clock and against each other.
    cut
        Backfill passes that ended before they had tested all jobs, as at the end of ``bf_max_time``: begin, last
        planned job and its partition; job 0 if no job was planned.
    jobs
        In order of their numbers, from 1.
    states
        Changes in the output of ``squeue``: time, job, state, reason.
    calculated
        Times of the calculations of all priorities, s after the begin; with a site.
    instants
        Priorities and shares at some times; with a site.
    site
        Output and configuration of its Slurm, by the names of the files; empty: no site.
    begins
        Date of the begin, as the setting ``begins`` takes it; "" where it is not known.
    """

    slurm: str
    settings: Settings
    main: list[float]
    backfill: list[float]
    cut: list[tuple[float, int, str]] = []
    jobs: list[RecordedJob]
    states: list[tuple[float, int, str, str]] = []
    calculated: list[float] = []
    instants: list[Instant] = []
    site: dict[str, str] = {}
    begins: str = ""


def read(path: Path) -> Recording:
    """Read a recording.

    Raises
    ------
    SpecError
        The file cannot be read, or is not a recording.
    """
    try:
        return msgspec.json.decode(read_file(path), type=Recording)
    except limits.InputError as error:
        raise SpecError(f"{path}: {error}") from None
    except msgspec.MsgspecError as error:
        raise SpecError(f"{path}: no recording of 'spillway validate slurm --record': {error}") from None


def write(recording: Recording, path: Path) -> None:
    """Write a recording, one line per job and one per state; packed where the name ends in ``.xz``."""
    fields = []
    for name in Recording.__struct_fields__:
        value = getattr(recording, name)
        if name in ("jobs", "states", "instants"):
            fields.append(f'"{name}": [\n' + ",\n".join(_text(item) for item in value) + "\n]")
        else:
            fields.append(f'"{name}": {_text(value)}')
    data = ("{\n" + ",\n".join(fields) + "\n}\n").encode()
    durable.write_bytes(path, lzma.compress(data, preset=9) if path.suffix == ".xz" else data)


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def recorded(log: str, settings: Settings, jobs: Sequence[Submission], seen: SlurmOutput) -> Recording:
    """Make a recording from the controller's log and the output of commands.

    Raises
    ------
    RunFailed
        A job was not submitted, or did not end.
    """
    lines = _ControllerLog(jobs, settings.release)
    lines.read(log)
    found, passes = lines.jobs, lines.passes
    if unfinished := [number for number, job in enumerate(found, start=1) if job.started is None or job.ended is None]:
        raise RunFailed(f"Slurm's log does not say that these jobs started and ended: {unfinished[:10]}")
    for number, text in seen.submitted.items():
        job = found[number - 1]
        assert job.submitted is not None
        job.submitted = min(job.submitted, _epoch_s(text) + 1.0 - TIE_S)
    origin = math.floor(min(job.submitted for job in found if job.submitted is not None) / MINUTE_S) * MINUTE_S
    for item in found:
        for step in (*STEPS, "idle"):
            if (at := getattr(item, step)) is not None:
                setattr(item, step, round(at - origin, 4))
    version = re.search(r"slurmctld version (\S+) started", log)
    return Recording(
        slurm=version[1] if version else "",
        settings=settings,
        main=[round(at - origin, 3) for at in passes["main"] if at >= origin],
        backfill=[round(at - origin, 3) for at in passes["backfill"] if at >= origin],
        cut=[(round(at - origin, 3), job, partition) for at, job, partition in _cut_passes(log) if at >= origin],
        jobs=found,
        states=[(round(at - origin, 3), job, state, reason) for at, job, state, reason in seen.states],
        calculated=[round(at - origin, 3) for at in passes["calculated"]],
        instants=[msgspec.structs.replace(instant, at_s=round(instant.at_s - origin, 3)) for instant in seen.instants],
        site=seen.site,
        begins=datetime.fromtimestamp(origin, UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    )


class _ControllerLog:
    """Steps of jobs and begins of passes in a controller's log.

    Attributes
    ----------
    jobs
        The jobs, in order of submission.
    passes
        Begins of passes and calculations, by name (s since 1970).
    """

    def __init__(self, jobs: Sequence[Submission], release: str) -> None:
        self.jobs = [RecordedJob(request=job, extended=0.0) for job in jobs]
        self.passes: dict[str, list[float]] = {name: [] for name in PASSES}
        self._patterns = {step: re.compile(text) for step, text in STEPS.items()}
        self._late_responses = release != "22.05"
        self._answered: set[int] = set()
        self._held: dict[int, RecordedJob] = {}  # by node: its present or last job
        self._between: list[tuple[RecordedJob, str, float, float]] = []

    def read(self, log: str) -> None:
        """Read all lines."""
        for at_s, line in _timed(log):
            in_order_s = TIE_S if any(times and times[-1] == at_s for times in self.passes.values()) else -TIE_S
            self._step(at_s, line, in_order_s)
            if match := _EXTENDED.search(line):
                self.jobs[int(match[1]) - 1].extended = float(match[2])
            self._response(at_s, line, in_order_s)
            for name, text in PASSES.items():
                if text in line:
                    self.passes[name].append(at_s)
        began = set().union(*self.passes.values())
        for job, step, at_s, in_order_s in self._between:
            if at_s in began:
                setattr(job, step, at_s + in_order_s)

    def _step(self, at_s: float, line: str, in_order_s: float) -> None:
        """Note the step of a job that a line states."""
        for step, pattern in self._patterns.items():
            if match := pattern.search(line):
                job = self.jobs[int(match[1]) - 1]
                longer_s = sum(map(int, match.groups()[1:])) / 1e6
                setattr(job, step, at_s - longer_s)
                if step in _BETWEEN_PASSES:
                    self._between.append((job, step, at_s, in_order_s))
                if step == "started":
                    job.backfilled = BACKFILLED in line
                    self._held |= dict.fromkeys(_nodes(line), job)

    def _response(self, at_s: float, line: str, in_order_s: float) -> None:
        """Note that nodes of an ended job have answered, if a line says so."""
        if match := _ALL_RESPONSES.search(line):
            wide = [job for job in self._held.values() if job.request.nodes == int(match[1])]
            for job in [job for job in wide if job.ended is not None]:
                job.idle = at_s + in_order_s
                self._answered.add(id(job))
                if self._late_responses:
                    self._held = {node: other for node, other in self._held.items() if other is not job}
        elif not self._late_responses and (match := RESPONSE.search(line)):
            last = self._held.get(int(match[1]))
            if last is None or last.ended is None:
                return
            if id(last) not in self._answered:
                last.idle = at_s
            del self._held[int(match[1])]


def _cut_passes(log: str) -> Iterable[tuple[float, int, str]]:
    """Backfill passes of a log that ended before they had tested all jobs, in the form of :attr:`Recording.cut`."""
    began_s, tested, planned, whole = math.nan, (0, ""), (0, ""), False
    for at_s, line in _timed(log):
        if PASSES["backfill"] in line:
            began_s, tested, planned, whole = at_s, (0, ""), (0, ""), False
        elif match := _TESTED.search(line):
            planned, tested = tested, (int(match[1]), match[2])
        elif _PASS_IS_WHOLE.search(line):
            whole = True
        elif _PASS_ENDS in line:
            if not whole:
                yield began_s, *planned
        elif tested != planned and f"JobId={tested[0]} " in f"{line} " and not _NOT_PLANNED.search(line):
            planned = tested


def _nodes(line: str) -> Iterable[int]:
    """Numbers of the nodes that a line names, as in ``n[1,7-8]``."""
    match = NODES.search(line)
    for part in match[1].strip("[]").split(",") if match else ():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _timed(log: str) -> Iterable[tuple[float, str]]:
    """Lines of a log that begin with a time, and that time in s since the epoch as if the clock showed UTC."""
    for line in log.splitlines():
        stamp, bracket, rest = line[1:].partition("] ")
        if line.startswith("[") and bracket:
            yield _epoch_s(stamp), rest


def _epoch_s(stamp: str) -> float:
    return datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp()
