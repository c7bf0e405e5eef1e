"""The files of a site into its description: each is recognised by its contents, and missing ones are assumed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from spillway.base import limits
from spillway.base.errors import InputError
from spillway.base.files import parse_toml, read_file
from spillway.base.hostlist import compressed, expanded
from spillway.experiments.site.accounts import ROOT, read_associations, read_qos, read_users, with_defaults
from spillway.experiments.site.configuration import notes_of, read_buffers, read_slurm
from spillway.experiments.site.hierarchical import read_resources
from spillway.experiments.site.machine import read_licenses, read_nodes, read_partitions, read_reservations
from spillway.experiments.site.pieces import Pieces
from spillway.experiments.site.source import Entry
from spillway.experiments.site.written import written
from spillway.schedulers.model.site import Association, Site, Weights
from spillway.schedulers.model.site_parts import NO_BUFFERS, Buffers, Cpus, Gpus, Reservation, Resource, Scheduler
from spillway.schedulers.site_file import site_of
from spillway.workloads.logs.lines import decoded


class Kind(NamedTuple):
    """A kind of file: the command that prints it, a pattern of its text, and its reader."""

    command: str
    pattern: str
    read: Callable[[str, str, Pieces], None]

    def recognises(self, text: str) -> bool:
        """Whether a text is of this kind."""
        return bool(re.search(self.pattern, text, re.MULTILINE | re.IGNORECASE))


def _columns(*needed: str) -> str:
    """A table, by the names of its columns."""
    return r"\s*" + "".join(rf"(?=(?:.*\|)?\s*{name}\s*(?:\||$))" for name in needed) + r".*\|"


def _records(first: str, key: str) -> str:
    """Records of ``scontrol show``: they begin with a key, and have another that configurations lack."""
    return rf"^{first}=.*(?:\n[ \t].*)*?\b{key}="


KINDS = (
    Kind("sacctmgr show assoc -P", r"\A(?!.*\bjobid)" + _columns("account", "user"), read_associations),
    Kind("sacctmgr show user -P", r"\A" + _columns("user", "def ?acct"), read_users),
    Kind("sacctmgr show qos -P", r"\A" + _columns("name", "priority"), read_qos),
    Kind(
        "slurm.conf",
        r"^\s*(?:ClusterName|SlurmctldHost|ControlMachine|SchedulerType|SchedulerParameters|Priority(?!JobFactor|Tier)\w+|SelectType"
        r"|AuthType|SlurmUser|AccountingStorage\w+|PreemptType|PreemptMode|BurstBufferType|Licenses)\s*=",
        read_slurm,
    ),
    Kind("scontrol show partition -o", _records("PartitionName", "TotalNodes"), read_partitions),
    Kind("scontrol show node -o", _records("NodeName", "CPUAlloc"), read_nodes),
    Kind(
        "scontrol show reservation -o",
        rf"\A\s*No reservations|{_records('ReservationName', 'StartTime')}",
        read_reservations,
    ),
    Kind("scontrol show lic -o", rf"\A\s*No licenses|{_records('LicenseName', 'Total')}", read_licenses),
    Kind("resources.yaml", r"^\s*-\s+resource\s*:", read_resources),
    Kind(
        "burst_buffer.conf",
        r"^\s*(?:StageInTimeout|StageOutTimeout|ValidateTimeout|OtherTimeout|GetSysState|GetSysStatus|DefaultPool|AltPool"
        r"|CreateBuffer|DestroyBuffer|AllowUsers|DenyUsers|Granularity)\s*=",
        read_buffers,
    ),
    Kind("slurm.conf", r"^\s*(?:PartitionName|NodeName)\s*=", read_slurm),
)
"""In the order in which a text is tried; the last are lines that ``slurm.conf`` includes."""

COMMANDS = tuple(dict.fromkeys(kind.command for kind in KINDS))


class _SiteImport(NamedTuple):
    """A site's description as TOML with comments, and lines on files that were read, on omissions and assumptions."""

    text: str
    said: list[str]


