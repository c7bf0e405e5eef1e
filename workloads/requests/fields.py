"""Limits of a site on requests, and the fields of a job that follow from its directives.

References
----------
flux-framework/flux-coral2, ``rabbit.toml`` (maxima and presets), jobspec attribute ``system.dw``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spillway.base.files import parse_json, parse_toml, read_file, text_of
from spillway.base.limits import InputError
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.directives import SCRIPT_BYTES, read_script
from spillway.workloads.requests.directives import Buffer, Requests, Spread, directives_of

GIB = 2**30


@dataclass(frozen=True)
class Site:
    """Limits, presets and profiles of a site.

    Attributes
    ----------
    maximums
        Most bytes per node, by kind of file system.
    presets
        Directives by name.
    profiles
        Storage nodes that a profile stripes over, by its name.
    stripes
        Storage nodes that a striped buffer without a known profile lies on.
    storages
        Bytes of each storage node of the machine; empty: not known.
    """

    maximums: Mapping[str, int] = field(default_factory=dict)
    presets: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, int] = field(default_factory=dict)
    stripes: int = 1
    storages: Sequence[int] = ()

    def stripes_of(self, buffer: Buffer) -> int:
        """Storage nodes that a striped buffer lies on."""
        return self.profiles.get(buffer.profile, self.stripes)

    def refusals(self, requests: Requests, nodes: int) -> Iterator[str]:
        """Inequalities that the requests of a job of ``nodes`` nodes break."""
        for buffer in (*requests.buffers, *requests.creates):
            name = f"{buffer.name or 'the buffer'} ({buffer.kind or 'striped'})"
            per_node, most = buffer.node_bytes(nodes), self.maximums.get(buffer.kind)
            if most is not None and per_node > most:
                yield f"{name}: {per_node:,} bytes per node > {most:,}, the site's maximum for {buffer.kind}"
            if self.storages:
                yield from self._unfit(buffer, name, nodes)

    def _unfit(self, buffer: Buffer, name: str, nodes: int) -> Iterator[str]:
        if buffer.spread is not Spread.STRIPED:
            share, largest = buffer.node_bytes(nodes), max(self.storages)
            served = sum(size // max(share, 1) for size in self.storages)
            if share > largest:
                yield f"{name}: {share:,} bytes per node > {largest:,}, the largest storage node"
            elif nodes > served and share:
                yield f"{name}: {nodes} nodes of {share:,} bytes > {served}, as many as fit on the storage nodes"
            return
        total, room = buffer.total_bytes(nodes), sum(self.storages)
        if total > room:
            yield f"{name}: {total:,} bytes > {room:,}, all storage nodes"
            return
        count = self.stripes_of(buffer)
        if count > len(self.storages):
            yield f"{name}: {count} storage nodes > {len(self.storages)}, all that there are"
            return
        share, least = -(-total // count), sorted(self.storages, reverse=True)[count - 1]
        if share > least:
            yield f"{name}: {share:,} bytes on each of {count} storage nodes > {least:,}, the {count}. largest one"


def read_site(path: Path) -> Site:
    """Read ``rabbit.toml``: ``rabbit.policy.maximums`` in GiB, ``rabbit.presets``, and ``rabbit.profiles`` (stripes).

    Raises
    ------
    WorkloadError
        The file is malformed; the message names the key.
    """
    try:
        table = parse_toml(text_of(read_file(path)))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    maximums, presets, profiles = (
        _table(table, keys, path)
        for keys in (("rabbit", "policy", "maximums"), ("rabbit", "presets"), ("rabbit", "profiles"))
    )
    for key, value in maximums.items():
        _require(_whole(value, 0), f"rabbit.policy.maximums.{key}", "a whole number of GiB", value, path)
    for key, value in presets.items():
        _require(isinstance(value, str), f"rabbit.presets.{key}", "a directive", value, path)
        directives_of([value], f"{path}: rabbit.presets.{key}")
    for key, value in profiles.items():
        _require(_whole(value, 1), f"rabbit.profiles.{key}", "a whole number of storage nodes", value, path)
    return Site({key: value * GIB for key, value in maximums.items()}, presets, profiles)


def _table(table: Mapping[str, Any], keys: Sequence[str], path: Path) -> dict[str, Any]:
    found: Any = table
    for place, key in enumerate(keys):
        found = found.get(key, {})
        _require(isinstance(found, dict), ".".join(keys[: place + 1]), "a table", found, path)
    return dict(found)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31


def _require(holds: bool, key: str, expected: str, value: Any, path: Path) -> None:
    if not holds:
        raise WorkloadError(f"{key}: expected {expected}, got {str(value)[:60]!r}", str(path))


def fields_of(requests: Requests, nodes: int, site: Site, where: str = "") -> dict[str, Any]:
    """Fields of a job of ``nodes`` nodes: ``bb`` or ``bb_total`` and ``bb_stripes``; kind, staging, persistent buffers.

    The kind is stated where all buffers have the same. Transfers state no size: with a transfer the whole buffer is
    staged, without one nothing.

    Raises
    ------
    WorkloadError
        Its requests break a limit, with the inequality; or it requests buffers of both kinds.
    """
    for refusal in site.refusals(requests, nodes):
        raise WorkloadError(f"the request cannot be met: {refusal}", where)
    persistent = _persistent(requests, site, where)
    if not requests.buffers:
        return persistent
    striped = [buffer for buffer in requests.buffers if buffer.spread is Spread.STRIPED]
    if striped and len(striped) < len(requests.buffers):
        raise WorkloadError(
            "a job has a buffer on each node or one striped buffer, not both: "
            + ", ".join(f"{buffer.kind or 'striped'} {buffer.spread.value}" for buffer in requests.buffers),
            where,
        )
    if striped:
        total, stripes = requests.total_bytes(nodes), max(site.stripes_of(buffer) for buffer in striped)
        size = -(-total // stripes)
        fields: dict[str, Any] = {"bb_total": total, "bb_stripes": stripes}
    else:
        size = sum(buffer.node_bytes(nodes) for buffer in requests.buffers)
        fields = {"bb": size}
    kinds = {buffer.kind for buffer in requests.buffers}
    if len(kinds) == 1 and "" not in kinds:
        fields["bb_kind"] = kinds.pop()
    staged = {"stage_in_bytes": requests.stage_in, "stage_out_bytes": requests.stage_out}
    return fields | {name: size if transfers else 0 for name, transfers in staged.items()} | persistent


def _persistent(requests: Requests, site: Site, where: str) -> dict[str, Any]:
    """The fields of persistent buffers that are created, used or destroyed."""
    creates = [
        {"name": create.name, "bytes": create.capacity_bytes, "stripes": site.stripes_of(create)}
        for create in requests.creates
    ]
    for create in requests.creates:
        if not create.name or not create.capacity_bytes:
            raise WorkloadError(
                f"create_persistent: expected a name and a capacity above 0, got name {create.name!r} and "
                f"{create.capacity_bytes} bytes",
                where,
            )
    found = {"bb_create": creates, "bb_use": list(requests.uses), "bb_destroy": list(requests.destroys)}
    return {field: values for field, values in found.items() if values}


def read_requests(path: Path, site: Site) -> tuple[Requests, int]:
    """Requests of a file, and the nodes that it states (0: not stated).

    The file is a job script; or JSON: a list of directives, a workflow object (``spec.dwDirectives``), or a Flux
    jobspec, with directives in the attribute ``system.dw`` (text, list, or the name of a preset) and GiB in the
    resource ``ssd``.

    Raises
    ------
    WorkloadError
        It cannot be read, or a directive is malformed.
    """
    if path.suffix != ".json":
        script = read_script(path)
        return script.requests, script.nodes
    try:
        data = parse_json(read_file(path, SCRIPT_BYTES))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    if isinstance(data, list):
        return _listed(data, site, path, ""), 0
    spec = data.get("spec") if isinstance(data, dict) else None
    if isinstance(spec, dict) and "dwDirectives" in spec:
        return _listed(spec["dwDirectives"], site, path, "spec.dwDirectives"), 0
    if isinstance(data, dict) and isinstance(data.get("resources"), list):
        return _jobspec(data, site, path)
    raise WorkloadError(
        "expected a list of directives, a workflow object ('spec.dwDirectives') or a jobspec ('resources')", str(path)
    )


def _listed(value: Any, site: Site, path: Path, where: str) -> Requests:
    lines = [value] if isinstance(value, str) else value
    total = Requests()
    if not isinstance(lines, list):
        raise WorkloadError(f"{where or 'the file'}: expected a list of directives, got {str(value)[:60]!r}", str(path))
    for place, line in enumerate(lines):
        at = f"{where}[{place}]"
        if not isinstance(line, str) or not (line in site.presets or line.lstrip().startswith("#")):
            known = f", or a preset's name ({', '.join(site.presets)})" if site.presets else ""
            raise WorkloadError(
                f"{at}: expected a directive such as '#DW jobdw ...'{known}, got {str(line)[:60]!r}", str(path)
            )
        total += directives_of(site.presets.get(line, line).split("\n"), f"{path}: {at}")
    return total


def _jobspec(data: Mapping[str, Any], site: Site, path: Path) -> tuple[Requests, int]:
    found: Any = data
    for key in ("attributes", "system", "dw"):
        found = found.get(key, {}) if isinstance(found, dict) else {}
    requests = _listed(found, site, path, "attributes.system.dw") if found else Requests()
    counts = {"node": 0, "ssd": 0}
    for kind, count in _counts(data["resources"], 1, path, "resources"):
        counts[kind] = counts.get(kind, 0) + count
    if counts["ssd"]:
        requests += Requests(buffers=(Buffer(counts["ssd"] * GIB, kind="ssd"),))
    return requests, counts["node"]


def _counts(resources: Any, times: int, path: Path, where: str) -> Iterator[tuple[str, int]]:
    """Type and number of every resource, those within others multiplied."""
    for place, resource in enumerate(resources if isinstance(resources, list) else ()):
        at = f"{where}[{place}]"
        if not isinstance(resource, dict) or not _whole(resource.get("count"), 1):
            raise WorkloadError(
                f"{at}: expected a resource with a whole 'count', got {str(resource)[:60]!r}", str(path)
            )
        count = times * resource["count"]
        yield str(resource.get("type", "")), count
        yield from _counts(resource.get("with"), count, path, f"{at}.with")


def lines_of(requests: Requests) -> Iterable[str]:
    """The requests in words, one per line."""
    for word, buffers in (("for the job", requests.buffers), ("created", requests.creates)):
        for buffer in buffers:
            more = "".join(
                f", {key} {text}" for key, text in (("pool", buffer.pool), ("profile", buffer.profile)) if text
            )
            named = f" {buffer.name}" if buffer.name else ""
            yield f"buffer{named} {word}: {buffer.capacity_bytes:,} bytes {buffer.spread.value}{more}"
    for word, names in (("used", requests.uses), ("destroyed", requests.destroys)):
        yield from (f"persistent buffer {name} {word}" for name in names)
    for word, transfers in (("in", requests.stage_in), ("out", requests.stage_out)):
        yield from (
            f"staged {word}: {transfer.source or '?'} to {transfer.destination or '?'}" for transfer in transfers
        )
    yield from (f"not known, requests nothing: {name}" for name in requests.others)
