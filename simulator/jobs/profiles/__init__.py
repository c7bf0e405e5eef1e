"""Profiles, the work of jobs: :data:`READERS` is the only registration. The core has what is one task or a pause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.base.errors import shown
from spillway.core import Profile, Work
from spillway.protocol.fields import Fields
from spillway.protocol.jsontext import as_printed
from spillway.protocol.messages import JsonObject
from spillway.protocol.profiles import read_fields
from spillway.simulator.jobs.profiles.base import Origin, Parsed
from spillway.simulator.jobs.profiles.composed import Sequence
from spillway.simulator.jobs.profiles.messaging import Receive, Send
from spillway.simulator.jobs.profiles.usage import replay

READERS: dict[str, Callable[[dict[str, Any], Fields, Origin], Parsed]] = {
    "composed": lambda it, *_: Parsed(Work.of_program(Sequence(it["seq"], it["repeat"])), children=it["seq"]),
    "data_staging": lambda it, *_: Parsed(Work.staging(it["nb_bytes"], it["from"], it["to"])),
    "delay": lambda it, *_: Parsed(Work.delay(it["delay"])),
    "io_stream": lambda it, *_: Parsed(Work.io_stream(it["cpu"], it["io_bytes"], it["storage"])),
    "parallel": lambda it, fields, _: _explicit(it, fields.where),
    "parallel_homogeneous": lambda it, *_: Parsed(Work.homogeneous(it["cpu"], it["com"])),
    "parallel_homogeneous_pfs": lambda it, fields, _: _access(it, fields.where, fields.data),
    "parallel_homogeneous_total": lambda it, *_: Parsed(Work.homogeneous_total(it["cpu"], it["com"]), elastic=True),
    "recv": lambda it, *_: Parsed(Work.of_program(Receive(*it.values()))),
    "send": lambda it, *_: Parsed(Work.of_program(Send(it["msg"], it["sleeptime"]))),
    "usage_trace": lambda it, fields, origin: replay(it["trace"], fields.where, origin),
}
"""Reader of each type of profile, from the values of its fields (:mod:`spillway.protocol.profiles`)."""


def _explicit(values: JsonObject, where: str) -> Parsed:
    """Work of each host, ``cpu`` (flops), and bytes between each two, ``com`` (as many as its square)."""
    cpu, com = values["cpu"], values["com"]
    if len(com) != len(cpu) * len(cpu):
        raise ValueError(
            f"{where}: field 'com' must have {len(cpu) * len(cpu)} numbers, the square of the {len(cpu)} in 'cpu', "
            f"got {len(com)}"
        )
    return Parsed(Work.explicit(cpu, com), size=len(cpu))


def _access(values: JsonObject, where: str, data: JsonObject) -> Parsed:
    """Reading and writing of one storage, which ``storage`` or ``host`` names."""
    if "bytes_to_read" not in data and "bytes_to_write" not in data:
        raise ValueError(f"{where} has neither the field 'bytes_to_read' nor 'bytes_to_write'")
    label = values["storage" if "storage" in data else "host"]
    return Parsed(Work.storage_access(values["bytes_to_read"], values["bytes_to_write"], label))


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
