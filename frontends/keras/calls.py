"""The calls of a model's layers: their arguments, and their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .structures import Reference, decoded, flat, mapped, output_of

Key = tuple[str, int]
"""(the name of a layer, the number of its call)."""


def calls_of(
    kind: str, layer: Mapping[str, Any], table: Mapping[str, Any]
) -> list[tuple[list, dict]]:
    """The calls of a layer with this configuration, as positional and named arguments."""
    found = []
    if kind == "InputLayer":
        return found
    for node in layer.get("inbound_nodes") or ():
        if isinstance(node, dict) and "args" in node:
            found.append((decoded(node["args"], table), decoded(node["kwargs"], table)))
            continue
        if isinstance(node, dict):  # Keras 2: a model that is called with tensors by name
            named = {key: output_of(*entry[:3]) for key, entry in node.items()}
            found.append(([named], decoded(next(iter(node.values()))[3], table)))
            continue
        # Keras 2: [[layer, call, output, kwargs], ..], or one of these for an operation.
        entries = [node] if node and isinstance(node[0], str) else node
        tensors: list[Any] = []
        kwargs: dict[str, Any] = {}
        for entry in entries:
            name, call, output, *more = entry
            constant = name == "_CONSTANT_VALUE"
            tensors.append(output if constant else output_of(name, call, output))
            kwargs |= decoded(more[0], table) if more else {}
        found.append(([tensors[0] if len(tensors) == 1 else tensors], kwargs))
    return found


def counted_from_zero(
    pending: Mapping[str, list], tails: list[Reference], table: Mapping[str, Any]
) -> list[Reference]:
    """`tails` with the calls of layers counted from 0; in `pending`, they are changed in place.

    Keras 2 counts calls of models from 1, and so do the outputs in Keras 3, as a model's own inputs
    are its first call.
    """
    least: dict[str, int] = {}
    old = any(
        not isinstance(node, dict) or "args" not in node
        for layer in table.values()
        for node in layer.whole.get("inbound_nodes") or ()
    )
    if not old:
        return [
            Reference(t.layer, t.call - ("input_layers" in table[t.layer].config), t.output)
            for t in tails
        ]
    references = [r for calls in pending.values() for r in flat(calls)] + tails
    for reference in references:
        if isinstance(reference, Reference):
            most = least.get(reference.layer, reference.call)
            least[reference.layer] = min(most, reference.call)

    def shifted(value: Any) -> Any:
        if isinstance(value, Reference):
            return Reference(value.layer, value.call - least[value.layer], value.output)
        return mapped(value, shifted)

    for name, calls in pending.items():
        calls[:] = [shifted(call) for call in calls]
        if table[name].kind == "InputLayer":
            calls.clear()
    return [shifted(tail) for tail in tails]


def outputs_wanted(pending: Mapping[str, list], tails: Sequence[Reference]) -> dict:
    """How many outputs of each call are used."""
    wanted: dict[tuple[str, int], int] = {}
    for reference in [*(r for calls in pending.values() for r in flat(calls)), *tails]:
        if isinstance(reference, Reference):
            key = reference.layer, reference.call
            wanted[key] = max(wanted.get(key, 1), reference.output + 1)
    return wanted


def resolved(value: Any, table: Mapping[str, Any]) -> Any:
    """A structure with its references replaced by tensors."""
    if isinstance(value, Reference):
        return table[value.layer].calls[value.call][value.output]
    return mapped(value, lambda item: resolved(item, table))


def order_of_calls(calls: Mapping[str, list], tails: Sequence[Reference]) -> list[Key]:
    """The calls that outputs need, in the order in which Keras runs them.

    The calls farthest from the outputs come first; of equally far ones, those that a walk from the
    outputs leaves last (Keras 3, `keras.src.ops.function.map_graph`). The order matters if a layer
    removes the mask of a tensor that others use. Raises LookupError with the layer's name for a
    cyclic or missing call.
    """
    walked = _walked(calls, tails)
    distances: dict[Key, int] = {}
    of_layers: dict[str, int] = {}
    for key in reversed(walked):
        distance = max(distances.setdefault(key, 0), of_layers.get(key[0], 0))
        distances[key] = of_layers[key[0]] = distance
        for needed in _needed(calls, key):
            distances[needed] = max(distance + 1, distances.get(needed, 0))
    return sorted(distances, key=lambda key: -distances[key])


def _walked(calls: Mapping[str, list], tails: Sequence[Reference]) -> list[Key]:
    """The calls that outputs need, each after those that it needs."""
    walked: dict[Key, None] = {}
    begun: set[Key] = set()
    stack = [(tail.layer, tail.call) for tail in reversed(tails)]
    while stack:
        key = stack[-1]
        missing = [one for one in _needed(calls, key) if one not in walked]
        if key in walked or not missing:
            walked[stack.pop()] = None
        elif key in begun:
            raise LookupError(key[0])
        else:
            begun.add(key)
            stack += reversed(missing)
    return list(walked)


def _needed(calls: Mapping[str, list], key: Key) -> list[Key]:
    """The calls whose outputs a call takes."""
    name, i = key
    given = calls.get(name)
    if not given and i == 0:
        return []  # an input
    if given is None or i >= len(given):
        raise LookupError(name)
    found = [r for r in flat(given[i]) if isinstance(r, Reference)]
    return list(dict.fromkeys((r.layer, r.call) for r in found))
