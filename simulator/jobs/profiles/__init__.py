"""Profiles, the work of jobs. One file per family of types; :data:`READERS` is the only registration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.base.errors import shown
from spillway.protocol.fields import Fields
from spillway.protocol.jsontext import as_printed
from spillway.protocol.messages import JsonObject
from spillway.protocol.profiles import read_fields
from spillway.simulator.jobs.profiles.base import DelayWork, Origin, Parsed, Profile
from spillway.simulator.jobs.profiles.composed import Sequence
from spillway.simulator.jobs.profiles.homogeneous import Homogeneous, HomogeneousTotal
from spillway.simulator.jobs.profiles.io_stream import IoStream
from spillway.simulator.jobs.profiles.messaging import Receive, Send
from spillway.simulator.jobs.profiles.parallel import explicit
from spillway.simulator.jobs.profiles.storage import Staging, access
from spillway.simulator.jobs.profiles.usage import replay

READERS: dict[str, Callable[[dict[str, Any], Fields, Origin], Parsed]] = {
    "composed": lambda it, *_: Parsed(Sequence(it["seq"], it["repeat"]), children=it["seq"]),
    "data_staging": lambda it, *_: Parsed(Staging(it["nb_bytes"], it["from"], it["to"])),
    "delay": lambda it, *_: Parsed(DelayWork(it["delay"])),
    "io_stream": lambda it, *_: Parsed(IoStream(it["cpu"], it["io_bytes"], it["storage"])),
    "parallel": lambda it, fields, _: explicit(it, fields.where),
    "parallel_homogeneous": lambda it, *_: Parsed(Homogeneous(it["cpu"], it["com"])),
    "parallel_homogeneous_pfs": lambda it, fields, _: access(it, fields.where, fields.data),
    "parallel_homogeneous_total": lambda it, *_: Parsed(HomogeneousTotal(it["cpu"], it["com"]), elastic=True),
    "recv": lambda it, *_: Parsed(Receive(*it.values())),
    "send": lambda it, *_: Parsed(Send(it["msg"], it["sleeptime"])),
    "usage_trace": lambda it, fields, origin: replay(it["trace"], fields.where, origin),
}
"""Reader of each type of profile, from the values of its fields (:mod:`spillway.protocol.profiles`)."""


def read_profile(name: str, data: JsonObject, origin: Origin = Origin()) -> Profile:  # noqa: B008 - frozen
    """Read a profile.

    Parameters
    ----------
    name
        Its name.
    data
        Its JSON object. Batsim 4 reads a registered profile after printing it, so real numbers lose the digits beyond
        the sixth decimal (profiles of a file keep them).
    origin
        Its origin.

    Raises
    ------
    ValueError
        Something is missing, of the wrong kind or out of range; the message names the profile and the field.
    """
    where = f"profile {shown(name)}"
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object, got {shown(data)}")
    try:
        printed = as_printed(data) if origin.reprinted else data
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
    parsed = reader(read_fields(kind, fields), fields, origin)
    return Profile(name, kind, parsed.work, ret, parsed.size, parsed.elastic, parsed.children, printed)
