"""ONNX files: valid ones, and ones with bytes, attributes, shapes, names or types changed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from .cases import REFERENCE, Case
from .mutate import flip_bytes

INTEGERS = (0, 1, -1, 2, 3, 7, -2, 100, 2**31, 2**62, 2**63 - 1, -(2**63), 10**10)
FLOATS = (0.0, -1.0, 1e38, float("inf"), float("nan"), 1e-45)
COMPILED = {"broken": 0.02, "valid": 0.06}
"""The shares of models that are compiled, which takes 20 times as long as importing or
interpreting.
"""

WORDS = ("", "x", "é", "SAME_UPPER", "reflect", "a->b", "...", "linear", "reverse", "a" * 5000)


def model_case(choice: random.Random) -> Case:
    """`nnc import` or `nnc compile` of a changed model."""
    from .seeds import models, node_cases

    given = node_cases() if choice.random() < 0.7 else models()
    data = choice.choice(given)
    if choice.random() < 0.35:
        data = flip_bytes(choice, data, choice.choice((1, 1, 2, 5, 20)))
    else:
        data = _changed(choice, data)
    if choice.random() < COMPILED["broken"]:
        arguments = ("compile", "-q", "%s", "-o", choice.choice(("out.mlir", "out.ll")))
    else:
        arguments = ("import", "-q", "%s", "-o", "out.mlir")
    if choice.random() < 0.1:
        shape = choice.choice(("x=1,2", "x=0,3", "x=-1", "x=", "y=1", "x=99999999999,3", "x=a"))
        arguments = (*arguments, f"--shape={shape}")
    return Case("nnc", arguments, data, suffix=".onnx")


def graph_case(choice: random.Random) -> Case:
    """A valid model, compiled or interpreted, to compare with ONNX's reference."""
    from .recipes import valid_graph

    how = "compiled" if choice.random() < COMPILED["valid"] else "interpreted"
    return Case(REFERENCE, (how,), valid_graph(choice).SerializeToString(), suffix=".onnx")


def _changed(choice: random.Random, data: bytes) -> bytes:
    import onnx

    model = onnx.ModelProto.FromString(data)
    for _ in range(choice.choice((1, 1, 2, 3))):
        nodes = list(_nodes(model.graph))
        if not nodes:
            break
        choice.choice(CHANGES)(choice, model, choice.choice(nodes))
    return model.SerializeToString()


