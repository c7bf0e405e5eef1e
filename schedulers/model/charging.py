"""Accounts and QOS of jobs: the account that a job is charged to, those above it, and its QOS.

A job that states no account is charged to its user's default account, else to the first one that has the user. A job's
QOS is the one that it states, else the default of its association, else ``normal``.
"""

from __future__ import annotations

from collections.abc import Iterator

from spillway.schedulers.model.site import Site


class Charging:
    """Finds accounts and QOS by a site's associations."""

    def __init__(self, site: Site) -> None:
        users = [association for association in site.associations if association.user]
        self._accounts: dict[str, str] = {}
        for user in sorted(users, key=lambda one: not one.default):
            self._accounts.setdefault(user.user, user.account)
        self._qos = {(user.account, user.user): user.default_qos for user in users if user.default_qos}
        self._parents = {
            association.account: association.parent for association in site.associations if not association.user
        }

    def account(self, account: str, user: str) -> str:
        """The account of a job that states ``account`` ("": no account); "" if it is unknown."""
        return account or self._accounts.get(user, "")

    def qos(self, account: str, user: str, qos: str) -> str:
        """The QOS of a job that states these."""
        return qos or self._qos.get((self.account(account, user), user), "normal")

    def above(self, account: str) -> Iterator[str]:
        """An account and those above it."""
        seen: set[str] = set()
        while account and account not in seen:
            seen.add(account)
            yield account
            account = self._parents.get(account, "")
