"""Bandwidth in a matrix: rows run one at a time, so each row may use the whole bandwidth of every link.

A task that streams takes its job's rate on every link above its column, in each row of the job. Each row follows the
rule of a machine without time sharing (Herbein et al., HPDC 2016, section 3.4, DOI 10.1145/2907294.2907316).
"""

from __future__ import annotations

from typing import NamedTuple

from spillway.schedulers.model.machine import Machine


class Links(NamedTuple):
    """The links above the columns of a matrix.

    Attributes
    ----------
    below
        Mask of the columns below each link, directly or not.
    bytes_per_s
        Capacity of each link.
    """

    below: tuple[int, ...] = ()
    bytes_per_s: tuple[int, ...] = ()

    @classmethod
    def of(cls, machine: Machine) -> Links:
        """The links of a machine; of a stacked machine those of one row, as all rows have the same links."""
        links = machine.links[: len(machine.links) // machine.rows]
        below = [0] * len(links)
        for column, innermost in enumerate(machine.node_link[: machine.width].tolist() if links else ()):
            link = innermost
            while link >= 0:
                below[link] |= 1 << column
                link = links[link].parent
        return cls(tuple(below), tuple(link.capacity_bytes_per_s for link in links))


class FreeBandwidth:
    """Bytes per second left on each link in each row.

    Parameters
    ----------
    links
        The links, unused at first.
    rows
        Number of rows that take turns.
    """

    def __init__(self, links: Links, rows: int = 1) -> None:
        self._below = links.below
        self._left = [list(links.bytes_per_s) for _ in range(rows)]

    def carries(self, row: int, columns: int, rate: int) -> bool:
        """Whether the links carry this rate for each of these columns (a mask) in a row."""
        if not rate:
            return True
        return all(
            (columns & below).bit_count() * rate <= left
            for below, left in zip(self._below, self._left[row], strict=True)
        )

    def take(self, row: int, columns: int, rate: int) -> None:
        """Use the links for these columns in a row."""
        if rate:
            left = self._left[row]
            for link, below in enumerate(self._below):
                left[link] -= (columns & below).bit_count() * rate

    def give(self, row: int, columns: int, rate: int) -> None:
        """Undo :meth:`take`."""
        self.take(row, columns, -rate)
