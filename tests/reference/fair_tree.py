"""Fair Tree in a few plain lines, with fractions: one list of siblings at a time, one user after the other."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby

from spillway.schedulers.model.site import Association

Name = tuple[str, str]


def factors(associations: Sequence[Association], usage: Mapping[Name, int]) -> dict[Name, Fraction]:
    """The factor of each user association; ``usage`` by account and user."""
    users = [association for association in associations if association.user]

    def below(account: str) -> list[Association]:
        return [
            association
            for association in associations
            if (association.account if association.user else association.parent) == account
        ]

    def used(one: Association) -> int:
        return usage.get((one.account, one.user), 0) if one.user else sum(map(used, below(one.account)))

    def has_users(one: Association) -> bool:
        return bool(one.user) or any(map(has_users, below(one.account)))

    def level_share(one: Association) -> Fraction | None:
        """``None``: infinite."""
        siblings = below(one.account if one.user else one.parent)
        if not one.shares:
            return Fraction(0)
        if not used(one):
            return None
        share = Fraction(one.shares, max(1, sum(other.shares for other in siblings)))
        return share / Fraction(used(one), sum(map(used, siblings)))

    def descend(siblings: list[Association]) -> Iterator[list[Association]]:
        """Users of equal rank, the best first."""
        found = [(level_share(sibling), sibling) for sibling in siblings if has_users(sibling)]
        found.sort(key=lambda pair: (pair[0] is not None, -(pair[0] or 0)))
        for _, tied in groupby(found, key=lambda pair: pair[0]):
            these = [one for _, one in tied]
            first = [sibling for sibling in these if sibling.user]
            children = [child for sibling in these if not sibling.user for child in below(sibling.account)]
            lists = list(descend(children)) if children else []
            if first and lists:
                lists[0] = first + lists[0]
            elif first:
                lists = [first]
            yield from lists

    rank, ranks = len(users), {}
    for tied in descend(below("")):
        ranks.update(dict.fromkeys(((sibling.account, sibling.user) for sibling in tied), Fraction(rank, len(users))))
        rank -= len(tied)
    return ranks
