"""Profiles, the work of jobs. The core reads those of a few numbers (:data:`spillway.core.PLAIN_PROFILES`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.base.errors import shown
from spillway.core import PLAIN_PROFILES, Profile, Work, as_printed, read_plain_profile
from spillway.protocol.fields import Fields
from spillway.protocol.messages import JsonObject
from spillway.protocol.profiles import read_fields
from spillway.simulator.jobs.profiles.base import Origin, ParsedProfile
from spillway.simulator.jobs.profiles.composed import Sequence
from spillway.simulator.jobs.profiles.messaging import Receive, Send
from spillway.simulator.jobs.profiles.usage import replay

READERS: dict[str, Callable[[dict[str, Any], Fields, Origin], ParsedProfile]] = {
    "composed": lambda it, *_: ParsedProfile(Work.of_program(Sequence(it["seq"], it["repeat"])), children=it["seq"]),
    "parallel": lambda it, fields, _: _explicit(it, fields.where),
    "recv": lambda it, *_: ParsedProfile(Work.of_program(Receive(*it.values()))),
    "send": lambda it, *_: ParsedProfile(Work.of_program(Send(it["msg"], it["sleeptime"]))),
    "usage_trace": lambda it, fields, origin: replay(it["trace"], fields.where, origin),
}
"""Reader of each other type of profile, from the values of its fields (:mod:`spillway.protocol.profiles`)."""


def _explicit(values: JsonObject, where: str) -> ParsedProfile:
    """Work of each host, ``cpu`` (flops), and bytes between each two, ``com`` (as many as its square)."""
    cpu, com = values["cpu"], values["com"]
    if len(com) != len(cpu) * len(cpu):
        raise ValueError(
            f"{where}: field 'com' must have {len(cpu) * len(cpu)} numbers, the square of the {len(cpu)} in 'cpu', "
            f"got {len(com)}"
        )
    return ParsedProfile(Work.explicit(cpu, com), size=len(cpu))


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
    found = read_plain_profile(name, data, origin.reprinted, origin.folder is not None)
    return _other(name, data, origin) if found is None else found


def _other(name: str, data: Any, origin: Origin) -> Profile:
    """A profile that the core does not read: of another type, or faulty."""
    where = f"profile {shown(name)}"
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object, got {shown(data)}")
    try:
        printed = as_printed(data) if origin.reprinted else data
    except ValueError as fault:
        raise ValueError(f"{where}: {fault}") from None
    fields = Fields(printed if origin.folder is None else data, where)
    kind = fields.text("type")
    if kind not in READERS and kind not in PLAIN_PROFILES:
        known = ", ".join(sorted({*READERS, *PLAIN_PROFILES}))
        hint = " (SMPI replay is not part of this simulator)" if kind == "smpi" else ""
        raise ValueError(f"{where}: unknown type {shown(kind)}{hint}; known types are {known}")
    ret = fields.integer("ret", 0)
    if ret < -2:
        raise fields.wrong("ret", "a return code of at least -2", ret)
    values = read_fields(kind, fields)
    if kind == "parallel_homogeneous_pfs" and fields.data.keys().isdisjoint(("bytes_to_read", "bytes_to_write")):
        raise ValueError(f"{where} has neither the field 'bytes_to_read' nor 'bytes_to_write'")
    if kind in PLAIN_PROFILES:
        raise ValueError(f"{where}: a text is no valid Unicode")
    parsed = READERS[kind](values, fields, origin)
    return Profile(name, kind, parsed.work, ret, parsed.size, parsed.elastic, parsed.children, printed)
