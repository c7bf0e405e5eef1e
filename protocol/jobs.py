"""Jobs as workload files and schedulers state them: Batsim's rules, by which every reader checks their fields."""

from __future__ import annotations

from spillway.base.errors import shown
from spillway.protocol.fields import INT32, Fields

ID_STOPS = "(,|})"
"""Characters that no id contains: Batsim's search for ids stops at them."""

NO_WALLTIME = -1.0
"""Value of a job without walltime."""


def read_job(fields: Fields, digits: int | None = None) -> tuple[float, float, int, str]:
    """Submission time (s), walltime (s), nodes and profile of a job; ``fields`` makes the errors.

    Times are rounded to ``digits`` decimals where Batsim prints the job before it reads it.
    """
    subtime, walltime = fields.time("subtime"), fields.number("walltime", NO_WALLTIME)
    if digits is not None:
        subtime, walltime = round(subtime, digits), round(walltime, digits)
    if walltime != NO_WALLTIME and not walltime > 0:  # one beyond all times is never reached
        raise fields.wrong("walltime", "a number above 0, or -1 if none", fields.data["walltime"])
    res = fields.required("res")
    if type(res) is not int or not 0 <= res <= INT32:
        raise fields.wrong("res", "a whole number of at least 0 (1.0 is not)", res)
    return subtime, walltime, res, fields.text("profile")


def check_size(fields: Fields, res: int, profile: str, size: int | None) -> None:
    """Refuse a job whose number of nodes differs from its profile's ``size``; ``None``: the profile has any size."""
    if size is not None and size != res:
        raise fields.fault("res", f"must be {size}, the size of its profile {shown(profile)}, got {res}")
