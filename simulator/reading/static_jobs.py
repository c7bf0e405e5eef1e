"""Jobs of a workload file until they are submitted, packed: a third of the memory of objects."""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import overload

from spillway.simulator.jobs.job import Job
from spillway.simulator.jobs.profiles.base import Profile, ProfileLookup


class StaticJobs(Sequence[Job]):
    """Jobs still to be submitted: in the order of the file, or of their submissions once :meth:`sort` was called.

    Each access makes a new object of a job, except where :attr:`named` has one.

    Parameters
    ----------
    workload
        The workload of the jobs.

    Attributes
    ----------
    named
        Jobs by full id as a scheduler may name them: those that were found or taken are put there.
    """

    __slots__ = ("_begin", "_packed", "_places", "_profiles", "_times", "_workload", "named")

    def __init__(self, workload: ProfileLookup) -> None:
        self._workload = workload
        self._packed: list[bytes] = []
        self._profiles: list[Profile | None] = []  # not by name: a dropped profile serves the jobs that have it
        self._times = array("d")
        self._begin = 0
        self._places: dict[str, int] | None = None
        self.named: dict[str, Job] = {}

    def append(self, job: Job) -> None:
        """Add a job that was just read."""
        self._packed.append(pickle.dumps((job.name, job.subtime, job.res, job.walltime, job.source), 5))
        self._profiles.append(job.profile)
        self._times.append(job.subtime)

    @property
    def next_time(self) -> float:
        """Submission time of the first job (s)."""
        return self._times[self._begin]

    @property
    def profile_names(self) -> set[str]:
        """Names of the jobs' profiles."""
        return {profile.name for profile in self._profiles if profile is not None}

    def sort(self) -> None:
        """Order by submission time, then by full id compared as text (``w0!10`` before ``w0!9``); call it first."""
        assert not self._begin
        self._places = None
        times = self._times
        order = sorted(range(len(times)), key=times.__getitem__)
        place = 0
        for _, group in groupby(order[:], key=times.__getitem__):
            alike = list(group)
            if len(alike) > 1:
                order[place : place + len(alike)] = sorted(alike, key=lambda index: self[index].name)
            place += len(alike)
        self._packed = [self._packed[index] for index in order]
        self._profiles = [self._profiles[index] for index in order]
        self._times = array("d", [times[index] for index in order])

    def pop_first(self) -> Job:
        """Remove and return the first job."""
        place = self._begin
        job = self._job(place)
        self._packed[place], self._profiles[place] = b"", None
        self._begin = place + 1
        self.named[job.id] = job
        if self._places is not None:
            del self._places[job.name]
        return job

    def find(self, name: str) -> Job | None:
        """The job of that name; ``None`` if it is not among them."""
        if self._places is None:
            self._places = {job.name: self._begin + number for number, job in enumerate(self)}
        place = self._places.get(name)
        if place is None:
            return None
        job = self._job(place)
        self.named[job.id] = job
        return job

    def __len__(self) -> int:
        return len(self._packed) - self._begin

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | Sequence[Job]:
        if isinstance(index, slice):
            return [self._job(self._begin + one) for one in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._job(self._begin + index % len(self))

    def __iter__(self) -> Iterator[Job]:
        return map(self._job, range(self._begin, len(self._packed)))

    def _job(self, place: int) -> Job:
        name, subtime, res, walltime, source = pickle.loads(self._packed[place])
        workload = self._workload
        full_id = f"{workload.name}!{name}"
        named = self.named.get(full_id)
        if named is not None:
            return named
        profile = self._profiles[place]
        assert profile is not None
        return Job(workload, name, full_id, profile, subtime, res, walltime, source)
