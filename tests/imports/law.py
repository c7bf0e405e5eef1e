"""Permitted imports: an allow-list for each part of our packages. All other imports are denied.

The table :data:`LAW` is the whole rule; the contracts in ``pyproject.toml`` state its outline for ``lint-imports``.
Every import statement counts, also those inside functions and under ``if TYPE_CHECKING``.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tests.imports.graph import PACKAGES, imports

PURE = frozenset(
    {
        "__future__",
        "abc",
        "bisect",
        "collections",
        "contextlib",
        "copy",
        "dataclasses",
        "enum",
        "fractions",
        "functools",
    }
    | {"heapq", "itertools", "math", "operator", "re", "statistics", "types", "typing"}
)
"""Modules of the standard library without a clock, files, processes, sockets or state: same input, same output."""

EVERYTHING = frozenset(sys.stdlib_module_names)


@dataclass(frozen=True)
class Rule:
    """Permitted imports of one part.

    Attributes
    ----------
    ours
        Modules of our packages: a name is that module only, ``name.*`` includes all below it.
    others
        Distributions from elsewhere.
    standard
        Modules of the standard library, or single names of them (``random.Random``).
    """

    ours: frozenset[str]
    others: frozenset[str]
    standard: frozenset[str]

    def allows(self, target: str) -> bool:
        """Whether this import is on the list."""
        top = target.partition(".")[0]
        if top in PACKAGES:
            return any(_covers(pattern, target) for pattern in self.ours)
        if target == "numpy.random" or target.startswith("numpy.random."):
            return "numpy.random" in self.others
        names = self.standard if top in sys.stdlib_module_names else self.others
        return any(target == name or target.startswith(f"{name}.") for name in names)


class Fault(NamedTuple):
    """An import that the rules deny."""

    module: str
    line: int
    target: str

    def __str__(self) -> str:
        """One line that states the remedy."""
        return (
            f"{self.module}, line {self.line}: imports {self.target}, which the rule for {rule_of(self.module)!r} does "
            "not allow; move what is needed to where it may be imported from, or add an entry with its reason to "
            "tests/imports/law.py"
        )


def _rule(*ours: str, others: str = "", standard: frozenset[str] = PURE) -> Rule:
    return Rule(frozenset(ours), frozenset(others.split()), standard)


LAW: Mapping[str, Rule] = {
    # ---------------------------------------------------------------- foundations
    "base.*": _rule("base.*", others="msgspec", standard=EVERYTHING),
    "base.errors": _rule(standard=PURE | {"signal", "reprlib"}),
    "base.near": _rule(standard=PURE | {"difflib"}),
    "base.options": _rule("base.errors", "base.near", others="msgspec"),
    # The codecs are as pure as the deciding parts; only the transcript uses files.
    "protocol.*": _rule("protocol.*", "base.errors", others="msgspec", standard=PURE | {"json", "struct"}),
    # Of the core: numbers as Batsim prints and reads them, which every job of a workload needs.
    "protocol.batsim4.fields": _rule(
        "protocol.*", "base.errors", "core", others="msgspec", standard=PURE | {"json", "struct"}
    ),
    "protocol.transcript": _rule("protocol.*", "base.errors", others="msgspec", standard=EVERYTHING),
    # ---------------------------------------------------------------- the compiled core
    # Its face: names of the compiled module. Other parts import the face only.
    "core": _rule("core.*"),
    # Words for faults, and values of Python that the compiled module makes.
    "core.*": _rule("core.*"),
    # ---------------------------------------------------------------- schedulers: decisions
    # Values that every part of the scheduler may see.
    "schedulers.model.*": _rule(
        "schedulers.model.*", "core", "protocol.messages", "protocol.limits", "protocol.intervals", "base.errors",
        others="numpy msgspec",
    ),
    # Only the table imports policies. core and timesharing: the types of a policy's settings.
    "schedulers.policies": _rule(
        "schedulers.policies.*", "schedulers.policykit.view", "core", "schedulers.timesharing.*",
        "base.options", "base.errors", "base.entry_points",
    ),
    "schedulers.policies.*": _rule(
        "schedulers.model.*", "schedulers.policykit.*", "schedulers.search.*",
        "schedulers.timesharing.*", "core", "base.options", "base.errors", "base.units",
        others="numpy msgspec",
    ),
    # core: compiled passes over the timeline. Random: the session's generator is passed in, so the class is named,
    # never the module's shared generator. Threads: annealing chains. Options: a site's parameters become those of a
    # policy.
    "schedulers.policykit.*": _rule(
        "schedulers.model.*", "core", "schedulers.policykit.*", "base.errors",
        "base.options", "base.units", "base.dates", "protocol.intervals",
        others="numpy msgspec",
        standard=PURE | {"random.Random", "concurrent.futures.ThreadPoolExecutor"},
    ),
    # Random: the genetic search makes its own from a seed that is passed in.
    "schedulers.search.*": _rule(
        "schedulers.search.*", "core",
        others="numpy z3",
        standard=PURE | {"random.Random"},
    ),
    # core: the rules of its matrix.
    "schedulers.timesharing.*": _rule("schedulers.model.*", "schedulers.timesharing.*", "core", "base.errors"),
    # ---------------------------------------------------------------- schedulers: execution
    # Of the policies' helpers: their input. Of the protocol: neutral messages, no codec. Of the controllers: their
    # input and the changes that steering makes. weakref: a copy is made only while a view of the queue is in use.
    "schedulers.core.*": _rule(
        "schedulers.model.*", "core", "schedulers.core.*", "schedulers.policykit.view",
        "schedulers.policykit.estimates", "schedulers.policykit.history",
        "schedulers.controllers.prediction", "schedulers.controllers.running_application",
        "schedulers.controllers.scene", "protocol.messages", "protocol.drains", "protocol.intervals",
        "protocol.limits", "base.errors",
        others="numpy msgspec",
        standard=PURE | {"array.array", "random.Random", "weakref"},
    ),
    # A life wraps any policy, but imports no policy; like a policy it receives a view and answers with decisions.
    "schedulers.lives": _rule("schedulers.lives.*", "base.options", "base.errors", "base.plugins"),
    "schedulers.lives.*": _rule(
        "schedulers.model.*", "schedulers.lives.*", "schedulers.policykit.*", "core", "base.options",
        "base.errors",
        others="msgspec",
    ),
    # The table finds models by name, from outside too.
    "schedulers.jobmodels": _rule(
        "schedulers.jobmodels.*", "schedulers.model.job", "schedulers.model.rules", "base.options", "base.errors",
        "base.plugins", "base.entry_points",
    ),
    # Of the core only the interface to a session, never the ledger or the session itself.
    "schedulers.jobmodels.*": _rule(
        "schedulers.model.*", "schedulers.jobmodels.*", "schedulers.core.demand", "core",
        "schedulers.applications.*", "schedulers.controllers.*", "schedulers.timesharing.*",
        "protocol.messages", "protocol.limits", "base.options", "base.errors",
        others="numpy msgspec",
    ),
    "schedulers.controllers.*": _rule(
        "schedulers.controllers.*", "schedulers.applications.*", "base.options", "base.errors", "base.plugins",
        "base.entry_points",
        others="numpy msgspec",
    ),
    "schedulers.applications.*": _rule(
        "schedulers.applications.*", "schedulers.model.job", "protocol.limits", "base.errors", others="numpy msgspec"
    ),
    # ---------------------------------------------------------------- schedulers: the shell
    "schedulers": _rule(),
    # Parts of a run's description: texts and values, read by command lines and campaign files.
    "schedulers.description": _rule("base.options", "base.limits", "base.plugins"),
    # Assembly chooses: only this and the services see policies, job models and the session together.
    "schedulers.assembly": _rule("schedulers.*", "core", "protocol.messages", "base.*", standard=EVERYTHING),
    # The file's reader: the setting is passed on as text, and every interface accepts the file.
    "schedulers.site_file": _rule(
        "schedulers.model.*", "protocol.intervals", "base.*", others="msgspec", standard=EVERYTHING
    ),
    "schedulers.service.*": _rule("schedulers.*", "protocol.*", "base.*", standard=EVERYTHING),
    "schedulers.service.door": _rule(
        "protocol.limits", "base.errors", "base.socket_events", others="zmq", standard=EVERYTHING
    ),
    "schedulers.service.narrator": _rule(
        "schedulers.model.*", "schedulers.core.observer", "schedulers.core.session", "schedulers.policykit.*",
        "protocol.intervals",
        "protocol.messages",
    ),
    "schedulers.service.pybatsim": _rule(
        "schedulers.*", "protocol.*", "base.*", others="msgspec batsim procset", standard=EVERYTHING
    ),
    "schedulers.service.pybatsim4": _rule(
        "schedulers.*", "protocol.*", "base.*", others="msgspec pybatsim", standard=EVERYTHING
    ),
    # ---------------------------------------------------------------- the other parts
    "platforms.*": _rule("platforms.*", "base.*", others="numpy matplotlib networkx", standard=EVERYTHING),
    # The shuffle of a cross-validation, by its seed.
    "platforms.sites.measurements": _rule("platforms.*", "base.*", others="numpy numpy.random", standard=EVERYTHING),
    "workloads.*": _rule(
        "workloads.*", "base.*", "protocol.limits", "protocol.fields", "protocol.jobs", "protocol.profiles",
        "protocol.batsim5.profiles",
        others="numpy numpy.random matplotlib msgspec scipy pyarrow darshan",
        standard=EVERYTHING,
    ),
    # The protocol: neutral messages, the codecs for the simulator's side, the refusal sent in place of a reply.
    "simulator.*": _rule(
        "simulator.*", "core", "base.*", "platforms.model", "platforms.errors", "platforms.io_paths",
        "platforms.simgrid.xml_reader", "protocol.messages", "protocol.intervals", "protocol.batsim4.codec",
        "protocol.drains", "protocol.refusal",
        "protocol.limits", "protocol.fields", "protocol.jobs", "protocol.jsontext", "protocol.profiles",
        "protocol.format", "protocol.batsim5.codec", "protocol.batsim5.profiles",
        others="numpy msgspec zmq simgrid",
        standard=EVERYTHING,
    ),
    # pyarrow: tables as parquet, an extra.
    "analysis.*": _rule(
        "analysis.*", "base.*",
        others="numpy numpy.random matplotlib seaborn pyarrow rich jinja2 markupsafe",
        standard=EVERYTHING,
    ),
    # The checks of a scheduler share only the messages with the schedulers.
    "experiments.trials.account": _rule("protocol.messages", standard=PURE | {"json"}),  # in Batsim 5 a job has a text
    "experiments.trials.observer": _rule("experiments.trials.account", "protocol.messages"),
    # An environment for learners: in-process simulation and the choices by name; no command line. gymnasium is an extra
    # that only this part needs.
    "learning.*": _rule(
        "learning.*", "platforms.catalogue", "platforms.model", "schedulers.assembly", "schedulers.description",
        "schedulers.model.*",
        "schedulers.core.observer", "schedulers.core.session", "schedulers.lives", "schedulers.policykit.*",
        "core",
        "simulator.wire.broker", "simulator.wire.links", "simulator.engines.by_name", "simulator.options",
        "simulator.reading.registry", "simulator.reading.workload", "workloads.load",
        "workloads.conversion.machine_facts",
        "workloads.conversion.split", "workloads.batsim.workload", "protocol.messages", "base.errors", "base.options",
        others="numpy numpy.random gymnasium",
        standard=PURE | {"pathlib", "hashlib", "importlib.util"},
    ),
    # A policy: EASY, which takes over the jobs that it cannot start, is named so that it counts in the hash of its
    # code.
    "learning.network_policy": _rule(
        "learning.chooser", "learning.network", "learning.observation", "schedulers.model.decisions",
        "schedulers.policies.backfill", "schedulers.policykit.*", "base.options", standard=PURE | {"pathlib"},
    ),
    "experiments.*": _rule(
        *(f"{package}.*" for package in PACKAGES),
        others="numpy numpy.random matplotlib seaborn PIL msgspec rich markupsafe zmq distributed dask dask_jobqueue "
        "docker requests shtab pandas IPython yaml",
        standard=EVERYTHING,
    ),
}  # fmt: skip
"""Rules by the part they hold for; of several, the longest name counts. ``name.*`` holds for ``name`` and all below."""

EXCEPTIONS: Mapping[tuple[str, str], str] = {
    ("core.loading", "importlib"): "it loads the compiled module while signals wait",
    ("core.loading", "signal"): "it loads the compiled module while signals wait",
}
"""Single imports that break a rule, each with its reason; one that is not needed any more is an error."""


def rule_of(module: str) -> str:
    """Name of the rule for a module.

    Raises
    ------
    KeyError
        No rule holds for it: a new part needs one.
    """
    found = [part for part in LAW if _covers(part, module)]
    if not found:
        raise KeyError(f"no rule in tests/imports/law.py holds for {module!r}: say there what it may import")
    return max(found, key=lambda part: (len(part.removesuffix(".*")), not part.endswith(".*")))


def faults(module: str, source: str, ours: Iterable[str], is_package: bool = False) -> list[Fault]:
    """Imports of a module that the rules deny, in order.

    Parameters
    ----------
    module, source
        Its name and text.
    ours
        Names of all modules of our packages.
    is_package
        Whether it is an ``__init__.py``.
    """
    known = frozenset(ours)
    rule = LAW[rule_of(module)]
    return [
        Fault(module, imported.line, imported.target)
        for imported in imports(module, source, known, is_package)
        if not rule.allows(imported.target)
    ]


def _covers(pattern: str, module: str) -> bool:
    part = pattern.removesuffix(".*")
    return module == part or (pattern.endswith(".*") and module.startswith(f"{part}."))
