"""Profiles: what jobs do. One file per family of types; :data:`READERS` is the only registration."""

from __future__ import annotations

from collections.abc import Callable

from spillway.base.errors import shown
from spillway.protocol.messages import JsonObject
from spillway.simulator.jobs.profiles import (
    composed,
    delay,
    homogeneous,
    io_stream,
    messaging,
    parallel,
    storage,
    usage,
)
from spillway.simulator.jobs.profiles.base import Origin, Parsed, Profile
from spillway.simulator.reading.fields import Fields
from spillway.simulator.reading.numbers import rewritten

READERS: dict[str, Callable[[Fields, Origin], Parsed]] = {
    "composed": composed.parse,
    "data_staging": storage.parse_staging,
    "delay": delay.parse,
    "io_stream": io_stream.parse,
    "parallel": parallel.parse,
    "parallel_homogeneous": homogeneous.parse,
    "parallel_homogeneous_pfs": storage.parse_pfs,
    "parallel_homogeneous_total": homogeneous.parse_total,
    "recv": messaging.parse_recv,
    "send": messaging.parse_send,
    "usage_trace": usage.parse,
}


def read_profile(name: str, data: JsonObject, origin: Origin = Origin()) -> Profile:  # noqa: B008 - frozen
    """Read a profile.

    Parameters
    ----------
    name
        Its name.
    data
        Its JSON object. Batsim reads a registered profile after printing it, so real numbers lose what lies beyond
        the sixth decimal (profiles of a file keep it).
    origin
        Where it comes from.

    Raises
    ------
    ValueError
        Something is missing, of the wrong kind or out of range; the message names the profile and the field.
    """
    where = f"profile {shown(name)}"
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object, got {shown(data)}")
    try:
        printed = rewritten(data)
    except ValueError as fault:
        raise ValueError(f"{where}: {fault}") from None
    fields = Fields(printed if origin.folder is None else data, where)
    kind = fields.text("type")
    reader = READERS.get(kind)
    if reader is None:
        known = ", ".join(READERS)
        hint = " (SMPI replay is not part of this simulator)" if kind == "smpi" else ""
        raise ValueError(f"{where}: unknown type {shown(kind)}{hint}; known types are {known}")
    ret = fields.integer("ret", 0)
    if ret < -2:
        raise fields.wrong("ret", "a return code of at least -2", ret)
    parsed = reader(fields, origin)
    return Profile(name, kind, parsed.work, ret, parsed.size, parsed.elastic, parsed.children, printed)