def imported(files: Sequence[Path], cluster: str = "") -> _SiteImport:
    """The description of the site that some files are about, in any order.

    Parameters
    ----------
    cluster
        Cluster of the associations, if the accounts are of several.

    Raises
    ------
    InputError
        A file cannot be read or is of another kind, a value is wrong, or two contradict each other; names the place.
    """
    return imported_texts({str(path): _text(path) for path in files}, cluster)


def imported_texts(texts: Mapping[str, str], cluster: str = "") -> _SiteImport:
    """As :func:`imported`, from the texts of files by their names."""
    pieces = Pieces(cluster, wanted=cluster)
    kinds = [(_kind_of(text, name), text, name) for name, text in texts.items()]
    for kind, text, name in sorted(kinds, key=lambda read: read[0].command != "slurm.conf"):  # it names the cluster
        kind.read(text, name, pieces)
        pieces.kinds[name] = kind.command
    stated = Entry(pieces.configuration, "").text("ClusterName")
    if cluster and stated and stated.lower() != cluster.lower():
        raise InputError(f"--cluster {cluster}: the files are of cluster {stated!r}; leave --cluster out or name it")
    pieces.notes += notes_of(pieces)
    nodes = _nodes(pieces)
    assumed = dict(_assumed(pieces, bool(nodes)))
    site = _site(pieces, nodes)
    made = written(site, compressed(nodes), assumed, pieces.notes)
    site_of(parse_toml(made, limits.SITE_BYTES), "the description of these files")
    read = [f"{name}: read as {command}" for name, command in pieces.kinds.items()]
    return _SiteImport(made, [*read, *pieces.notes, *(f"ASSUMED: {words}" for words in assumed.values())])


def _text(path: Path) -> str:
    try:
        return decoded(read_file(path))
    except limits.InputError as error:
        raise InputError(f"{path}: {error}") from None


def _kind_of(text: str, name: str) -> Kind:
    if found := next((kind for kind in KINDS if kind.recognises(text)), None):
        return found
    raise InputError(f"{name}: expected the contents of one of these: {', '.join(COMMANDS)}")


def _site(pieces: Pieces, nodes: list[str]) -> Site:
    """The pieces as one site."""
    configured = {resource.name for resource in pieces.resources}
    resources = (*pieces.resources, *(item for item in pieces.counted if item.name not in configured))
    return Site(
        name=pieces.cluster,
        partitions=tuple(pieces.partitions or pieces.configured),
        associations=tuple(_with_accounts(with_defaults(pieces), pieces)),
        qos=tuple(pieces.qos),
        licenses=tuple(pieces.licenses or pieces.configured_licenses),
        resources=tuple(filter(None, (_on_nodes(resource, pieces) for resource in resources))),
        gpus=tuple(Gpus(count, compressed(names)) for count, names in sorted(pieces.gpus.items())),
        cpus=tuple(_cpus(pieces, nodes)),
        reservations=tuple(_within(reservation, set(nodes), pieces) for reservation in pieces.reservations),
        weights=pieces.weights or Weights(),
        scheduler=pieces.scheduler or Scheduler(),
        buffers=pieces.buffers or Buffers(kind=NO_BUFFERS if pieces.weights is not None else ""),
    )


def _nodes(pieces: Pieces) -> list[str]:
    """Names of compute nodes: listed, else those of partitions, in their order; of ``slurm.conf`` all its nodes."""
    if pieces.nodes:
        return pieces.nodes
    named = [name for part in (pieces.partitions or pieces.configured) for name in expanded(part.nodes)]
    every = pieces.configured_nodes if not named or any(not part.nodes for part in pieces.configured) else named
    return list(dict.fromkeys(every or named))


