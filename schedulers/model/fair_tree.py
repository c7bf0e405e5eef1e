"""Fair Tree: users ranked by their usage, and that of the accounts above them, relative to shares.

Among siblings below one account, ``LF = S / U`` gives the order: S is the share of an association among its siblings, U
its part of the usage of all of them; LF is infinite without usage, and 0 without shares. The tree is descended depth
first, the largest LF first, and users are ranked in the order in which they are reached. A user's factor is its rank
over the number of users, counted down from it: 1 for the first.

Ties: sibling users with equal LF share a rank. A user with the LF of a sibling account takes the rank of the best user
of that account. Sibling accounts with equal LF are descended as one, their children together.

A tree of two accounts, a with 2 shares and b with 1; a has the users a1 and a2 with a share each, b the user b1; they
have used 30, 10 and 20:

- a: ``S = 2/3, U = 40/60``, so LF is 1; b: ``S = 1/3, U = 20/60``, LF is 1 as well. They are descended as one.
- a1: ``S = 1/2, U = 30/40``, LF is 2/3; a2: ``U = 10/40``, LF is 2; b1 has no siblings, LF is 1.
- So a2 comes first (3/3), then b1 (2/3), then a1 (1/3). Had a used one unit more, b1 would be the first of all.

References
----------
SchedMD, *Fair Tree Fairshare Algorithm*: sections "Algorithm", "Level Fairshare Calculation", "Ties".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.schedulers.model.site import Association

Floats = npt.NDArray[np.float64]

_ROOT = "root"
"""Slurm's name of the account above all others."""


class FairTree:
    """The tree of a site's associations; its shape is read once, usage is an argument of each call.

    Parameters
    ----------
    associations
        Accounts and users; :func:`spillway.schedulers.model.site.faults` finds accounts that are missing or below
        themselves. Accounts without a user below count as siblings of others and are not descended.

    Attributes
    ----------
    users
        Index of each user association in argument and result of :meth:`factors`, by account and user, in their order.
    """

    def __init__(self, associations: Sequence[Association]) -> None:
        own = [
            association
            for association in associations
            if not association.user and not (association.account == _ROOT and not association.parent)
        ]
        users = [association for association in associations if association.user]
        accounts = {"": 0, _ROOT: 0} | {association.account: place for place, association in enumerate(own, 1)}
        self.users = {(user.account, user.user): place for place, user in enumerate(users)}
        parents = [
            0,
            *(accounts[association.parent] for association in own),
            *(accounts[user.account] for user in users),
        ]
        shares = [0, *(association.shares for association in (*own, *users))]
        self._parents, self._shares = np.array(parents, np.intp), np.array(shares, np.float64)
        self._siblings = np.maximum(np.bincount(self._parents[1:], self._shares[1:], len(parents)), 1.0)
        self._first_user = len(parents) - len(self.users)
        self._levels = self._levels_of(_depths(parents))
        self._sizes = np.zeros(len(parents), np.intp)
        self._sizes[self._first_user :] = 1
        self._sum_up(self._sizes)
        self._levels = [level[self._sizes[level] > 0] for level in self._levels if self._sizes[level].any()]

    def factors(self, usage: Floats) -> Floats:
        """The factor of each user association, above 0, at most 1.

        Parameters
        ----------
        usage
            Usage of each user association, at least 0, in any unit.
        """
        used = np.zeros(len(self._parents))
        used[self._first_user :] = usage
        self._sum_up(used)
        level_shares = self._level_shares(used)
        ranks, lists = np.zeros(len(used), np.intp), np.zeros(len(used), np.intp)
        starts = bests = np.zeros(1, np.intp)
        for level in self._levels:
            order = np.lexsort((level < self._first_user, -level_shares[level], lists[self._parents[level]]))
            nodes = level[order]
            within, shares, sizes = lists[self._parents[nodes]], level_shares[nodes], self._sizes[nodes]
            new_list = _changes(within)
            new_tie = new_list | _changes(shares)
            tie, before = np.cumsum(new_tie) - 1, np.cumsum(sizes) - sizes
            before += starts[within] - before[new_list][np.cumsum(new_list) - 1]
            # The first of a list has the rank of a user with the LF of its account, if there is one.
            tied_ranks = np.where(new_list, bests[within], before)[new_tie]
            ranks[nodes] = tied_ranks[tie]
            # Tied accounts are descended as one, from where the first of them begins.
            lists[nodes], bests = tie, tied_ranks
            accounts = np.flatnonzero(nodes < self._first_user)[::-1]
            starts = np.zeros_like(bests)
            starts[tie[accounts]] = before[accounts]
        found: Floats = (len(self.users) - ranks[self._first_user :]) / max(len(self.users), 1)
        return found

    def _level_shares(self, used: Floats) -> Floats:
        """LF of each account and user."""
        shared = self._shares * used[self._parents]
        found = np.full(len(used), np.inf)
        np.divide(shared, self._siblings[self._parents] * used, out=found, where=used > 0)
        found[self._shares == 0] = 0.0  # also without usage
        return found

    def _levels_of(self, depths: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
        return [np.flatnonzero(depths == depth) for depth in range(1, int(depths.max()) + 1)]

    def _sum_up(self, values: npt.NDArray[np.float64] | npt.NDArray[np.intp]) -> None:
        """Add the values of users to all accounts above them."""
        for level in reversed(self._levels):
            np.add.at(values, self._parents[level], values[level])


def _changes(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether each value differs from the one before it; true for the first."""
    return np.concatenate(([True], values[1:] != values[:-1]))


def _depths(parents: Sequence[int]) -> npt.NDArray[np.intp]:
    """Depth of each account and user below the root."""
    depths = np.zeros(len(parents), np.intp)
    for place in range(1, len(parents)):
        above = [place]
        while above[-1] and not depths[above[-1]]:
            above.append(parents[above[-1]])
        for depth, account in enumerate(reversed(above[:-1]), int(depths[above[-1]]) + 1):
            depths[account] = depth
    return depths
