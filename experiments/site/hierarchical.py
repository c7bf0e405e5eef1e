"""Hierarchical resources (HRES) from ``resources.yaml``.

References
----------
SchedMD, *Hierarchical Resource (HRES) Scheduling*; manual page *resources.yaml(5)*.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from spillway.base.errors import InputError
from spillway.base.hostlist import expanded
from spillway.experiments.site.pieces import Pieces
from spillway.schedulers.model.site_parts import Layer, Resource

_NAMELESS = '"<unicode string>"'
"""PyYAML's name of a text."""
_Amount = Annotated[int, msgspec.Meta(ge=0)]


class _Value(msgspec.Struct):
    name: str
    value: _Amount | None = None
    count: _Amount | None = None

    def amount(self) -> int:
        return self.value if self.value is not None else self.count or 0


class _Layer(msgspec.Struct):
    layer_name: str = ""
    nodes: list[str | int] | str | None = None
    count: Annotated[int, msgspec.Meta(ge=-1)] = 0
    parent_name: str | None = None
    base: list[_Value] | None = None
    disable_layer: bool = False

    def made(self, place: int, where: str) -> Layer:
        nodes = self.nodes if isinstance(self.nodes, str) else ",".join(map(str, self.nodes or ()))
        try:
            expanded(nodes)
        except ValueError as error:
            raise InputError(f"{where}.layers[{place}].nodes: {error}") from None
        count, base = 0 if self.disable_layer else self.count, sum(value.amount() for value in self.base or ())
        return Layer(self.layer_name or f"layer{place}", nodes, count, self.parent_name or "", base)


class _Resource(msgspec.Struct):
    resource: str
    mode: Literal["MODE_1", "MODE_2", "MODE_3"]
    layers: list[_Layer]
    variables: list[_Value] | None = None
    disable_hres: bool = False
    topology: Any = None


def read_resources(text: str, name: str, pieces: Pieces) -> None:
    """``resources.yaml``.

    Raises
    ------
    InputError
        PyYAML is missing, or the text is malformed; names the line, or the place in the lists.
    """
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            f"{name}: YAML needs PyYAML, which the extra 'yaml' installs: pip install 'spillway[yaml]'; or give the "
            "output of 'scontrol show lic -o', which has the same layers"
        ) from None
    try:  # not by libyaml, which a deep text makes overflow the stack
        found = msgspec.convert(yaml.load(text, yaml.SafeLoader), list[_Resource])
    except (yaml.YAMLError, msgspec.ValidationError, RecursionError, ValueError) as error:
        raise InputError(f"{name}: {' '.join(str(error).replace(_NAMELESS, 'the file').split())}") from None
    for number, resource in enumerate(found):
        if resource.disable_hres:
            pieces.notes.append(f"resource {resource.resource}: it is disabled at the site, and kept here")
        if resource.topology:
            pieces.notes.append(f"resource {resource.resource}: its block topology is not kept")
        layers = tuple(layer.made(place, f"{name}: $[{number}]") for place, layer in enumerate(resource.layers))
        variables = {value.name: value.amount() for value in resource.variables or ()}
        pieces.resources.append(Resource(resource.resource, int(resource.mode[-1]), layers, variables))
