"""Registry of workloads, profiles and jobs, and of all names ever used.

Batsim never lets a name be used twice, even after the job or profile is gone, so names are kept when their
objects are dropped; job names that count up from 0 take no memory. Workloads that a scheduler made stay, because it
may name their profiles again; those without a job are packed.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NoReturn

from spillway.base.errors import shown
from spillway.core import JobRows, Origin, OriginKind, SimulatedJob, StaticJobs, as_printed
from spillway.protocol.fields import Fields
from spillway.protocol.jobs import check_size, read_job
from spillway.protocol.messages import JsonObject
from spillway.simulator.jobs.profiles.base import ProfileLookup
from spillway.simulator.options import BATSIM_4, Rules
from spillway.simulator.reading.identifiers import resolve_id, split_id

_PACKED_AT_A_TIME = 32
"""Workloads that are packed, and unpacked, together, so that their common parts take memory once."""


class UsedNames:
    """A set of names that never shrinks.

    Numbers that count up from the first one need no memory, each number left out between them a little; where many are
    left out, later names are kept as texts.
    """

    __slots__ = ("_begin", "_end", "_next", "_others", "_unused")

    def __init__(self) -> None:
        self._begin = self._end = 0
        self._next = "0"
        self._others: set[str] | tuple[()] = ()  # most workloads that a scheduler makes need no set
        self._unused: set[int] | tuple[()] = ()  # numbers between begin and end

    def add(self, name: str) -> bool:
        """Add a name; False if it was used before."""
        if name == self._next and name not in self._others:
            self._end += 1
            self._next = str(self._end)
            return True
        if name in self:
            return False
        number = _number(name)
        if number in self._unused:
            assert isinstance(self._unused, set)
            self._unused.discard(number)
        elif number >= self._end and self._left_out(number):
            self._end = number + 1
            self._next = str(self._end)
        else:
            self._others = set() if isinstance(self._others, tuple) else self._others
            self._others.add(name)
        return True

    def _left_out(self, number: int) -> bool:
        """Note the numbers between the last one and this one as unused; False if they are too many."""
        if self._begin == self._end:
            self._begin = number
            return True
        if number - self._end + len(self._unused) > _MOST_LEFT_OUT + (self._end - self._begin) // 4:
            return False
        left_out = [job_number for job_number in range(self._end, number) if str(job_number) not in self._others]
        if left_out:
            self._unused = set() if isinstance(self._unused, tuple) else self._unused
            self._unused.update(left_out)
        return True

    def __contains__(self, name: str) -> bool:
        return name in self._others or (
            self._begin <= (number := _number(name)) < self._end and number not in self._unused
        )


_MOST_LEFT_OUT = 64
"""Numbers that may be left out, beside a quarter of those in use, as where a log was cleaned."""


def _number(name: str) -> int:
    """The number of which a name is the text; -1 without one."""
    if not (name.isdecimal() and name.isascii() and len(name) < 19):
        return -1
    number = int(name)
    return number if str(number) == name else -1


_NO_JOBS = StaticJobs()
"""Of workloads without a file."""


class Workload(ProfileLookup):
    """Jobs and profiles under one name.

    Attributes
    ----------
    name, profiles
        As in :class:`~spillway.simulator.jobs.profiles.base.ProfileLookup`.
    file
        Its file, "" when the scheduler made it.
    nb_res
        Number of resources that a file is made for, 0 if unknown.
    job_names
        Names ever used.
    rules
        Rules of the version of Batsim that reads it.
    live
        Number of its jobs that have not been reported as ended; one more if it has a file.
    """

    __slots__ = ("_jobs", "_origins", "_rows", "file", "job_names", "live", "nb_res", "rules")

    def __init__(self, name: str, file: str = "", nb_res: int = 0, rules: Rules = BATSIM_4) -> None:
        super().__init__(name)
        self.rules = rules
        self.file = file
        self.nb_res = nb_res
        self._jobs: StaticJobs | None = None
        self.job_names = UsedNames()
        self.live = 0
        self._origins: dict[bool, Origin] = {}
        self._rows: JobRows | None = None

    @property
    def jobs(self) -> StaticJobs:
        """Static jobs still to be submitted; a workload that a scheduler made has none."""
        return _NO_JOBS if self._jobs is None else self._jobs

    @jobs.setter
    def jobs(self, jobs: StaticJobs) -> None:
        self._jobs = jobs

    def read_jobs(self, items: list[JsonObject], begin: int) -> int:
        """Read jobs of its file from a place on into :attr:`jobs`, up to the first that needs :meth:`read_job`.

        Returns
        -------
        int
            Number of jobs that were read.

        Raises
        ------
        ValueError
            A name was used before.
        """
        names = self._reader().read_all(self._origin(False), items, begin, self.jobs)
        for name in names:
            self._claim(name)
        return len(names)

    def read_job(self, data: JsonObject, where: Callable[[], str], printed: bool, keep: bool) -> SimulatedJob:
        """Read one job's object.

        Parameters
        ----------
        data
            The object.
        where
            Gives the name of the object in messages.
        printed
            Whether Batsim 4 reads it after printing it (registered jobs): real numbers lose the digits beyond the
            sixth decimal.
        keep
            Whether the job's object will be sent to the scheduler.

        Raises
        ------
        ValueError
            Something is missing, of the wrong kind or out of range, or the job's name was used before.
        """
        job = self._reader().read(self._origin(printed), data, printed, keep)
        return self._refuse(data, where(), printed) if job is None else job

    def _reader(self) -> JobRows:
        if self._rows is None:
            self._rows = JobRows(self.name, self.profiles, self.rules.reprints)
        return self._rows

    def _refuse(self, data: JsonObject, where: str, printed: bool) -> NoReturn:
        """Raise the fault of a job's object that the core did not take."""
        fields = Fields(data, where)
        owner, name = resolve_id(fields.required("id"), self.name, where)
        _, _, res, profile_name = read_job(fields, 6 if printed and self.rules.reprints else None)
        profile = self.profiles.get(profile_name)
        if profile is None or profile.dropped:
            raise ValueError(f"{where}: field 'profile': {self.missing(profile_name)}")
        check_size(fields, res, profile.name, profile.size)
        if owner != self.name:
            raise ValueError(
                f"{where}: field 'id' must name a job of workload {shown(self.name)}, got {shown(f'{owner}!{name}')}"
            )
        try:
            as_printed(data)
        except ValueError as fault:
            raise ValueError(f"{where}: {fault}") from None
        raise ValueError(f"{where}: field 'id' is no valid Unicode")

    def _origin(self, registered: bool) -> Origin:
        """Common properties of its jobs, those of its file or those that the scheduler registers."""
        known = self._origins.get(registered)
        if known is None:
            kind = OriginKind.REGISTERED if registered else OriginKind.FILE
            known = self._origins[registered] = Origin(self.name, kind)
        return known

    def free(self) -> None:
        """Let go what is made again when it is needed: the reader of its jobs, and their origins."""
        self._origins = {}
        self._rows = None

    def claim(self, job: SimulatedJob) -> None:
        """Take a job's name; :class:`ValueError` if it was used before."""
        self._claim(job.name)

    def _claim(self, name: str) -> None:
        if not self.job_names.add(name):
            full = shown(f"{self.name}!{name}")
            raise ValueError(f"a job {full} exists already, or did; every job needs an id of its own")


