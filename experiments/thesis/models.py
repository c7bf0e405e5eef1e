"""The thesis's two job models, as its tables and figures name them."""

from __future__ import annotations

import enum

from experiments.spec import ModelSpec


class Model(enum.Enum):
    """How a job uses the machine: ``alloc`` computes and only holds its burst buffer, ``io`` also stages and drains."""

    ALLOC = "alloc"
    IO = "io"

    @property
    def spec(self) -> ModelSpec:
        """The job model of ours that it is."""
        return ModelSpec(name=_NAMES[self])

    @classmethod
    def of(cls, label: str) -> Model:
        """The thesis's model by our label (``rigid``, ``io``)."""
        return next(model for model, name in _NAMES.items() if name == label)


_NAMES = {Model.ALLOC: "rigid", Model.IO: "io"}
