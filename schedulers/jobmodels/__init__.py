"""Job models, by name: the programs of started jobs. The only registration of our models.

An entry is a frozen dataclass with the model's options as fields (``--model io:max_phases=5``). Models from outside are
named as ``FILE.py:CLASS`` or ``MODULE:CLASS``, or as an installed package registers them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spillway.base.entry_points import find
from spillway.base.errors import OptionError
from spillway.base.options import build
from spillway.schedulers.jobmodels.base import JobModel
from spillway.schedulers.jobmodels.checkpoints import CheckpointModel
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.schedulers.jobmodels.malleable import Malleable
from spillway.schedulers.jobmodels.operations import OperationSequence
from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.jobmodels.stream import Stream
from spillway.schedulers.jobmodels.time_sharing import TimeSharing
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.rules import Rules, Trait

MODELS: dict[str, type[JobModel]] = {
    "rigid": Rigid,
    "stream": Stream,
    "io": IoAware,
    "operations": OperationSequence,
    "malleable": Malleable,
    "timeshared": TimeSharing,
    "checkpointed": CheckpointModel,
}
"""Every job model by its name on the command line."""


def model_class(name: str) -> type[JobModel]:
    """Return the class of a job model by its name.

    Parameters
    ----------
    name
        A name of :data:`MODELS`, one that an installed package registers in the group ``spillway.models``,
        ``FILE.py:CLASS``, ``MODULE:CLASS``, or ``FILE.py`` where the file has just one job model.

    Raises
    ------
    OptionError
        The name is unknown (lists those that are known), or its class cannot be loaded.
    """
    found = find(name, "job model", MODELS, ("program",))
    if not issubclass(found, JobModel):
        raise OptionError(f"job model {name!r}: the class must derive from spillway.schedulers.jobmodels.base.JobModel")
    return found


def make_model(name: str, options: Mapping[str, Any] | None = None, *, literal: bool = False) -> JobModel:
    """Make a job model.

    Parameters
    ----------
    name
        See :func:`model_class`.
    options
        Texts or values by name.
    literal
        Follow the published experiment to the letter where nothing else is given.

    Raises
    ------
    OptionError
        An unknown name, or a wrong option (names the model).
    """
    if options and not name:
        raise OptionError(f"options of a job model without its name: {', '.join(sorted(options))}")
    cls = model_class(name)
    try:
        model: JobModel = build(cls, options or {}, cls.literal if literal else None)
    except OptionError as error:
        raise OptionError(f"job model {name!r}: {error}") from None
    return model


def unplayable(model: JobModel, refuses: Callable[[Job], str | None]) -> Callable[[Job], str | None]:
    """Give the reason why a model cannot play a job: it is described for another model, or ``refuses`` has one."""
    mine = {*model.fields, *model.job_fields}
    anywhere = {field: name for name, cls in MODELS.items() for field in cls.fields if field not in mine}
    beside = anywhere | {field: name for name, cls in MODELS.items() for field in cls.job_fields if field not in mine}

    everywhere, of_jobs = frozenset(anywhere), frozenset(beside)

    def reason(job: Job) -> str | None:
        profile, extras = job.profile, job.extras
        if not (everywhere.isdisjoint(profile) and of_jobs.isdisjoint(extras)):
            field = min(everywhere.intersection(profile) | of_jobs.intersection(extras))
            return f"its field {field!r} is played by --model {beside[field]}, not by {name_of(model)}"
        return refuses(job)

    return reason


def rules_of(model: JobModel) -> Rules:
    """Rules of a model: those that it states, and a lack of each trait of :data:`_STATED` that its class misses."""
    lacking: dict[Trait, tuple[str, str]] = {
        trait: ("", why.format(", ".join(name for name, cls in MODELS.items() if does(cls))))
        for trait, (does, why) in _STATED.items()
        if not does(type(model))
    }
    if type(model).lives is not JobModel.lives:
        lacking[Trait.APART] = (", which states lives of its own,", "there can be only one")
    stated = model.rules()
    return Rules(stated.needs, {**lacking, **stated.lacks})


_STATED: Mapping[Trait, tuple[Callable[[type[JobModel]], bool], str]] = {
    Trait.TURNS: (lambda cls: cls.shares_nodes, "jobs that share nodes in time are played by --model {} only"),
    Trait.SHRINKING: (lambda cls: cls.shrinks, "only applications of --model {} can continue on fewer nodes"),
    Trait.CHECKPOINTS: (lambda cls: cls.restarts, "its jobs write no checkpoints; models with checkpoints: {}"),
    Trait.CUT: (lambda cls: cls.cut, "the work of its jobs cannot be cut; models with jobs that can be suspended: {}"),
    Trait.GATE: (lambda cls: cls.needs.gate, "its jobs make no transfers that take turns; models that do: {}"),
}
"""By trait: whether a class of models has it, and the reason for a refusal if not; the braces get models that do."""


def name_of(model: JobModel) -> str:
    """Name of a model in :data:`MODELS`, or of its class."""
    return next((name for name, cls in MODELS.items() if cls is type(model)), type(model).__name__)