class Registry:
    """All workloads; the loop has the jobs."""

    __slots__ = ("_idle", "_packed", "_rules", "_workloads")

    def __init__(self, workloads: Iterable[Workload], rules: Rules = BATSIM_4) -> None:
        self._rules = rules
        self._workloads: dict[str, Workload] = {}
        self._idle: dict[str, None] = {}
        self._packed: dict[str, bytes] = {}
        for workload in workloads:
            if workload.name in self._workloads:
                raise ValueError(f"two workloads are called {shown(workload.name)}")
            self._workloads[workload.name] = workload
            workload.live = 1

    def find(self, name: str) -> Workload | None:
        """The workload of that name; ``None`` if it does not exist."""
        if name in self._packed:
            for workload in pickle.loads(zlib.decompress(self._packed[name])):
                del self._packed[workload.name]
                self._workloads[workload.name] = workload
                self._idle[workload.name] = None
        return self._workloads.get(name)

    def workload(self, name: str) -> Workload:
        """The workload of that name, made if it does not exist."""
        found = self.find(name)
        if found is None:
            found = self._workloads[name] = Workload(name, rules=self._rules)
        return found

    def workload_of(self, job: SimulatedJob) -> Workload:
        """The workload of a registered or static job."""
        found = self.find(job.workload)
        assert found is not None
        return found

    def enter(self, workload: Workload) -> None:
        """Count a job that the scheduler has registered."""
        self._idle.pop(workload.name, None)
        workload.live += 1

    def forget(self, job: SimulatedJob) -> None:
        """Drop a registered job that has been reported as ended; pack workloads without a job."""
        workload = self.workload_of(job)
        workload.live -= 1
        if workload.live:
            return
        self._idle[workload.name] = None
        if len(self._idle) >= 2 * _PACKED_AT_A_TIME:
            self._pack([*islice(self._idle, _PACKED_AT_A_TIME)])

    def _pack(self, names: list[str]) -> None:
        for name in names:
            del self._idle[name]
            self._workloads[name].free()
        packed = zlib.compress(pickle.dumps([self._workloads.pop(name) for name in names]), 1)
        self._packed.update(dict.fromkeys(names, packed))

    def unknown(self, job_id: str, known: Callable[[str], SimulatedJob | None]) -> SimulatedJob:
        """The job of an id that no registered job has as it stands; :class:`ValueError` states the fault of the id.

        ``known`` finds a registered job by its full id.
        """
        workload_name, name = split_id(job_id)
        job = known(f"{workload_name}!{name}")
        if job is not None:
            return job
        workload = self.find(workload_name)
        if workload is None:
            raise ValueError(f"there is no workload {shown(workload_name)}")
        job = workload.jobs.find(name)
        if job is not None:
            return job
        if name in workload.job_names:
            raise ValueError("it does not exist any more: it ended or was rejected, and that was reported")
        raise ValueError("it does not exist")
