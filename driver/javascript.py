"""The interface of a compiled model in JavaScript: element types and TypeScript declarations."""

from __future__ import annotations

import json

from ..ir.diagnostics import NncError
from ..ir.types import TensorType
from ..runtime.program import Signature
from .interface import BYTES

ARRAYS = {
    "f32": ("Float32Array", 4),
    "f64": ("Float64Array", 8),
    "f16": ("Uint16Array", 2),
    "bf16": ("Uint16Array", 2),
    "i1": ("Uint8Array", 1),
    "i8": ("Int8Array", 1),
    "i16": ("Int16Array", 2),
    "i32": ("Int32Array", 4),
    "i64": ("BigInt64Array", 8),
    "ui8": ("Uint8Array", 1),
    "ui16": ("Uint16Array", 2),
    "ui32": ("Uint32Array", 4),
    "ui64": ("BigUint64Array", 8),
    **dict.fromkeys(BYTES, ("Uint8Array", 1)),
}
"""Element type -> the array that holds it, and the bytes of an element."""


def javascript_type(type: TensorType, name: str) -> str:
    """The name of the element type. Raises NncError where JavaScript has no array for it."""
    text = str(type.element_type)
    if text not in ARRAYS:
        raise NncError(f"'{name}' is of {text}, for which JavaScript has no array")
    return text


def element_bytes(type: TensorType) -> int:
    """Bytes of an element in memory; 0 where JavaScript has no array for it."""
    return ARRAYS.get(str(type.element_type), ("", 0))[1]


def declarations(found: Signature, name: str) -> str:
    """The `.d.ts` file of a model."""
    inputs = zip(found.input_names, found.input_types, strict=True)
    outputs = zip(found.output_names, found.output_types, strict=True)
    given = "".join(f"  {json.dumps(n)}: {_given(t)};{_about(t)}\n" for n, t in inputs)
    made = "".join(f"  {json.dumps(n)}: Tensor<{_array(t)}>;{_about(t)}\n" for n, t in outputs)
    return f"""\
// A neural network, compiled by nnc: {name}.

export interface Tensor<Data> {{
  data: Data;
  dims: number[];
}}

export interface Inputs {{
{given}}}

export interface Outputs {{
{made}}}

/** `null` for an extent that is known only when the model runs. */
export interface TensorType {{
  name: string;
  type: string;
  dims: (number | null)[];
}}

export interface Options {{
  /** How many threads a call may use; 1 where the page has no shared memory. Default: 1. */
  threads?: number;
  /** Where the weights are, if the .wasm file does not hold them. */
  weights?: string | URL | Response | ArrayBuffer | Uint8Array;
  /** Called while the file arrives. Units: bytes. */
  progress?: (state: {{ loaded: number; total: number }}) => void;
  /** Gives up loading. */
  signal?: AbortSignal;
}}

export class Model {{
  readonly inputs: TensorType[];
  readonly outputs: TensorType[];
  readonly threads: number;
  /** Throws a TypeError or RangeError that names the input. */
  run(inputs: Inputs): Promise<Outputs>;
  /** The same at once: a page does nothing else in the meantime. */
  runSync(inputs: Inputs): Outputs;
  /** Ends the threads and lets the memory go. */
  dispose(): void;
}}

/** By default the .wasm file that lies beside this one. */
export function load(
  source?: string | URL | Response | ArrayBuffer | Uint8Array,
  options?: Options,
): Promise<Model>;
export default load;
"""


def _array(type: TensorType) -> str:
    return ARRAYS[str(type.element_type)][0]


def _given(type: TensorType) -> str:
    """What an input may be: an array alone where that says the shape."""
    array = _array(type)
    tensor = f"Tensor<{array}>"
    return tensor if type.shape.count(None) > 1 else f"{array} | {tensor}"


def _about(type: TensorType) -> str:
    shape = "x".join("?" if extent is None else str(extent) for extent in type.shape) or "scalar"
    return f" // {type.element_type}, {shape}"
