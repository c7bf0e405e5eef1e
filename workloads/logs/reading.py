"""How a log is to be read: the options that every command has."""

from __future__ import annotations

from dataclasses import dataclass

from spillway.workloads.logs.where import check


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options of reading a log.

    Attributes
    ----------
    format
        Name of its format; "": recognised from its first lines.
    lenient
        Standard Workload Format: accept more or fewer columns than 18; what is left out is said.
    fields
        Standard Workload Format: what each column is, separated by commas (``swf,nodes,-``: its 18 fields, the number
        of nodes, and one column that is left out); "": its 18 fields.
    scripts
        Folder of job scripts, each named by its job's number, whose ``#BB``, ``#BB_LUA`` and ``#DW`` lines state
        burst buffers; "": none.
    darshan
        File or folder of Darshan's totals (``darshan-parser --total``, or ``.darshan`` logs with the extra
        ``darshan``), whose bytes moved go to the jobs; "": none.
    where
        Conditions on the jobs that are taken (:mod:`spillway.workloads.logs.where`); one may be given as a text.
    """

    format: str = ""
    lenient: bool = False
    fields: str = ""
    scripts: str = ""
    darshan: str = ""
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given = (self.where,) if isinstance(self.where, str) else self.where
        object.__setattr__(self, "where", check(given))

    @property
    def strict(self) -> bool:
        """Whether the Standard Workload Format is read to the letter."""
        return not self.lenient and not self.fields


STRICT = Reading()
