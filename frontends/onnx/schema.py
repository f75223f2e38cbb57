"""Checks of a node against the operator's declaration in the onnx package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

import onnx
from onnx import AttributeProto

from ...dialects import nn
from ...ir.types import NoneType, bf16, f16, f32, f64
from .tensors import element_type_code, element_type_name

_OPTION = onnx.defs.OpSchema.FormalParameterOption
_FLOATS = tuple(map(element_type_code, (f32, f16, f64, bf16)))


@lru_cache(maxsize=4096)
def find_schema(domain: str, op_type: str, opset: int) -> Any | None:
    """The declaration of an operator in an opset; None if onnx has none."""
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


def has_operator(op_type: str) -> bool:
    """Whether ONNX has the operator, in any opset."""
    return onnx.defs.has(op_type, "")


def attribute_kind(code: int) -> str:
    """ONNX's name of an attribute's type, `INTS`."""
    try:
        return AttributeProto.AttributeType.Name(code)
    except ValueError:
        return f"number {code}"


def fault_of_signature(schema: Any, inputs: int, outputs: int) -> str | None:
    """What is wrong with the numbers of inputs and outputs, or None."""
    for words, count, least, most in (
        ("input", inputs, schema.min_input, schema.max_input),
        ("output", outputs, schema.min_output, schema.max_output),
    ):
        if count > most:
            return f"{count} {words}s, expected at most {most}"
        if count < least:
            return f"{count} {words}s, expected at least {least}"
    return None


def fault_of_presence(schema: Any, inputs: list[Any]) -> str | None:
    """A message if a required input is None, that is left out; else None."""
    formals = schema.inputs
    for i, value in enumerate(inputs):
        formal = formals[min(i, len(formals) - 1)]
        if value is None and formal.option != _OPTION.Optional:
            return f"input '{formal.name}' is missing"
    return None


FLAGS = """
    across_channels align_corners allowzero antialias broadcast ceil_mode center_point_box
    count_include_pad detect_negative detect_positive exclude_outside exclusive fmod input_forget
    interleaved inverse is_case_sensitive is_causal is_test keepdims largest layout
    linear_before_reset new_axis noop_with_empty_axes normalize_variance onesided output_sequence
    periodic reverse saturate select_last_index sorted spatial storage_order training_mode transA
    transB upper
"""
"""Attributes that must be 0 or 1: runtimes disagree on other numbers."""


@cache
def _flags() -> frozenset[str]:
    return frozenset(FLAGS.split())


def fault_of_attributes(schema: Any, attributes: dict[str, Any]) -> str | None:
    """What is wrong with the attributes' names and types, or None."""
    for name, proto in attributes.items():
        declared = schema.attributes.get(name)
        if declared is None:
            known = ", ".join(sorted(schema.attributes)) or "none"
            return f"unknown attribute '{name}', expected one of: {known}"
        expected = int(declared.type.value)
        if proto.type != expected:
            return (
                f"attribute '{name}' is of type {attribute_kind(proto.type)}, "
                f"expected {attribute_kind(expected)}"
            )
        if name in _flags() and proto.type == onnx.AttributeProto.INT and proto.i not in (0, 1):
            return f"attribute '{name}' is {proto.i}, expected 0 or 1"
        if name == "softcap" and proto.f < 0:
            return f"attribute '{name}' is {proto.f:g}, expected 0 or more"
        if name == "softmax_precision" and proto.i not in _FLOATS:
            codes = list(_FLOATS)
            return f"attribute '{name}' is {proto.i}, expected the code of a float type: {codes}"
    for name, declared in schema.attributes.items():
        if declared.required and name not in attributes:
            return f"attribute '{name}' is missing"
    return None


def fault_of_types(schema: Any, inputs: list[Any]) -> str | None:
    """What is wrong with the inputs' element types, or None; an input left out has type None."""
    allowed, bound = _type_table(schema.name, schema.domain, schema.since_version), {}
    formals = schema.inputs
    for i, type in enumerate(inputs):
        if type is None:
            continue
        formal = formals[min(i, len(formals) - 1)]
        if not hasattr(type, "element_type"):
            choices = allowed.get(formal.type_str, frozenset([formal.type_str]))
            if fault := _fault_of_value(type, formal, choices):
                return fault
            continue
        code = element_type_code(type.element_type)
        choices = allowed.get(formal.type_str)
        if choices is None:
            choices = frozenset([formal.type_str])
        if _type_text(code) not in choices:
            return (
                f"input '{formal.name}' has elements of {element_type_name(code)}, expected "
                + " or ".join(sorted(c.removeprefix("tensor(").rstrip(")") for c in choices))
            )
        if formal.type_str not in allowed or not formal.is_homogeneous:
            continue
        first = bound.setdefault(formal.type_str, (formal.name, code))
        if first[1] != code:
            return (
                f"input '{formal.name}' has elements of {element_type_name(code)} but input "
                f"'{first[0]}' of {element_type_name(first[1])}, expected the same"
            )
    return None


def _fault_of_value(type: Any, formal: Any, choices: Iterable[str]) -> str | None:
    """What is wrong with an input that is no tensor, or None."""
    texts = list(_value_texts(type))
    texts += [f"optional({text}" for text in texts]  # a value may be passed as an optional
    if any(choice.startswith(text) for choice in choices for text in texts):
        return None
    expected = " or ".join(sorted(choices))
    kinds = {nn.SequenceType: "a sequence", nn.OptionalType: "an optional", nn.MapType: "a map"}
    if all(choice.startswith("tensor(") for choice in choices):
        return f"input '{formal.name}' is {kinds[type.__class__]}, expected a tensor"
    return f"input '{formal.name}' is '{type}', expected {expected}"


def _value_texts(type: Any) -> Iterator[str]:
    """Prefixes of ONNX's names of a type; an unknown element type (None) matches any name."""
    match type:
        case nn.SequenceType() | nn.OptionalType():
            start = "seq(" if isinstance(type, nn.SequenceType) else "optional("
            yield from (f"{start}{inner}" for inner in _value_texts(type.element))
        case nn.MapType():
            key = element_type_name(element_type_code(type.key)).lower()
            value = element_type_name(element_type_code(type.value)).lower()
            yield f"map({key}, {value})"
            yield f"map({key},tensor({value}))"
            yield f"map({key}, tensor({value}))"
        case NoneType():
            yield ""
        case _:
            yield _type_text(element_type_code(type.element_type))


def fault_of_kinds(schema: Any, inputs: list[Any]) -> str | None:
    """What is wrong if a sequence is passed where the operator takes only tensors, or None.

    An input without the attribute `type` is a sequence.
    """
    allowed = _type_table(schema.name, schema.domain, schema.since_version)
    for i, value in enumerate(inputs):
        if value is None or hasattr(value, "type"):
            continue
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        choices = allowed.get(formal.type_str, (formal.type_str,))
        if not any(choice.startswith(("seq(", "optional(")) for choice in choices):
            return f"input '{formal.name}' is a sequence, expected a tensor"
    return None


@lru_cache(maxsize=1024)
def _type_table(op_type: str, domain: str, version: int) -> dict[str, frozenset[str]]:
    schema = onnx.defs.get_schema(op_type, version, domain)
    return {t.type_param_str: frozenset(t.allowed_type_strs) for t in schema.type_constraints}


def _type_text(code: int) -> str:
    """The name of a tensor type with these elements: `tensor(float)`."""
    return f"tensor({element_type_name(code).lower()})"
