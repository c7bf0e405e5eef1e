"""Gates in front of the I/O nodes, which decide when running jobs may use the file system.

A gate is a pure state machine: the runtime *requests* a turn before a transfer, *releases* it when the transfer has
ended, and gets back the turns that may begin now. Time only comes as an argument. A turn is one I/O operation of a job
on one I/O node, and is not interrupted. With several I/O nodes a job takes a turn at each.

========== ==========================================================================================================
gate       rule
========== ==========================================================================================================
shared     every turn begins at once; concurrent transfers contend as the platform lets them
exclusive  one turn at a time per I/O node, never preempted; an order decides which is next (:data:`ORDERS`)
========== ==========================================================================================================

No turn waits while it holds another one of the same request, so gates cannot deadlock.

References
----------
Jeannot, Pallez, Vidal, *IO-aware Job-Scheduling*, IJHPCA 2023 (DOI 10.1177/10943420231175854), section "Machine Model":
exclusive, not preempted, first come first served; Gainaru et al., IPDPS 2015 (DOI 10.1109/IPDPS.2015.116): the other
orders' ideas.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from spillway.base.errors import shown


class IoControl(enum.Enum):
    """Kinds of gates."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"


class IoOrder(enum.Enum):
    """Order of the turns at an exclusive gate; ties are broken first come, first served."""

    FIFO = "fifo"
    SHORTEST = "shortest"
    STARVED = "starved"
    STRETCH = "stretch"


@dataclass(frozen=True, slots=True)
class Turn:
    """One transfer that waits or runs.

    Attributes
    ----------
    key
        Name that the runtime chose, unique while the turn waits or runs.
    application
        Job that it belongs to.
    node
        I/O node, from 0.
    volume_bytes
        Bytes to transfer, >= 0.
    requested_s
        Time of the request.
    number
        Rank among all requests.
    """

    key: str
    application: str
    node: int
    volume_bytes: float
    requested_s: float
    number: int


@dataclass(slots=True)
class Account:
    """Account of an application at a gate.

    Attributes
    ----------
    entered_s
        Time of its start, or of its first request (s).
    waited_s
        Time during which at least one of its turns waited, closed intervals only (see :meth:`waited`).
    turns
        Turns that began.
    waiting, moving
        Turns that wait now; turns that have begun and not been released.
    """

    entered_s: float
    waited_s: float = 0.0
    turns: int = 0
    waiting: int = 0
    moving: int = 0
    _since_s: float = math.nan

    def waited(self, now_s: float) -> float:
        """Time spent waiting so far (s), the present wait included."""
        return self.waited_s + (now_s - self._since_s if self.waiting else 0.0)

    def stretch(self, now_s: float) -> float:
        """Time since the start over the part of it that was not waiting, >= 1; infinite if it only waited."""
        life_s = now_s - self.entered_s
        worked_s = life_s - self.waited(now_s)
        return life_s / worked_s if worked_s > 0 else math.inf

    def begin_wait(self, now_s: float) -> None:
        """Count one more waiting turn."""
        if not self.waiting:
            self._since_s = now_s
        self.waiting += 1

    def end_wait(self, now_s: float) -> None:
        """Count one waiting turn less."""
        self.waiting -= 1
        if not self.waiting:
            self.waited_s += now_s - self._since_s


Rank = Callable[[Turn, Account, float], float]
"""Key of a waiting turn at a time: the smallest is next."""


def _fifo(turn: Turn, account: Account, now_s: float) -> float:
    return turn.number


def _shortest(turn: Turn, account: Account, now_s: float) -> float:
    return turn.volume_bytes


def _starved(turn: Turn, account: Account, now_s: float) -> float:
    return -account.waited(now_s)


def _stretch(turn: Turn, account: Account, now_s: float) -> float:
    return -account.stretch(now_s)


ORDERS: Mapping[IoOrder, Rank] = {
    IoOrder.FIFO: _fifo,
    IoOrder.SHORTEST: _shortest,
    IoOrder.STARVED: _starved,
    IoOrder.STRETCH: _stretch,
}
"""First come first served; fewest bytes first; longest total wait first; largest stretch by waiting first."""


class Gate(Protocol):
    """Interface of a gate, from which the runtime requests turns."""

    def enter(self, application: str, now_s: float) -> None:
        """Open the account of a job at its start; without this it opens with the first request."""
        ...

    def request(self, key: str, application: str, node: int, volume_bytes: float, now_s: float) -> tuple[str, ...]:
        """Request a turn; returns the keys of the turns that begin now: this one, or ().

        Raises
        ------
        ValueError
            The key is in use.
        """
        ...

    def release(self, key: str, now_s: float) -> tuple[str, ...]:
        """Release the turn of a transfer that has ended in any way; returns the keys of the turns that begin now.

        Raises
        ------
        ValueError
            No turn of that key has begun.
        """
        ...

    def withdraw(self, application: str, now_s: float) -> tuple[str, ...]:
        """Drop the waiting turns of a job that is killed and return their keys.

        Its running transfers continue: their turns are released when they have really ended.
        """
        ...

    def leave(self, application: str, now_s: float) -> Account:
        """Close and return the account of a job that has ended (an empty one if it had no account).

        Raises
        ------
        ValueError
            It still waits or transfers.
        """
        ...


