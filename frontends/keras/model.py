"""From the configuration of a model to a graph: models in models, shared layers, masks.

A layer may be called several times, and a call may have any structure of tensors as arguments.
Where a layer makes a mask of which steps of a sequence count, the mask is a second output of its
node and an input of those that look at it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.types import TensorType, Type, f32, i1
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from .calls import calls_of, counted_from_zero, order_of_calls, outputs_wanted, resolved
from .container import (
    Weights,
    is_operation,
    kind_of,
    name_of,
    open_container,
    unique_names,
)
from .layer import Call, Slot, element_type
from .masks import (
    GIVES_BACK,
    KEEPS_NO_MASK_IN_2,
    QUERY,
    by_name,
    first_argument,
    makes_mask,
    masks_behind,
)
from .sharing import Places
from .structures import decoded, flat, in_order, mapped, sorted_leaves

DEEPEST = 60
"""The deepest nesting of models."""
MODELS = {"Functional", "Model", "Pipeline", "Sequential"}
LOOKUPS = {"IntegerLookup", "StringLookup", "TextVectorization"}
"""Layers whose vocabulary, if it was learned, is stored in a separate file."""
MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What Python says where a configuration has another form than expected."""
WRAPPERS = {"SpectralNormalization"}
"""Wrappers that compute what their inner layer does."""