def _nodes(graph: Any) -> Iterator[Any]:
    """The nodes of a graph and of those inside it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def _one_attribute(choice: random.Random, model: Any, node: Any) -> None:
    if node.attribute:
        _change_attribute(choice, choice.choice(node.attribute))


def _new_attribute(choice: random.Random, model: Any, node: Any) -> None:
    attribute = node.attribute.add()
    attribute.name = choice.choice(("axis", "axes", "to", "perm", "pads", "value", "mode"))
    attribute.type = choice.randrange(15)
    _change_attribute(choice, attribute)


def _operator(choice: random.Random, model: Any, node: Any) -> None:
    node.op_type = choice.choice(_operators())


def _operands(choice: random.Random, model: Any, node: Any) -> None:
    if node.input and choice.random() < 0.3:
        del node.input[choice.randrange(len(node.input))]
    elif node.input and choice.random() < 0.7:
        inputs = [value.name for value in model.graph.input]
        names = ["", "x", "nothing", *node.output, *inputs, *inputs]
        node.input[choice.randrange(len(node.input))] = choice.choice(names)
    else:
        node.input.append(choice.choice(["", "x", *node.input]))


def _signature(choice: random.Random, model: Any, node: Any) -> None:
    values = [*model.graph.input, *model.graph.input, *model.graph.output]
    if choice.random() < 0.1:
        values[-1].name = choice.choice(("x", "", "é", "nothing"))
    elif values:
        _change_shape(choice, choice.choice(values))


def _opset(choice: random.Random, model: Any, node: Any) -> None:
    if model.opset_import:
        versions = (0, 1, 2, 5, 6, 7, 9, 11, 13, 16, 18, 21, 23, 99, -1)
        choice.choice(model.opset_import).version = choice.choice(versions)


def _weight(choice: random.Random, model: Any, node: Any) -> None:
    if not model.graph.initializer:
        _frozen_input(choice, model, node)
        return
    tensor = choice.choice(model.graph.initializer)
    match choice.randrange(4):
        case 0:
            tensor.data_type = choice.randrange(26)
        case 1:
            tensor.dims.append(choice.choice(INTEGERS))
        case 2 if tensor.dims:
            tensor.dims[choice.randrange(len(tensor.dims))] = choice.choice(INTEGERS)
        case _:
            tensor.raw_data = flip_bytes(choice, tensor.raw_data or b"12345678", 2)


def _frozen_input(choice: random.Random, model: Any, node: Any) -> None:
    """Replace an input by a constant: extreme axes, sizes and counts."""
    if not model.graph.input:
        return
    at = choice.randrange(len(model.graph.input))
    value = model.graph.input[at]
    kind = value.type.tensor_type.elem_type
    tensor = model.graph.initializer.add()
    tensor.name, tensor.data_type = value.name, kind
    shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    count = math.prod(shape)
    if not 0 < count <= 64:
        tensor.dims.append(0)
    elif kind == 7:
        tensor.dims.extend(shape)
        tensor.int64_data.extend(choice.choice(INTEGERS) for _ in range(count))
    elif kind == 1:
        tensor.dims.extend(shape)
        tensor.float_data.extend(choice.choice(FLOATS) for _ in range(count))
    else:
        tensor.dims.extend(shape)
        tensor.int32_data.extend(choice.randrange(-9, 99) for _ in range(count))


def _spliced_node(choice: random.Random, model: Any, node: Any) -> None:
    """Copy a node of this model or another one, with existing values as operands."""
    import onnx

    from .seeds import node_cases

    other = onnx.ModelProto.FromString(choice.choice(node_cases()))
    made = model.graph.node.add()
    made.CopyFrom(choice.choice((node, *other.graph.node)))
    names = [*node.output, *node.input, *(value.name for value in model.graph.input)]
    for i in range(len(made.input)):
        made.input[i] = choice.choice(names)
    for i in range(len(made.output)):
        made.output[i] = f"spliced_{len(model.graph.node)}_{i}"
    if made.output:
        result = model.graph.output.add()
        result.name = made.output[0]


Change = Callable[[random.Random, Any, Any], None]
CHANGES: tuple[Change, ...] = (
    *(_one_attribute, _one_attribute, _new_attribute, _operator, _operands, _operands),
    *(_signature, _signature, _opset, _weight, _frozen_input, _spliced_node),
)


def _operators() -> list[str]:
    import onnx.defs

    return sorted({schema.name for schema in onnx.defs.get_all_schemas()})


def _change_attribute(choice: random.Random, attribute) -> None:
    match choice.randrange(6):
        case 0:
            attribute.i = choice.choice(INTEGERS)
        case 1:
            attribute.f = choice.choice(FLOATS)
        case 2:
            attribute.s = choice.choice(WORDS).encode()
        case 3:
            attribute.ints.append(choice.choice(INTEGERS))
        case 4 if attribute.ints:
            attribute.ints[choice.randrange(len(attribute.ints))] = choice.choice(INTEGERS)
        case 5 if attribute.ints:
            del attribute.ints[-1]
        case _:
            attribute.type = choice.randrange(15)


def _change_shape(choice: random.Random, value) -> None:
    tensor = value.type.tensor_type
    if choice.random() < 0.3:
        tensor.elem_type = choice.randrange(26)
    elif tensor.shape.dim:
        dim = choice.choice(tensor.shape.dim)
        if choice.random() < 0.3:
            dim.dim_param = choice.choice(("N", "M", "", "é"))
        else:
            dim.dim_value = choice.choice(INTEGERS)
