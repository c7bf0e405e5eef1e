"""Verdicts of our data on the paper's claims.

Every claim is tested with the sign-flip permutation test of its paired differences
(:mod:`experiments.jeannot.inference`); the p-values of all claims together are adjusted with Holm's method. A lesson,
or a line of Table 1, holds where all its claims do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.jeannot.claims import CLAIMS, Cells, Claim
from experiments.jeannot.inference import Tested, holm, sign_flip

LEVEL = 0.05
HOLDS, CONTRARY, OPEN = "holds", "contrary", "not shown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A tested claim.

    Attributes
    ----------
    tested
        Over all cells of the claim.
    p_above, p_below
        Adjusted p-values, for the claim and for its contrary.
    verdict
        :data:`HOLDS`, :data:`CONTRARY` or :data:`OPEN`.
    by_family
        The same test per family of workloads, where the values can be distinguished.
    """

    claim: Claim
    tested: Tested
    p_above: float
    p_below: float
    verdict: str
    by_family: Mapping[str, Tested]


def judge(cells: Cells, claims: Sequence[Claim] = CLAIMS) -> list[Verdict]:
    """Test all claims."""
    tested = {claim.id: sign_flip(claim.values(cells)) for claim in claims}
    above = holm({name: found.above for name, found in tested.items()})
    below = holm({name: found.below for name, found in tested.items()})
    return [
        Verdict(
            claim,
            tested[claim.id],
            above[claim.id],
            below[claim.id],
            HOLDS if above[claim.id] < LEVEL else CONTRARY if below[claim.id] < LEVEL else OPEN,
            _by_family(claim, cells),
        )
        for claim in claims
    ]


def _by_family(claim: Claim, cells: Cells) -> dict[str, Tested]:
    found = {}
    for family in dict.fromkeys(family for family, *_ in sorted(cells)):
        values = claim.values({key: result for key, result in cells.items() if key[0] == family})
        if values:
            found[family] = sign_flip(values)
    return found


def overall(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """One verdict per lesson and per line of Table 1."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.claim.place, []).append(verdict.verdict)
    return {place: _summary(several) for place, several in found.items()}


def _summary(several: Sequence[str]) -> str:
    holds, contrary = several.count(HOLDS), several.count(CONTRARY)
    if holds == len(several):
        return "holds"
    if not holds:
        return "does not hold" if contrary else "not shown"
    return f"holds in part ({holds} of {len(several)} claims" + (f", {contrary} contrary)" if contrary else ")")
