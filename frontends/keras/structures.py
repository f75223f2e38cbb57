"""Call arguments in configurations: structures with references to tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects.nn.host_types import string
from ...ir.types import Type
from ..common.elements import ELEMENTS

TYPES: Mapping[str, Type] = {**ELEMENTS, "string": string}
MOST_OUTPUTS = 1 << 12
"""The most outputs of a layer, and the most calls of one."""


@dataclass(frozen=True)
class Reference:
    """Stands for a tensor in the arguments of a call: output `output` of call `call` of a layer."""

    layer: str
    call: int
    output: int


def decoded(value: Any, table: Mapping[str, Any]) -> Any:
    """A decoded part of a configuration: references to tensors, tuples, slices, arrays, .."""
    match value:
        case {"class_name": "__keras_tensor__", "config": {"keras_history": [name, call, output]}}:
            return output_of(name, call, output)
        case {"class_name": "__tuple__", "config": {"value": items}}:
            return tuple(decoded(item, table) for item in items)
        case {"class_name": "__slice__", "config": config}:
            return slice(*(decoded(config.get(k), table) for k in ("start", "stop", "step")))
        case {"class_name": "__ellipsis__"}:
            return Ellipsis
        case {"class_name": "__numpy__" | "__tensor__", "config": config}:
            with np.errstate(over="ignore"):
                return np.asarray(config["value"], config["dtype"])
        case {"start": start, "stop": stop, "step": step} if len(value) == 3:
            return slice(*(decoded(part, table) for part in (start, stop, step)))
        case {"class_name": _, "config": {"name": str(name)}} if name in TYPES:
            return name
        case dict():
            return {key: decoded(item, table) for key, item in value.items()}
        case [str(name), int(call), int(output)] if name in table:
            return output_of(name, call, output)
        case list():
            return [decoded(item, table) for item in value]
    return value


def output_of(name: Any, call: Any, output: Any) -> Reference:
    """A reference to a call's output. Raises ValueError for impossible numbers."""
    if not (0 <= int(call) <= MOST_OUTPUTS and 0 <= int(output) <= MOST_OUTPUTS):
        raise ValueError(f"output {output} of call {call} of layer '{name}'")
    return Reference(str(name), int(call), int(output))


def mapped(value: Any, function: Any) -> Any:
    """A structure with a function applied to its leaves."""
    match value:
        case list() | tuple():
            return type(value)(function(item) for item in value)
        case dict():
            return {key: function(item) for key, item in value.items()}
        case slice():
            return slice(*(function(part) for part in (value.start, value.stop, value.step)))
    return value


def flat(value: Any) -> list[Any]:
    """The leaves of a structure."""
    match value:
        case list() | tuple():
            return [leaf for item in value for leaf in flat(item)]
        case dict():
            return [leaf for item in value.values() for leaf in flat(item)]
        case slice():
            return [leaf for p in (value.start, value.stop, value.step) for leaf in flat(p)]
    return [value]


def sorted_leaves(value: Any) -> list[Any]:
    """The leaves of a structure in the order in which Keras counts them: by sorted names."""
    match value:
        case list() | tuple():
            return [leaf for item in value for leaf in sorted_leaves(item)]
        case dict():
            return [leaf for key in sorted(value) for leaf in sorted_leaves(value[key])]
    return [value]


def in_order(given: Any, heads: Any) -> list[Any]:
    """The leaves of a model's argument in the order of its inputs, `heads` of the configuration.

    Tensors that are given by name go to the inputs of these names.
    """
    if not isinstance(given, dict):
        return flat(given)
    if isinstance(heads, dict):
        names = list(heads)
    else:
        listed = [heads] if heads and isinstance(heads[0], str) else heads or []
        names = [str(head[0]) for head in listed]
    if not set(names) <= set(given):
        raise ValueError(f"a model with the inputs {names} is called with {sorted(given)}")
    return flat([given[name] for name in names])
