"""The base class of schedulers."""

from abc import ABC, abstractmethod
from typing import Any


class Scheduler(ABC):
    """Base class of the schedulers that the launcher makes and calls."""

    def __init__(self, batsim: Any, options: Any = None) -> None:
        self._batsim = batsim
        self._options = options

    def finalize(self) -> None:  # noqa: B027 - a scheduler need not do anything
        """The end."""

    @abstractmethod
    def begin_simulation(self, event: Any) -> None:
        """First event."""

    @abstractmethod
    def end_simulation(self, event: Any) -> None:
        """Last event."""

    @abstractmethod
    def submit_job(self, event: Any) -> None:
        """A job comes."""

    @abstractmethod
    def complete_job(self, event: Any) -> None:
        """A job goes."""