class Shared:
    """Every turn begins at once."""

    def __init__(self) -> None:
        self._accounting = _Accounting()

    def enter(self, application: str, now_s: float) -> None:
        """See :meth:`Gate.enter`."""
        self._accounting.account(application, now_s)

    def request(self, key: str, application: str, node: int, volume_bytes: float, now_s: float) -> tuple[str, ...]:
        """See :meth:`Gate.request`."""
        self._accounting.begin(self._accounting.turn(key, application, node, volume_bytes, now_s))
        return (key,)

    def release(self, key: str, now_s: float) -> tuple[str, ...]:
        """See :meth:`Gate.release`."""
        self._accounting.end(key)
        return ()

    def withdraw(self, application: str, now_s: float) -> tuple[str, ...]:
        """See :meth:`Gate.withdraw`; no application waits."""
        return ()

    def leave(self, application: str, now_s: float) -> Account:
        """See :meth:`Gate.leave`."""
        return self._accounting.close(application, now_s)


class Exclusive:
    """One turn at a time per I/O node, never preempted.

    Parameters
    ----------
    order
        Order of the turns.
    """

    def __init__(self, order: IoOrder = IoOrder.FIFO) -> None:
        self._rank = ORDERS[order]
        self._accounting = _Accounting()
        self._holder: dict[int, Turn] = {}
        self._waiting: dict[int, dict[str, Turn]] = {}

    def holder(self, node: int) -> Turn | None:
        """The turn that has begun at an I/O node."""
        return self._holder.get(node)

    def waiting(self, node: int) -> tuple[Turn, ...]:
        """The turns that wait at an I/O node, in order of their requests."""
        return tuple(self._waiting.get(node, {}).values())

    def enter(self, application: str, now_s: float) -> None:
        """See :meth:`Gate.enter`."""
        self._accounting.account(application, now_s)

    def request(self, key: str, application: str, node: int, volume_bytes: float, now_s: float) -> tuple[str, ...]:
        """See :meth:`Gate.request`."""
        turn = self._accounting.turn(key, application, node, volume_bytes, now_s)
        queue = self._waiting.setdefault(node, {})
        if key in queue:
            raise ValueError(f"turn {key!r} waits already")
        if node in self._holder:
            queue[key] = turn
            self._accounting.account(application, now_s).begin_wait(now_s)
            return ()
        self._begin(turn)
        return (key,)

    def release(self, key: str, now_s: float) -> tuple[str, ...]:
        """See :meth:`Gate.release`."""
        node = self._accounting.end(key).node
        del self._holder[node]
        queue = self._waiting[node]
        if not queue:
            return ()
        accounts, rank = self._accounting.accounts, self._rank
        turn = min(queue.values(), key=lambda turn: (rank(turn, accounts[turn.application], now_s), turn.number))
        del queue[turn.key]
        accounts[turn.application].end_wait(now_s)
        self._begin(turn)
        return (turn.key,)

    def withdraw(self, application: str, now_s: float) -> tuple[str, ...]:
        """See :meth:`Gate.withdraw`."""
        dropped: list[str] = []
        for queue in self._waiting.values():
            keys = [turn.key for turn in queue.values() if turn.application == application]
            for key in keys:
                del queue[key]
                self._accounting.accounts[application].end_wait(now_s)
            dropped += keys
        return tuple(dropped)

    def leave(self, application: str, now_s: float) -> Account:
        """See :meth:`Gate.leave`."""
        return self._accounting.close(application, now_s)

    def check(self) -> None:
        """Prove that no application waits at a free I/O node and that the accounts agree."""
        for node, queue in self._waiting.items():
            assert not queue or node in self._holder, f"turns wait at I/O node {node}, which is free"
        assert {turn.key for turn in self._holder.values()} == self._accounting.begun.keys(), (
            "holders and accounts differ"
        )

    def _begin(self, turn: Turn) -> None:
        self._holder[turn.node] = turn
        self._accounting.begin(turn)


def make_gate(control: IoControl, order: IoOrder = IoOrder.FIFO) -> Gate:
    """Make a gate; the order only matters to an exclusive one."""
    return _MAKERS[control](order)


_MAKERS: Mapping[IoControl, Callable[[IoOrder], Gate]] = {
    IoControl.SHARED: lambda _: Shared(),
    IoControl.EXCLUSIVE: Exclusive,
}


class _Accounting:
    """Accounts of the applications and the turns that have begun."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.begun: dict[str, Turn] = {}
        self._numbers = itertools.count()

    def account(self, application: str, now_s: float) -> Account:
        account = self.accounts.get(application)
        if account is None:
            account = self.accounts[application] = Account(now_s)
        return account

    def turn(self, key: str, application: str, node: int, volume_bytes: float, now_s: float) -> Turn:
        if key in self.begun:
            raise ValueError(f"turn {key!r} has begun already")
        self.account(application, now_s)
        return Turn(key, application, node, volume_bytes, now_s, next(self._numbers))

    def begin(self, turn: Turn) -> None:
        self.begun[turn.key] = turn
        account = self.accounts[turn.application]
        account.turns += 1
        account.moving += 1

    def end(self, key: str) -> Turn:
        turn = self.begun.pop(key, None)
        if turn is None:
            raise ValueError(f"no turn {key!r} has begun")
        self.accounts[turn.application].moving -= 1
        return turn

    def close(self, application: str, now_s: float) -> Account:
        account = self.accounts.pop(application, None) or Account(now_s)
        if account.waiting or account.moving:
            raise ValueError(f"{shown(application)} still waits or transfers")
        return account