def _cpus(pieces: Pieces, nodes: list[str]) -> Iterator[Cpus]:
    """CPUs of the nodes, without names where all have as many; nothing where all have one."""
    found = pieces.cpus if pieces.nodes else pieces.configured_cpus
    within = {count: [name for name in names if name in nodes] for count, names in found.items() if count > 1}
    for count, names in sorted(within.items()):
        if names:
            yield Cpus(count, "" if len(names) == len(nodes) else compressed(names))


def _assumed(pieces: Pieces, nodes: bool) -> Iterator[tuple[str, str]]:
    """Assumptions for missing tables: name of the table, and sentence."""
    partitions = pieces.partitions or pieces.configured
    if not nodes:
        yield "nodes", "no nodes (scontrol show node -o): as many as the machine has, by number"
    elif not pieces.nodes:
        yield "nodes", "no 'scontrol show node -o': the nodes are those of the partitions, in their order"
    if not partitions:
        yield "partition", "no partitions (scontrol show partition -o): one of all nodes, without limits"
    if not pieces.associations:
        yield "association", "no associations (sacctmgr show assoc -P): users are equal siblings, without limits"
    if not pieces.qos:
        yield "qos", "no QOS (sacctmgr show qos -P): the QOS that jobs name have no priority and no limits"
    if "scontrol show lic -o" not in pieces.kinds.values() and not pieces.configured_licenses:
        yield "license", "no licences (scontrol show lic -o): the site has no licences"
    if "resources.yaml" not in pieces.kinds.values() and not pieces.counted:
        yield "resource", "no resources.yaml: the site has no hierarchical resources"
    if "scontrol show reservation -o" not in pieces.kinds.values():
        yield "reservation", "no reservations (scontrol show reservation -o): the site has no reservations"
    if pieces.weights is None:
        yield "priority", "no slurm.conf: all weights are 0, Slurm's default: jobs in order of submission"
        yield "scheduler", "no slurm.conf: the schedulers have the defaults of the policy that plays them"
    if pieces.buffers is None and pieces.weights is not None:
        yield "burst_buffer", "no BurstBufferType in slurm.conf: the site has no burst buffers, and none are drawn"
    elif "burst_buffer.conf" not in pieces.kinds.values():
        yield "burst_buffer", "no burst_buffer.conf: buffers are as the platform describes them, transfers never fail"


def _with_accounts(associations: list[Association], pieces: Pieces) -> list[Association]:
    """The associations, and those of accounts that only their users or accounts below them name."""
    known = {"", *(association.account for association in associations if not association.user)}
    named = [association.account if association.user else association.parent for association in associations]
    missing = [account for account in dict.fromkeys(named) if account not in {*known, ROOT}]
    missing += [ROOT] * (ROOT not in known and any(association.account == ROOT for association in associations))
    pieces.notes += [
        f"ASSUMED: account {account} has no association of its own: 1 share, below the root" for account in missing
    ]
    return [*(Association(account) for account in missing), *associations]


def _on_nodes(resource: Resource, pieces: Pieces) -> Resource | None:
    """A resource without layers that have no nodes; mode 3 keeps them, since their nodes are those of layers below."""
    if resource.mode == 3:
        return resource
    kept = tuple(layer for layer in resource.layers if layer.nodes)
    pieces.notes += [
        f"resource {resource.name}: layer {layer.name} has no nodes: left out"
        for layer in resource.layers
        if not layer.nodes
    ]
    return msgspec.structs.replace(resource, layers=kept) if kept else None


def _within(one: Reservation, nodes: set[str], pieces: Pieces) -> Reservation:
    """A reservation without nodes that do not belong to the machine."""
    names = expanded(one.nodes)
    kept = [name for name in names if name in nodes]
    if len(kept) == len(names):
        return one
    pieces.notes.append(f"reservation {one.name}: nodes that belong to no partition are left out of it")
    return msgspec.structs.replace(one, nodes=compressed(kept))
