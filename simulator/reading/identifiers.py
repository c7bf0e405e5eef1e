"""Job ids: ``workload!name``, and the rule by which a short id gets its workload's name."""

from __future__ import annotations

import re

from spillway.base.errors import shown
from spillway.protocol.jobs import ID_STOPS

_SEPARATORS = re.compile("!+")
_STOPS = re.compile(f"[{ID_STOPS}]")


def split_id(text: str) -> tuple[str, str]:
    """Workload name and job name of a full id; several separators in a row count as one.

    Raises
    ------
    ValueError
        Not exactly one separator.
    """
    workload, _, name = text.partition("!")
    if name and "!" not in name:
        return workload, name
    parts = _SEPARATORS.split(text)
    if len(parts) != 2:
        raise ValueError(f"expected a job id WORKLOAD!NAME with exactly one '!', got {shown(text)}")
    return parts[0], parts[1]


def resolve_id(value: object, workload: str, where: str) -> tuple[str, str]:
    """Workload name and job name of a job with this ``id`` in its object.

    Batsim's rule: an id that contains the workload's name anywhere is taken as full already, any other gets the name in
    front. So the id ``w01`` in the workload ``w0`` is refused.

    Raises
    ------
    ValueError
        The id is neither text nor a whole number, is no full id after the rule was applied, or has one of the
        characters at which Batsim's search for ids stops: ``( , | } )``.
    """
    if type(value) is int:
        text = str(value)
    elif isinstance(value, str):
        text = value
        if _STOPS.search(text):
            raise ValueError(
                f"{where}: field 'id' must not contain any of {' '.join(ID_STOPS)}, which end Batsim's search for ids: "
                f"{shown(value)}"
            )
    else:
        raise ValueError(f"{where}: field 'id' must be a text or a whole number, got {shown(value)}")
    full = text if workload in text else f"{workload}!{text}"
    try:
        return split_id(full)
    except ValueError:
        hint = ""
        if workload in text and "!" not in text:
            hint = (
                f"; it contains the name of its workload ({shown(workload)}), so that Batsim takes it for a full id: "
                f"rename the job"
            )
        raise ValueError(
            f"{where}: field 'id' must name a job of workload {shown(workload)}, WORKLOAD!NAME with exactly "
            "one '!' when "
            f"given in full, got {shown(text)}{hint}"
        ) from None
