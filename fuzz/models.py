"""ONNX files changed: bytes of the protobuf, attributes, shapes, names and types of nodes."""

from __future__ import annotations

import random

from .cases import Case
from .mutate import flip_bytes

INTEGERS = (0, 1, -1, 2, 3, 7, -2, 100, 2**31, 2**62, 2**63 - 1, -(2**63), 10**10)
FLOATS = (0.0, -1.0, 1e38, float("inf"), float("nan"), 1e-45)
WORDS = ("", "x", "é", "SAME_UPPER", "reflect", "a->b", "...", "linear", "reverse", "a" * 5000)


def model_case(choice: random.Random) -> Case:
    """`nnc import` or `nnc compile` of a changed model."""
    from .seeds import models

    data = choice.choice(models()[:-2] if choice.random() < 0.85 else models())
    if choice.random() < 0.35:
        data = flip_bytes(choice, data, choice.choice((1, 1, 2, 5, 20)))
    else:
        data = _changed(choice, data)
    if choice.random() < 0.7:
        arguments = ("import", "-q", "%s", "-o", "out.mlir")
    else:
        arguments = ("compile", "-q", "%s", "-o", choice.choice(("out.mlir", "out.ll")))
    if choice.random() < 0.1:
        shape = choice.choice(("x=1,2", "x=0,3", "x=-1", "x=", "y=1", "x=99999999999,3", "x=a"))
        arguments = (*arguments, f"--shape={shape}")
    return Case("nnc", arguments, data, suffix=".onnx")


def _changed(choice: random.Random, data: bytes) -> bytes:
    import onnx

    model = onnx.ModelProto.FromString(data)
    for _ in range(choice.choice((1, 1, 2, 3))):
        node = choice.choice(model.graph.node)
        match choice.randrange(9):
            case 0 if node.attribute:
                _change_attribute(choice, choice.choice(node.attribute))
            case 1:
                node.op_type = choice.choice(_operators())
            case 2 if node.input:
                names = ["", "x", "nothing", *node.output, *(n.name for n in model.graph.input)]
                node.input[choice.randrange(len(node.input))] = choice.choice(names)
            case 3:
                node.input.append(choice.choice(["", "x", *node.input]))
            case 4 if node.input:
                del node.input[choice.randrange(len(node.input))]
            case 5:
                _change_shape(choice, choice.choice(model.graph.input))
            case 6:
                model.opset_import[0].version = choice.choice((0, 1, 6, 9, 11, 13, 18, 21, 99, -1))
            case 7:
                attribute = node.attribute.add()
                attribute.name = choice.choice(
                    ("axis", "axes", "to", "perm", "pads", "value", "mode")
                )
                attribute.type = choice.randrange(15)
                _change_attribute(choice, attribute)
            case _ if model.graph.initializer:
                tensor = choice.choice(model.graph.initializer)
                if choice.random() < 0.5:
                    tensor.data_type = choice.randrange(26)
                else:
                    tensor.dims.append(choice.choice(INTEGERS))
            case _:
                model.graph.output[0].name = choice.choice(("x", "", "é", "nothing"))
    return model.SerializeToString()


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
