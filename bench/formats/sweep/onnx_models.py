"""Models of one ONNX operator, made from one of ONNX's own test cases with some changes.

A configuration may change: an attribute, the element types, an extent wherever it occurs, the
numbers, whether shapes and operands are known at import, and which optional operands are present.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from nnc.test.frontends.onnx_cases import arrays, cases
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from .cases import Config, UnmakableError

A: Any = AttributeProto
KINDS: Any = onnx.defs.OpSchema.AttrType
OPTIONAL = onnx.defs.OpSchema.FormalParameterOption.Optional

OWN = "own"
"""The value of a parameter that leaves ONNX's test case unchanged."""

ELEMENTS: Mapping[str, Any] = {
    "float": np.float32, "double": np.float64, "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16, "int8": np.int8, "int16": np.int16, "int32": np.int32,
    "int64": np.int64, "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32,
    "uint64": np.uint64, "bool": np.bool_, "string": object,
}  # fmt: skip
LARGEST = 20_000
"""The most elements of a test case's operands; for more, ONNX's reference takes long."""


@dataclass(frozen=True)
class Seed:
    """One of ONNX's own test cases with one node, and its operands, None for one
    that is left out.
    """

    name: str
    node: Any
    operands: Sequence[Any]
    opset: int


@cache
def seeds() -> dict[tuple[str, str], list[Seed]]:
    """The cases by domain and operator."""
    found: dict[tuple[str, str], list[Seed]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = sorted(cases().items())
    for name, case in everything:
        graph = case.model.graph
        if len(graph.node) != 1 or "expanded" in name or not case.data_sets or case.model.functions:
            continue
        node = graph.node[0]
        given = dict(zip((v.name for v in graph.input), arrays(case.data_sets[0][0]), strict=False))
        given |= {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        operands = [given.get(one) if one else None for one in node.input]
        if sum(np.size(v) for v in operands if isinstance(v, np.ndarray)) > LARGEST:
            continue
        opsets = {one.domain: one.version for one in case.model.opset_import}
        seed = Seed(name, node, operands, opsets.get(node.domain, 1))
        found.setdefault((node.domain, node.op_type), []).append(seed)
    return found


def choices(schema: Any, chosen: Sequence[Seed], rng: random.Random) -> dict[str, list[Any]]:
    """For each parameter that may be changed, the values to try; the first is that of the test
    case.
    """
    found: dict[str, list[Any]] = {"case": [seed.name for seed in chosen]}
    for name in sorted(schema.attributes):
        values = _attribute_values(schema.attributes[name], chosen)
        if len(values) > 1:
            found[f"@{name}"] = values
    for constraint in sorted(schema.type_constraints, key=lambda c: c.type_param_str):
        texts = [t[7:-1] for t in constraint.allowed_type_strs if t.startswith("tensor(")]
        known = sorted(t for t in texts if t in ELEMENTS)
        if known:
            few = rng.sample(known, min(7, len(known)))
            found[f"type {constraint.type_param_str}"] = [OWN, *few]
    found["extent"] = [OWN, *([k, new] for k in range(3) for new in ("none", "one", "more"))]
    found["numbers"] = [OWN, "whole", "equal", "negative", "nan", "infinite"]
    found["known"] = ["nothing", "shapes", "operands", "all"]
    optional = [i for i, formal in enumerate(schema.inputs) if formal.option == OPTIONAL]
    found["without"] = ["nothing", *optional, *(["all"] if len(optional) > 1 else [])]
    if len(schema.outputs) > 1:
        found["outputs"] = ["all", "first", "last"]
    found["known"] = ["shapes", "nothing", "operands", "all"]
    return found


def _attribute_values(attribute: Any, chosen: Sequence[Seed]) -> list[Any]:
    """The attribute's values in the test cases, and others of its type that JSON can represent."""
    seen: list[Any] = []

    def add(*values: Any) -> None:
        seen.extend(value for value in values if value not in seen)

    for seed in chosen:
        for proto in seed.node.attribute:
            if proto.name == attribute.name:
                value = helper.get_attribute_value(proto)
                value = value.decode() if isinstance(value, bytes) else value
                if isinstance(value, int | float | str):
                    add(value)
                elif isinstance(value, Sequence) and all(isinstance(v, int | float) for v in value):
                    add(list(value))
    match attribute.type:
        case KINDS.INT:
            add(*((1, 6, 7, 10, 11) if attribute.name in ("to", "dtype") else (0, 1, 2, -1)))
        case KINDS.FLOAT:
            add(0.0, 1.0, -0.5, 0.25)
        case KINDS.INTS:
            for one in [v for v in seen if isinstance(v, list)][:2]:
                add([x + 1 for x in one], one[::-1], [0] * len(one), [-x for x in one])
                add([max(one, default=0)] * len(one))
    return [OWN, *([] if attribute.required else ["absent"]), *seen[:8]]


def made(schema: Any, seed: Seed, config: Config) -> tuple[Any, dict[str, Any]]:
    """The model of a configuration, and its inputs. Raises UnmakableError."""
    attributes = _attributes(schema, seed, config)
    operands = _operands(schema, seed, config, attributes)
    node = helper.make_node(schema.name, [], [], domain=schema.domain)
    node.attribute.extend(attributes.values())
    graph = onnx.GraphProto(name="g")
    feeds = {}
    for i, operand in enumerate(operands):
        node.input.append("" if operand is None else f"x{i}")
        if operand is None:
            continue
        kind = _element(operand)
        if config["known"] == "all" or (config["known"] == "operands" and i):
            graph.initializer.append(_tensor(f"x{i}", operand, kind))
            continue
        feeds[f"x{i}"] = operand
        own = config["known"] == "shapes"
        shape = list(operand.shape) if own else [f"x{i}_{d}" for d in range(operand.ndim)]
        graph.input.append(helper.make_tensor_value_info(f"x{i}", kind, shape))
    count = min(len(seed.node.output), schema.max_output)
    which = {"first": [0], "last": [count - 1]}.get(config.get("outputs", "all"), range(count))
    node.output.extend(f"y{i}" if i in which and seed.node.output[i] else "" for i in range(count))
    graph.node.append(node)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output if name)
    opsets = [helper.make_opsetid(schema.domain, schema.since_version)]
    opsets += [helper.make_opsetid("", 21)] if schema.domain else []
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    _declare_outputs(model, schema)
    return model, feeds


def _element(operand: np.ndarray) -> int:
    text = operand.dtype.kind == "O"
    return TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(operand.dtype)


def _tensor(name: str, operand: np.ndarray, kind: int) -> Any:
    if kind == TensorProto.STRING:
        texts = [str(one).encode() for one in operand.ravel()]
        return helper.make_tensor(name, kind, operand.shape, texts)  # type: ignore[arg-type]
    return numpy_helper.from_array(operand, name)


def _declare_outputs(model: Any, schema: Any) -> None:
    """Declare the output types that ONNX infers, without shapes; the operator's version must allow
    them.
    """
    try:
        inferred = onnx.shape_inference.infer_shapes(model).graph.output
    except Exception as error:  # the binding raises several kinds
        raise UnmakableError(str(error)) from None
    for value, found in zip(model.graph.output, inferred, strict=True):
        value.type.CopyFrom(found.type)
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
            text = f"tensor({TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower()})"
            if not any(text in formal.types for formal in schema.outputs):
                raise UnmakableError(f"no result of the version is a {text}")


def _attributes(schema: Any, seed: Seed, config: Config) -> dict[str, Any]:
    """The attribute protos by name."""
    found = {p.name: p for p in seed.node.attribute if p.name in schema.attributes}
    for key, value in config.items():
        name = key[1:]
        if key[0] != "@" or value == OWN:
            continue
        found.pop(name, None)
        if value == "absent":
            continue
        kind = schema.attributes[name].type
        if kind == KINDS.FLOAT:
            value = float(value)
        if value == []:
            found[name] = A(name=name, type=A.INTS if kind == KINDS.INTS else A.FLOATS)
        else:
            found[name] = helper.make_attribute(name, value)
    return found


def _operands(
    schema: Any, seed: Seed, config: Config, attributes: dict[str, Any]
) -> list[np.ndarray | None]:
    """The operands, including those that were attributes in earlier versions."""
    operands = list(seed.operands)
    newest = onnx.defs.get_schema(schema.name, seed.opset, schema.domain)
    for i in range(schema.max_input, len(operands)):
        name, value = newest.inputs[min(i, len(newest.inputs) - 1)].name, operands[i]
        if name in schema.attributes and isinstance(value, np.ndarray) and f"@{name}" not in config:
            attributes[name] = helper.make_attribute(name, value.tolist())
    operands = operands[: schema.max_input]
    extents = sorted({d for v in operands if isinstance(v, np.ndarray) for d in v.shape if d})
    for i, operand in enumerate(operands):
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        left_out = config["without"] in (i, "all") and formal.option == OPTIONAL
        if operand is None or left_out:
            operands[i] = None
            continue
        if not isinstance(operand, np.ndarray):
            raise UnmakableError("an operand is not a tensor")
        wanted = config.get(f"type {formal.type_str}", OWN)
        if wanted != OWN:
            operand = _converted(operand, np.dtype(ELEMENTS[wanted]))
        if config["extent"] != OWN:
            k, new = config["extent"]
            if k >= len(extents):
                raise UnmakableError("there are fewer extents")
            operand = _with_extent(operand, extents[k], {"none": 0, "one": 1}.get(new))
        operands[i] = np.asarray(_with_numbers(operand, config["numbers"], first=not i), order="C")
    while operands and operands[-1] is None:
        operands.pop()
    return operands


def _converted(operand: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if operand.dtype == dtype:
        return operand
    if "O" in (dtype.kind, operand.dtype.kind):
        raise UnmakableError("text is not a number")
    if dtype.kind == "u" and operand.dtype.kind != "b":
        operand = np.abs(operand)
    if dtype.kind in "iu" and operand.dtype.kind == "f":
        operand = np.nan_to_num(operand * 3)
    with np.errstate(all="ignore"):
        return operand.astype(dtype)


def _with_extent(operand: np.ndarray, old: int, new: int | None) -> np.ndarray:
    """The operand with each dimension of extent `old` changed to `new`, or to one more if that is
    None.
    """
    count = old + 1 if new is None else new
    for axis, extent in enumerate(operand.shape):
        if extent == old:
            operand = np.take(operand, [i % extent for i in range(count)], axis=axis)
    return operand


def _with_numbers(operand: np.ndarray, which: str, first: bool) -> np.ndarray:
    """The operand with other numbers; only the first one gets NaN, infinities and the like."""
    floats = operand.dtype.kind == "f" or operand.dtype == ml_dtypes.bfloat16
    if not (floats or operand.dtype.kind in "iu") or not operand.size:
        return operand
    match which:
        case "whole":
            return np.round(operand.astype(np.float64)).astype(operand.dtype) if floats else operand
        case "equal":
            return np.full_like(operand, operand.ravel()[0])
        case "negative":
            return operand if operand.dtype.kind == "u" else (-operand).astype(operand.dtype)
        case "nan" | "infinite" if first and floats:
            flat = operand.ravel().copy()
            flat[flat.size // 2] = np.nan if which == "nan" else np.inf
            flat[-1] = flat[-1] if which == "nan" else -np.inf
            return flat.reshape(operand.shape)
    return operand
