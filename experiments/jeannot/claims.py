"""The paper's statements, as claims that data can support or contradict.

A claim turns the results of the grid into values, one per pair of executions of the same workload (or per series of
loads of the same draw), which are positive where the claim is right. :mod:`experiments.jeannot.verdicts` tests them.
Texts are ours; the places are the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.jeannot.inference import rank_correlation, slope
from experiments.jeannot.measures import Outcome
from experiments.jeannot.run import PACKS, Result
from workloads.jeannot import FAMILIES

LOW, HIGH = 0.4, 0.6
"""Loads up to ``LOW`` count as compute-intensive; loads of more than ``HIGH`` as high ("over 0.6", lesson 1)."""
CONSTANT = 0.1
"""Relative change below which a course counts as constant (the paper gives no number)."""
PACE = 0.25
"""Relative difference of slopes below which two strategies "keep the same pace" (the paper gives no number)."""

Cells = Mapping[tuple[str, float, int], Result]
"""Results by family, load and draw."""

Quantity = Callable[[Outcome], float]
Values = Callable[[Cells], list[float]]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the paper.

    Attributes
    ----------
    id
        Short name.
    place
        Lesson, or line and column of Table 1; the first word groups.
    text
        The statement in our words, and what is compared.
    values
        Values that are positive where it is right.
    unit
        What a value of 1 is.
    """

    id: str
    place: str
    text: str
    values: Values
    unit: str = ""


# ---------------------------------------------------------------------- quantities


def mean_stretch(outcome: Outcome) -> float:
    """Mean stretch."""
    return outcome.mean_stretch


def max_stretch(outcome: Outcome) -> float:
    """Largest stretch."""
    return outcome.max_stretch


def utilisation(outcome: Outcome) -> float:
    """Utilisation over the whole execution."""
    return outcome.utilisation


def steady(outcome: Outcome) -> float:
    """Utilisation in the steady state."""
    return outcome.steady()


def idle(outcome: Outcome) -> float:
    """Idle ratio."""
    return outcome.idle


def unevenness(outcome: Outcome) -> float:
    """How much utilisation varies before the end: :meth:`Outcome.unevenness`."""
    return outcome.unevenness("computing")


def drift(course: str) -> Quantity:
    """Change of a course over the execution."""
    return lambda outcome: outcome.drift(course)


def size_of_drift(course: str) -> Quantity:
    """Size of that change."""
    return lambda outcome: abs(outcome.drift(course))


def io_last(outcome: Outcome) -> float:
    """Rank correlation of a job's start with its share of I/O: positive where I/O-intensive jobs are run last."""
    return rank_correlation(outcome.start_s, outcome.io_share)


# ---------------------------------------------------------------------- comparisons


def of(name: str, quantity: Quantity) -> Callable[[Result], float]:
    """A quantity of one strategy."""
    return lambda result: quantity(result.outcomes[name])


def packs(quantity: Quantity, names: Sequence[str] = PACKS) -> Callable[[Result], float]:
    """Mean of a quantity over pack strategies."""
    return lambda result: float(np.mean([quantity(result.outcomes[name]) for name in names]))


def more(
    first: Callable[[Result], float],
    second: Callable[[Result], float],
    families: Iterable[str] = FAMILIES,
    least: float = 0.0,
    most: float = 1.0,
) -> Values:
    """``first`` minus ``second`` of every workload of some families, with loads in ``(least, most]``."""
    chosen = tuple(families)
    return lambda cells: [
        first(result) - second(result)
        for (family, alpha, _), result in sorted(cells.items())
        if family in chosen and least < alpha <= most
    ]


def nothing(_: Result) -> float:
    """Zero, to compare with."""
    return 0.0


def within(quantity: Callable[[Result], float], limit: float, families: Iterable[str] = FAMILIES) -> Values:
    """How far below a limit a quantity stays."""
    return more(lambda result: limit - quantity(result), nothing, families)


