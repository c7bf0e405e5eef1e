"""Job models, by name: what a started job does. The only registration of ours.

An entry is a frozen dataclass whose fields are the model's options (``--model io:max_phases=5``). Models from outside
are named as ``FILE.py:CLASS`` or ``MODULE:CLASS``, or as an installed package registers them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spillway.base.errors import OptionError
from spillway.base.options import build
from spillway.base.plugins import split_spec
from spillway.base.registered import load, unknown
from spillway.schedulers.jobmodels.base import JobModel
from spillway.schedulers.jobmodels.checkpointed import Checkpointed
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.schedulers.jobmodels.malleable import Malleable
from spillway.schedulers.jobmodels.operations import Sequenced
from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.jobmodels.stream import Stream
from spillway.schedulers.jobmodels.time_sharing import TimeSharing
from spillway.schedulers.model.job import Job

MODELS: dict[str, type[JobModel]] = {
    "rigid": Rigid,
    "stream": Stream,
    "io": IoAware,
    "operations": Sequenced,
    "malleable": Malleable,
    "timeshared": TimeSharing,
    "checkpointed": Checkpointed,
}
"""Every job model by its name on the command line."""


def model_class(name: str) -> type[JobModel]:
    """The class of a job model by its name.

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
    head = name.partition(":")[0]
    if head in MODELS and head != name:
        raise OptionError(f"job model {name!r}: options are given as {head}:key=value,...")
    found = load(name, "job model", MODELS, ("program",))
    if found is not None:
        if not issubclass(found, JobModel):
            raise OptionError(
                f"job model {name!r}: the class must derive from spillway.schedulers.jobmodels.base.JobModel"
            )
        return found
    if name not in MODELS:
        raise unknown(name, "job model", MODELS)
    return MODELS[name]


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


def parse_model(text: str, *, literal: bool = False) -> JobModel:
    """Make a job model from ``NAME[:key=value,...]``."""
    name, options = split_spec(text)
    return make_model(name, options, literal=literal)


def unplayable(model: JobModel, refuses: Callable[[Job], str | None]) -> Callable[[Job], str | None]:
    """Give the reason why a model cannot play a job: it is described for another model, or ``refuses`` has one."""
    mine = {*model.fields, *model.job_fields}
    anywhere = {field: name for name, cls in MODELS.items() for field in cls.fields if field not in mine}
    beside = anywhere | {field: name for name, cls in MODELS.items() for field in cls.job_fields if field not in mine}

    def reason(job: Job) -> str | None:
        found = (anywhere.keys() & job.profile.keys()) | (beside.keys() & job.extras.keys())
        if found:
            field = min(found)
            return f"its field {field!r} is played by --model {beside[field]}, not by {name_of(model)}"
        return refuses(job)

    return reason


def name_of(model: JobModel) -> str:
    """Name of a model in :data:`MODELS`, or of its class."""
    return next((name for name, cls in MODELS.items() if cls is type(model)), type(model).__name__)