PARTS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), ("cell",)),
    **dict.fromkeys(("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), ("cell",)),
    **dict.fromkeys(
        ("MultiHeadAttention", "GroupQueryAttention"),
        ("query_dense", "key_dense", "gate_dense", "value_dense", "output_dense"),
    ),
}
"""The parts of layers that hold their weights."""


@dataclass(frozen=True)
class Tensor:
    """A value of the graph; `same_as` names an earlier tensor if Keras has one object for both."""

    name: str
    same_as: str = ""

    @property
    def identity(self) -> str:
        """The identity by which masks are attached."""
        return self.same_as or self.name


def read(source: Source) -> Graph:
    """The graph of a file. Raises NncError."""
    container = open_container(source)
    try:
        places = Places(container.config, container.weights)
    except MALFORMED as error:
        raise _broken(source, error) from None
    reader = _Reader(source, container.version, places)
    return reader.graph(container.config, container.weights)


def _broken(source: Source, error: Exception) -> NncError:
    return source.error(f"broken configuration: {type(error).__name__}: {error}")


@dataclass
class _Layer:
    """A layer of a model that is being read: its configuration and the results of its calls."""

    kind: str
    name: str
    config: Mapping[str, Any]
    whole: Mapping[str, Any]
    weights: Weights
    label: str
    """The layer's name, preceded by those of the enclosing models."""
    calls: dict[int, Sequence[Tensor]] = field(default_factory=dict)
    names: list[str] | None = None
    """The names of the weights in the graph, once they are read."""


class _Reader:
    """Collects nodes."""

    def __init__(self, source: Source, version: str, places: Places) -> None:
        self.source = source
        self.places = places
        self.version = version
        self.masks: dict[str, str] = {}
        """For each tensor with a mask: the mask's value."""
        self.nodes: list[Node] = []
        self.inputs: list[Input] = []
        self.constants: dict[str, np.ndarray] = {}
        self._names: set[str] = set()
        self._depth = 0
        self._is_old = version.startswith(("1.", "2."))

    def graph(self, config: Mapping[str, Any], weights: Weights) -> Graph:
        """The graph of the outermost model."""
        try:
            model = self._layer(config, weights, "")
            model.label = ""
            if not _is_model(model):
                raise self.source.error(
                    f"the model is of class '{model.kind}', whose code is not in the file; "
                    "only sequential and functional models can be read"
                )
            outputs, names = self._model(model, None)
        except MALFORMED as error:
            raise _broken(self.source, error) from None
        named: list[tuple[str, str]] = []
        for name, output in zip(names, outputs, strict=True):
            taken = {one for one, _ in named}
            count = sum(one == name or one.startswith(name + "_") for one in taken)
            named.append((name if name not in taken else f"{name}_{count}", output.name))
        return Graph(self.inputs, self.nodes, named, self.constants, producer=self.version)

    def _error(self, layer: _Layer, text: str) -> NncError:
        return self.source.error(f"layer '{layer.label or layer.name}' ({layer.kind}): {text}")

    def _layer(self, whole: Mapping[str, Any], weights: Weights, around: str) -> _Layer:
        kind, config = kind_of(whole), whole["config"]
        if isinstance(config, list):  # Sequential of Keras 2.0
            config = {"name": "sequential", "layers": config}
        if is_operation(whole):
            kind = f"ops.{kind}"
        if kind in ("TFOpLambda", "SlicingOpLambda"):
            kind = f"tf.{config['function']}"
        name = name_of(whole)
        if kind in LOOKUPS and isinstance(config, dict) and config.get("vocabulary") is None:
            text = weights.text("vocabulary.txt")
            config = {**config, "vocabulary": None if text is None else _words(kind, text)}
        return _Layer(kind, name, config, whole, weights, f"{around}/{name}" if around else name)

    # -- models -----------------------------------------------------------------------------------

    def _model(
        self, model: _Layer, given: Sequence[Tensor] | None
    ) -> tuple[list[Tensor], list[str]]:
        """The outputs of a model, and their names; of the outermost model if nothing is given."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.source.error("models are nested too deeply")
        layers = self._layers(model)
        if "input_layers" in model.config:
            found = self._functional(model, layers, given)
        else:
            found = self._sequential(model, layers, given)
        self._depth -= 1
        return found

    def _layers(self, model: _Layer) -> list[_Layer]:
        listed = model.config["layers"]
        weights = self.places.of_layers(listed, model.weights)
        pairs = zip(listed, weights, strict=True)
        return [self._layer(one, own, model.label) for one, own in pairs]

    def _sequential(
        self, model: _Layer, layers: list[_Layer], given: Sequence[Tensor] | None
    ) -> tuple[list[Tensor], list[str]]:
        layers = list(layers)
        first = layers.pop(0) if layers and layers[0].kind == "InputLayer" else None
        if given is not None:
            current = list(given)
        elif first is not None:
            current = [self._input(first, first.name)]
        else:
            current = [self._first_input(model, layers)]
        for layer in layers:
            argument: Any = current[0] if len(current) == 1 else current
            current = self._call(layer, [argument], {}, 1)
        return current, [layers[-1].name if layers else model.name] * len(current)

    def _first_input(self, model: _Layer, layers: list[_Layer]) -> Tensor:
        """The input of a sequential model without an input layer."""
        first = layers[0] if layers else model
        shape = first.config.get("batch_input_shape") or model.config.get("build_input_shape")
        shape = shape or (model.whole.get("build_config") or {}).get("input_shape")
        if shape is None and _is_model(first) and "layers" in first.config:
            inner = self._layers(first)
            if inner and inner[0].kind == "InputLayer":
                return self._input(inner[0], f"{first.name}_input")
        if shape is None:
            raise self._error(model, "the shape of the input is not in the file: it was not built")
        config = {"batch_shape": shape, "dtype": first.config.get("dtype")}
        if first.kind == "Embedding":
            config["dtype"] = "int32" if model.whole.get("module") is None else "float32"
        input = _Layer("InputLayer", f"{first.name}_input", config, {}, first.weights, first.label)
        return self._input(input, input.name)

    def _input(self, layer: _Layer, name: str) -> Tensor:
        """A new input of the graph."""
        config = layer.config
        shape = config.get("batch_shape") or config.get("batch_input_shape")
        if shape is None:
            raise self._error(layer, "it has no shape")
        extents = tuple(None if d is None else int(d) for d in shape)
        if any(d is not None and d < 0 for d in extents):
            raise self._error(layer, f"the shape {list(shape)} has a negative extent")
        type = TensorType(extents, _element(config.get("dtype"), self.source))
        self.inputs.append(Input(name, type, _dims(name, extents)))
        return Tensor(name)

    def _functional(
        self, model: _Layer, layers: list[_Layer], given: Sequence[Tensor] | None
    ) -> tuple[list[Tensor], list[str]]:
        table = {layer.name: layer for layer in layers}
        heads = flat(decoded(model.config["input_layers"], table))
        ends = decoded(model.config["output_layers"], table)
        tails = flat(ends) if given is None else sorted_leaves(ends)
        if given is not None and len(given) != len(heads):
            raise self._error(model, f"it is called with {len(given)} tensors, not {len(heads)}")
        for i, head in enumerate(heads):
            layer = table[head.layer]
            if layer.kind != "InputLayer":
                raise self._error(layer, "an input of a model must be an InputLayer")
            layer.calls = {0: [self._input(layer, layer.name) if given is None else given[i]]}
        pending = {layer.name: calls_of(layer.kind, layer.whole, table) for layer in layers}
        tails = counted_from_zero(pending, tails, table)
        wanted = outputs_wanted(pending, tails)
        try:
            order = order_of_calls(pending, tails)
        except LookupError as stuck:
            raise self._error(table[stuck.args[0]], "its inputs are never computed") from None
        for name, i in order:
            if table[name].kind == "InputLayer":
                continue
            args, kwargs = (resolved(part, table) for part in pending[name][i])
            count = wanted.get((name, i), 1)
            table[name].calls[i] = self._call(table[name], args, kwargs, count)
        named = isinstance(ends, dict) and len(ends) == len(tails)
        names = list(ends) if named else [tail.layer for tail in tails]
        return [resolved(tail, table) for tail in tails], names

    # -- calls ------------------------------------------------------------------------------------

    def _call(self, layer: _Layer, args: list[Any], kwargs: Mapping[str, Any], count: int) -> list:
        """The outputs of a call of a layer, of which `count` are used."""
        tensors = [t for t in flat([args, kwargs]) if isinstance(t, Tensor)]
        if _is_model(layer):
            first = in_order(first_argument(args, kwargs), layer.config.get("input_layers"))
            given = [t for t in first if isinstance(t, Tensor)]
            for tensor, mask in zip(given, flat(kwargs.get("mask")), strict=False):
                if isinstance(mask, Tensor):
                    self.masks[tensor.identity] = mask.name
            return self._model(layer, given)[0]
        if layer.kind in WRAPPERS:
            inner = self._layer(layer.config["layer"], layer.weights.inside("layer"), "")
            inner.label = layer.label
            return self._call(inner, args, kwargs, count)
        if not self._is_old:
            args, kwargs = by_name(layer.kind, args, kwargs)
        names = list(dict.fromkeys(t.name for t in tensors))
        slots = {name: Slot(i) for i, name in enumerate(names)}
        masks = {t.name: self.masks[t.identity] for t in tensors if t.identity in self.masks}
        for mask in masks.values():
            slots.setdefault(mask, Slot(len(slots)))
        if layer.names is None:
            layer.names = self._weights(layer)
        weights = [Slot(len(slots) + i) for i in range(len(layer.names))]
        call = Call(
            layer.config,
            *_slotted((args, dict(kwargs)), slots),
            masks={slots[name]: slots[mask] for name, mask in masks.items()},
            weights=weights,
        )
        name = self._unique(layer.label)
        outputs = [name, *(self._unique(f"{name}:{i}") for i in range(1, count))]
        found = self._tensors(layer, outputs, args, kwargs)
        graphs = self._inside(layer, bool(masks) or isinstance(kwargs.get("mask"), Tensor))
        inputs = [*slots, *layer.names]
        self.nodes.append(Node(layer.kind, name, inputs, outputs, call, graphs))
        return found

    def _tensors(
        self, layer: _Layer, outputs: list[str], args: list[Any], kwargs: Mapping[str, Any]
    ) -> list[Tensor]:
        """The result tensors of a call, with their masks; a new mask is a further output."""
        first = flat(first_argument(args, kwargs))
        first = [t for t in first if isinstance(t, Tensor)]
        found = [Tensor(output) for output in outputs]
        forgets = self._is_old and layer.kind in KEEPS_NO_MASK_IN_2
        if layer.kind in GIVES_BACK and first and not forgets:
            found[0] = Tensor(outputs[0], first[0].identity)
        given = kwargs.get("mask")
        masks = [self.masks.get(t.identity) for t in first]
        if isinstance(given, Tensor):
            masks = [given.name]
        elif isinstance(given, list | tuple):
            masks = [m.name if isinstance(m, Tensor) else None for m in given]
        if self._clears_masks(layer):
            for name, tensor in zip((*QUERY, *kwargs), (*args[:3], *kwargs.values()), strict=False):
                if isinstance(tensor, Tensor) and name in QUERY:
                    self.masks.pop(tensor.identity, None)
        if makes_mask(layer.kind, layer.config, masks, self._is_old):
            outputs.append(self._unique(f"{outputs[0]}:mask"))
            self.masks[outputs[0]] = outputs[-1]
            return found
        kept = masks_behind(layer.kind, layer.config, masks, self._is_old)
        for tensor, mask in zip(found, kept, strict=False):
            if mask is not None:
                self.masks[tensor.identity] = mask
        return found

    def _clears_masks(self, layer: _Layer) -> bool:
        """Whether a layer removes the masks of its input tensors."""
        return layer.kind == "MultiHeadAttention" and not self._is_old

    def _inside(self, layer: _Layer, masked: bool) -> Mapping[str, Graph]:
        """The graph of what a layer does at each step of a sequence; with a mask if `masked`."""
        if layer.kind != "TimeDistributed":
            return {}
        inner = _Reader(self.source, self.version, self.places)
        inner.constants, inner._names, inner._depth = self.constants, self._names, self._depth
        given = Tensor(self._unique(f"{layer.label}:step"))
        inputs = [Input(given.name, TensorType((), f32))]
        if masked:
            inner.masks[given.identity] = self._unique(f"{given.name}:mask")
            inputs.append(Input(inner.masks[given.identity], TensorType((), i1)))
        one = self._layer(layer.config["layer"], layer.weights.inside("layer"), layer.label)
        (output, *_) = inner._call(one, [given], {}, 1)
        return {"layer": Graph(inputs, inner.nodes, [("output", output.name)])}

    def _weights(self, layer: _Layer) -> list[str]:
        """The names of a layer's weights, which are added as constants of the graph."""
        names = []
        found = _arrays(layer, layer.weights)
        if not found:
            others = (_arrays(layer, one) for one in self.places.of_the_same(layer.whole))
            stored = list(filter(None, others))
            if len(stored) > 1:
                raise self._error(layer, "the file does not say with which layer it shares weights")
            found = stored[0] if stored else []
        for i, array in enumerate(found):
            name = self._unique(f"{layer.label}/{i}")
            self.constants[name] = array
            names.append(name)
        return names

    def _unique(self, name: str) -> str:
        count, found = 0, name
        while found in self._names:
            count += 1
            found = f"{name}:{count}"
        self._names.add(found)
        return found


def _arrays(layer: _Layer, weights: Weights) -> list[np.ndarray]:
    """The weights of a layer at a place, in the order of Keras 2, which has no nested parts."""
    if layer.kind == "TimeDistributed":
        return []
    paths = list(PARTS.get(layer.kind, ()))
    if layer.kind == "RNN":
        paths = _cell_paths(layer.config)
    elif layer.kind == "Bidirectional":
        for side in ("layer", "backward_layer"):
            one = layer.config.get(side) or layer.config["layer"]
            inner = _cell_paths(one["config"])
            paths += [f"{'forward_' * (side == 'layer')}{side}/{path}" for path in inner]
    whole = weights.arrays()
    if whole or not paths:
        return whole
    return [a for path in paths for a in weights.inside(*path.split("/")).arrays()]


def _cell_paths(config: Mapping[str, Any]) -> list[str]:
    """The paths of the weights of a recurrent layer's cells."""
    cells = ((config.get("cell") or {}).get("config") or {}).get("cells")
    if not cells:
        return ["cell"]
    return [f"cell/cells/{name}" for name in unique_names(cells)]


def _words(kind: str, text: str) -> list[Any]:
    """The lines of a vocabulary; empty ones at the end are dropped."""
    lines = text.rstrip("\n").splitlines()
    return [int(line) for line in lines] if kind == "IntegerLookup" else lines


def _is_model(layer: _Layer) -> bool:
    return layer.kind in MODELS or (
        isinstance(layer.config, dict) and {"layers", "input_layers"} <= set(layer.config)
    )


def _slotted(value: Any, slots: Mapping[str, Slot]) -> Any:
    if isinstance(value, Tensor):
        return slots[value.name]
    return mapped(value, lambda item: _slotted(item, slots))


def _element(dtype: Any, source: Source) -> Type:
    if isinstance(dtype, dict):
        dtype = (dtype.get("config") or {}).get("name")
    found = element_type(dtype)
    if found is None:
        raise source.error(f"an input has elements of type '{dtype}', which is not supported")
    return found


def _dims(name: str, extents: Sequence[int | None]) -> list[str]:
    """Names for unknown dimensions; the first one is the batch."""
    return [
        "" if d is not None else "batch" if i == 0 else f"{name}_{i}" for i, d in enumerate(extents)
    ]