def series(cells: Cells) -> dict[tuple[str, int], list[tuple[float, Result]]]:
    """Results of the same family and draw, by load."""
    found: dict[tuple[str, int], list[tuple[float, Result]]] = {}
    for (family, alpha, seed), result in sorted(cells.items()):
        found.setdefault((family, seed), []).append((alpha, result))
    return found


def rising(quantity: Quantity, names: Sequence[str]) -> Values:
    """Slope over the load, mean of some strategies; one value per family and draw."""

    def values(cells: Cells) -> list[float]:
        return [
            slope([alpha for alpha, _ in found], [packs(quantity, names)(result) for _, result in found])
            for found in series(cells).values()
        ]

    return values


def same_pace(cells: Cells) -> list[float]:
    """By how much the slopes of stretch over idle time of LS, and of Random and Max, are less than a quarter apart."""
    values = []
    for found in series(cells).values():
        slopes = {
            name: slope([idle(r.outcomes[name]) for _, r in found], [mean_stretch(r.outcomes[name]) for _, r in found])
            for name in ("LS", "Random", "Max")
        }
        others = 0.5 * (slopes["Random"] + slopes["Max"])
        values.append(PACE * 0.5 * abs(slopes["LS"] + others) - abs(slopes["LS"] - others))
    return values


def symptom(cells: Cells) -> list[float]:
    """Per family and load: rank correlation, over packs and draws, of bandwidth's drift with I/O jobs starting late."""
    groups: dict[tuple[str, float], list[Outcome]] = {}
    for (family, alpha, _), result in sorted(cells.items()):
        groups.setdefault((family, alpha), []).extend(result.outcomes[name] for name in PACKS)
    return [
        rank_correlation([one.drift("transferring") for one in found], [io_last(one) for one in found])
        for found in groups.values()
    ]


def diverse(cells: Cells) -> list[float]:
    """How much later packs start I/O-intensive jobs in bi-normal than in normal workloads of the same load and draw."""
    return [
        packs(io_last)(result) - packs(io_last)(cells[family.replace("BN", "No"), alpha, seed])
        for (family, alpha, seed), result in sorted(cells.items())
        if family.endswith("BN") and (family.replace("BN", "No"), alpha, seed) in cells
    ]


UNIFORM = ("U-BN", "U-No")
ALL = ("LS", *PACKS)


