"""Programs of MIL with one operation, written by the tables of fields that the reader has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import nnc
import numpy as np
from nnc.frontends.coreml.schema import SCHEMA
from nnc.test.frontends.protobuf_writer import written

_KINDS = {"f": "FLOAT32", "i": "INT32", "b": "BOOL", "U": "STRING"}
_FIELDS = {"f": "floats", "i": "ints", "b": "bools", "U": "strings"}


def _type(array: np.ndarray) -> dict:
    extents = [{"constant": {"size": extent}} for extent in array.shape]
    kind = {"dataType": _KINDS[array.dtype.kind], "rank": array.ndim, "dimensions": extents}
    return {"tensorType": kind}


def constant(value: Any) -> dict:
    """A constant as an argument."""
    array = np.asarray(value)
    held = {_FIELDS[array.dtype.kind]: {"values": array.reshape(-1).tolist()}}
    return {"value": {"type": _type(array), "immediateValue": {"tensor": held}}}


def operation(
    kind: str,
    outputs: Sequence[str],
    inputs: Mapping[str, str],
    blocks: Sequence[dict] = (),
    **given,
) -> dict:
    """An operation; inputs are names, with spaces between those of a list."""
    arguments = {
        name: {"arguments": [{"name": one} for one in names.split()]}
        for name, names in inputs.items()
    }
    arguments |= {name: {"arguments": [constant(value)]} for name, value in given.items()}
    made = [{"name": name, "type": _type(np.zeros(1, np.float32))} for name in outputs]
    return {"type": kind, "inputs": arguments, "outputs": made, "blocks": list(blocks)}


def program(
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str],
    *operations: dict,
    states: Mapping[str, np.ndarray] | None = None,
) -> bytes:
    """A model of these operations."""
    return model({"main": function(inputs, outputs, *operations, states=states)})


def model(functions: Mapping[str, dict], default: str = "") -> bytes:
    """A model of these functions; `default` is the one that it names."""
    made = {"specificationVersion": 8, "mlProgram": {"version": 1, "functions": functions}}
    return written(SCHEMA, "Model", made | {"description": {"defaultFunctionName": default}})


def function(
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str],
    *operations: dict,
    states: Mapping[str, np.ndarray] | None = None,
) -> dict:
    """A function of a model."""
    declared = [{"name": name, "type": _type(array)} for name, array in inputs.items()]
    declared += [
        {"name": name, "type": {"stateType": {"wrappedType": _type(array)}}}
        for name, array in (states or {}).items()
    ]
    block = {"outputs": list(outputs), "operations": list(operations)}
    return {"inputs": declared, "opset": "CoreML7", "block_specializations": {"CoreML7": block}}


def run(kind: str, inputs: Mapping[str, np.ndarray], **given: Any) -> list:
    """What an operation gives for tensors and constants."""
    outputs = [f"y{i}" for i in range(1)]
    made = operation(kind, outputs, {name: name for name in inputs}, **given)
    found = nnc.compile(program(inputs, outputs, made)).run(dict(inputs))
    return [found[name] for name in outputs]
