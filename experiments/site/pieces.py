"""Contents of a site's files, collected, with the names of nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from spillway.schedulers.model.site import Association, License, Partition, Qos, Weights
from spillway.schedulers.model.site_parts import Buffers, Reservation, Resource, Scheduler


@dataclass
class Pieces:
    """Contents of the files read so far; ``None`` or an empty list: no file states it.

    Parts of a :class:`~spillway.schedulers.model.site.Site` have its names; ``configured`` ones are of ``slurm.conf``,
    for sites with no others in their files.

    Attributes
    ----------
    cluster, wanted
        Name of the cluster to take from the accounts, and the one that the user named; "": the only one there.
    kinds
        Kinds of files that were read, by the file's name.
    nodes
        Names of compute nodes in the order of the files.
    gpus, cpus
        Names of nodes, by the number of GPUs of each, and of CPUs that jobs can use.
    configuration
        Single keys of ``slurm.conf`` and the files that it includes, in lower case.
    included
        Files that ``slurm.conf`` includes: its name, and theirs.
    counted
        Hierarchical resources that the controller shows among its licences; those of ``resources.yaml`` come first.
    default_accounts
        Default account of each user.
    notes
        Omissions, in words.
    """

    cluster: str = ""
    kinds: dict[str, str] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)
    gpus: dict[int, list[str]] = field(default_factory=dict)
    cpus: dict[int, list[str]] = field(default_factory=dict)
    partitions: list[Partition] = field(default_factory=list)
    associations: list[Association] = field(default_factory=list)
    qos: list[Qos] = field(default_factory=list)
    licenses: list[License] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    reservations: list[Reservation] = field(default_factory=list)
    weights: Weights | None = None
    scheduler: Scheduler | None = None
    buffers: Buffers | None = None
    configuration: dict[str, str] = field(default_factory=dict)
    configured: list[Partition] = field(default_factory=list)
    configured_nodes: list[str] = field(default_factory=list)
    configured_cpus: dict[int, list[str]] = field(default_factory=dict)
    included: list[tuple[str, str]] = field(default_factory=list)
    configured_licenses: list[License] = field(default_factory=list)
    counted: list[Resource] = field(default_factory=list)
    default_accounts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    wanted: str = ""

    def note(self, *words: str) -> None:
        """Note omissions, each once."""
        self.notes += [word for word in dict.fromkeys(words) if word not in self.notes]