def _exhaustion(outcome: Outcome) -> float:
    return outcome.fall("computing")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "constant", "Lesson 1", f"LS: utilisation changes by less than {CONSTANT:.0%} during the execution",
        within(of("LS", size_of_drift("computing")), CONSTANT), "relative change",
    ),
    Claim(
        "more constant", "Lesson 1", "LS: utilisation varies less during the execution than packs'",
        more(packs(unevenness), of("LS", unevenness)), "coefficient of variation",
    ),
    Claim(
        "steady state", "Lesson 1", f"loads over {HIGH:g}: packs (Max) use more in the steady state than LS",
        more(of("Max", steady), of("LS", steady), least=HIGH), "share of processors",
    ),
    *(
        Claim(
            f"mean stretch {name}", "Lesson 2", f"{name}: lower mean stretch than LS" + except_for,
            more(of("LS", mean_stretch), of(name, mean_stretch), families), "stretch",
        )
        for name, families, except_for in (
            ("Random", FAMILIES, ""), ("Max", FAMILIES, ""),
            ("Char", ("M-No", *UNIFORM), " (M-BN, the paper's exception, left out)"),
        )
    ),
    *(
        Claim(
            f"max stretch {name}", "Lesson 2", f"{name}: lower maximum stretch than LS" + except_for,
            more(of("LS", max_stretch), of(name, max_stretch), families), "stretch",
        )
        for name, families, except_for in (
            ("Random", FAMILIES, ""), ("Max", FAMILIES, ""),
            ("Char", ("M-No", *UNIFORM), " (M-BN left out)"),
        )
    ),
    Claim(
        "exception", "Lesson 2", "M-BN: Char has a higher mean stretch than LS",
        more(of("Char", mean_stretch), of("LS", mean_stretch), ("M-BN",)), "stretch",
    ),
    Claim(
        "processors fall", "Lesson 3", "M-BN: with packs the processors in use fall during the execution",
        more(nothing, packs(drift("allocated")), ("M-BN",)), "relative change",
    ),
    Claim(
        "bandwidth rises", "Lesson 3", "M-BN: with packs the bandwidth in use rises during the execution",
        more(packs(drift("transferring")), nothing, ("M-BN",)), "relative change",
    ),
    Claim(
        "LS steadier", "Lesson 3", "M-BN: bandwidth in use changes less under LS than with packs",
        more(packs(size_of_drift("transferring")), of("LS", size_of_drift("transferring")), ("M-BN",)),
        "relative change",
    ),
    Claim(
        "I/O last", "Lesson 3", "M-BN: packs start I/O-intensive jobs later than LS does",
        more(packs(io_last), of("LS", io_last), ("M-BN",)), "rank correlation",
    ),
    Claim(
        "symptom", "Lesson 3", "packs: the more bandwidth rises, the later I/O-intensive jobs start (all families)",
        symptom, "rank correlation",
    ),
    Claim("idle rises", "Lesson 4", "idle time rises with the I/O load", rising(idle, ALL), "share/load"),
    Claim("stretch rises", "Lesson 4", "stretch rises with the I/O load", rising(mean_stretch, ALL), "stretch/load"),
    Claim(
        "Char at high load", "Lesson 4", f"loads over {HIGH:g}: Char has a lower mean stretch than the three others",
        more(packs(mean_stretch, ("LS", "Random", "Max")), of("Char", mean_stretch), least=HIGH), "stretch",
    ),
    Claim(
        "Char idles", "Lesson 4", "Char pays with more idle time than the other packs",
        more(of("Char", idle), packs(idle, ("Random", "Max"))), "share of processors",
    ),
    Claim(
        "same pace", "Lesson 4", f"LS and packs but Char: stretch over idle time rises alike (within {PACE:.0%})",
        same_pace, "slope",
    ),
    Claim(
        "LS utilisation", "Table 1, list: usual advantages", "LS uses the platform better than packs",
        more(of("LS", utilisation), packs(utilisation)), "share of processors",
    ),
    Claim(
        "LS at low load", "Table 1, list: I/O load", f"loads up to {LOW:g}: LS uses the platform better than packs",
        more(of("LS", utilisation), packs(utilisation), most=LOW), "share of processors",
    ),
    Claim(
        "LS beats Max at low load", "Table 1, list: I/O load", f"loads up to {LOW:g}: LS uses more than packs (Max)",
        more(of("LS", utilisation), of("Max", utilisation), most=LOW), "share of processors",
    ),
    Claim(
        "LS in uniform", "Table 1, list: workload", f"uniform, loads over {HIGH:g}: LS uses less than packs",
        more(packs(utilisation), of("LS", utilisation), UNIFORM, HIGH), "share of processors",
    ),
    Claim(
        "exhaustion", "Table 1, packs: behaviour", "utilisation falls more from first to last fifth than LS's",
        more(packs(_exhaustion), of("LS", _exhaustion)), "share of processors",
    ),
    Claim(
        "packs' stretch", "Table 1, packs: usual advantages", "packs: lower mean stretch than LS",
        more(of("LS", mean_stretch), packs(mean_stretch)), "stretch",
    ),
    Claim(
        "packs at high load", "Table 1, packs: I/O load", f"loads over {HIGH:g}: packs use the platform better than LS",
        more(packs(utilisation), of("LS", utilisation), least=HIGH), "share of processors",
    ),
    Claim(
        "diverse", "Table 1, packs: workload", "packs start I/O-intensive jobs later in BN than in No",
        diverse, "rank correlation",
    ),
)  # fmt: skip
"""In the paper's order. Table 1's "constant performance" of lists is lesson 1's first two claims."""
