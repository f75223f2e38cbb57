"""How the inputs and outputs of a loop or a branch belong to those of its bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

_MAPS = {"body": "port_map", "then_body": "then_port_map", "else_body": "else_port_map"}


@dataclass(frozen=True)
class Port:
    """An operand or result of a layer, by its index, and the layer inside of the body.

    With an axis, iterations take or make parts of it, `part` elements each, from `start` to `end`,
    which count from behind if they are negative; a negative stride goes backward.
    """

    outer: int
    inner: str
    axis: int | None = None
    start: int = 0
    end: int = -1
    stride: int = 1
    part: int = 1


@dataclass(frozen=True)
class Ports:
    """The inputs and outputs of a body.

    `number` is the input that gets the number of the iteration, `going` the output that says
    whether to go on, and `back` has the output that each input gets in the next iteration.
    """

    inputs: Sequence[Port]
    outputs: Sequence[Port]
    back: Mapping[str, str] = field(default_factory=dict)
    number: str | None = None
    going: str | None = None

    @classmethod
    def of(cls, layer: Element, body: str, inputs: Sequence[str], outputs: Sequence[str]) -> Ports:
        """The ports that a layer's XML tells; `inputs` and `outputs` are the ids of its ports."""
        inner: dict[str, list[Port]] = {"input": [], "output": []}
        special = {}
        for one in layer.findall(f"{_MAPS[body]}/*"):
            purpose = one.get("purpose", "")
            if purpose:
                special[purpose] = one.attrib["internal_layer_id"]
            place = one.attrib["external_port_id"]
            if place != "-1":
                ids = inputs if one.tag == "input" else outputs
                inner[one.tag].append(_port(one, ids.index(place)))
        edges = layer.findall("back_edges/edge") if body == "body" else ()
        return cls(
            inner["input"],
            inner["output"],
            {one.attrib["to-layer"]: one.attrib["from-layer"] for one in edges},
            special.get("current_iteration"),
            special.get("execution_condition"),
        )


def _port(one: Element, outer: int) -> Port:
    inner, axis = one.attrib["internal_layer_id"], one.get("axis")
    if axis is None:
        return Port(outer, inner)
    numbers = (
        int(one.get(key, default))
        for key, default in (("start", "0"), ("end", "-1"), ("stride", "1"), ("part_size", "1"))
    )
    return Port(outer, inner, int(axis), *numbers)
