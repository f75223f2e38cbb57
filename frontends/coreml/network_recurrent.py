"""Recurrent layers of networks; sequences are [time, batch, channels, 1, 1]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..wire.protobuf import Record
from .network_reader import Reader
from .network_tables import ACTIVATIONS

_LSTM = ("inputGate", "forgetGate", "outputGate", "blockInput")
_GRU = ("resetGate", "outputGate", "updateGate")
_STATES = ("initial_h", "initial_c")
GATE_CLIP = np.float32(50)
"""The bound of what enters an activation. Source: NeuralNetwork.proto."""


def simple(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A simple recurrent layer."""
    inner, hidden = p.inputVectorSize, p.outputVectorSize
    bound = {
        "weight_ih": r.weight(p.part("weightMatrix"), [hidden, inner]),
        "weight_hh": r.weight(p.part("recursionMatrix"), [hidden, hidden]),
    }
    if p.hasBiasVector:
        bound["bias"] = r.weight(p.part("biasVector"), [hidden])
    given = _activations(r, [p.part("activation")], ["activation"])
    _run(r, "rnn", p, inputs, bound, given | _direction(p))


def gru(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A GRU whose reset gate scales the state, not its product."""
    bound = _weights(r, p, p, _GRU, p.hasBiasVectors)
    given = _activations(r, p.activations, ["recurrent_activation", "activation"])
    _run(r, "gru", p, inputs, bound, given | _direction(p))


def lstm(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """An LSTM of one or both directions."""
    how, both = p.part("params"), r.kind == "biDirectionalLSTM"
    sides = list(p.weightParams) if both else [p.part("weightParams")]
    if how.coupledInputAndForgetGate or len(sides) != (2 if both else 1):
        raise r.error("coupled gates, or weights for another number of directions")
    bound: dict[str, Any] = {}
    for side, end in zip(sides, ("", "_back"), strict=False):
        found = _weights(r, p, side, _LSTM, how.hasBiasVectors)
        if how.forgetBias:
            ones = np.repeat([0, 1, 0, 0], p.outputVectorSize).astype(np.float32)
            found["bias"] = found.get("bias", np.float32(0)) + ones
        if how.hasPeepholeVectors:
            gates = (side.part(f"{gate}PeepholeVector") for gate in _LSTM[:3])
            parts = [r.weight(gate, [p.outputVectorSize]) for gate in gates]
            found["peephole"] = np.concatenate(parts)
        bound |= {f"{name}{end}": value for name, value in found.items()}
    names = ["recurrent_activation", "cell_activation", "activation"]
    given = _activations(r, p.activationsForwardLSTM if both else p.activations, names)
    if both and _activations(r, p.activationsBackwardLSTM, names) != given:
        raise r.error("directions whose activations differ")
    given |= {
        "clip": np.float32(how.cellClipThreshold or 50),
        "output_sequence": how.sequenceOutput,
    }
    given["direction"] = "bidirectional" if both else _direction(p)["direction"]
    _run(r, "lstm", p, inputs, bound, given)


def _direction(p: Record) -> dict[str, Any]:
    way = "reverse" if p.reverseInput else "forward"
    return {"direction": way, "output_sequence": getattr(p, "sequenceOutput", False)}


def _weights(
    r: Reader, p: Record, side: Record, gates: Sequence[str], has_bias: bool
) -> dict[str, Any]:
    """The gates' weights, concatenated along the first dimension."""
    inner, hidden = p.inputVectorSize, p.outputVectorSize
    kinds = {
        "weight_ih": ("WeightMatrix", [hidden, inner]),
        "weight_hh": ("RecursionMatrix", [hidden, hidden]),
    }
    if has_bias:
        kinds["bias"] = ("BiasVector", [hidden])
    return {
        name: np.concatenate([r.weight(side.part(gate + kind), shape) for gate in gates])
        for name, (kind, shape) in kinds.items()
    }


def _activations(r: Reader, given: Sequence[Record], names: Sequence[str]) -> dict[str, Any]:
    """The attributes for activations: `NAME`, and its parameters such as `NAME_alpha`."""
    found: dict[str, Any] = {}
    for one, name in zip(given, names, strict=False):
        kind = next((field for field, _ in one.fields()), "")
        if kind not in ACTIVATIONS:
            raise r.error(f"activation {kind or 'unknown'} is not supported")
        found[name] = ACTIVATIONS[kind].op
        for field in ACTIVATIONS[kind].fields:
            found[f"{name}_{field}"] = np.float32(getattr(one.part(kind), field))
    return found


def _run(
    r: Reader, op: str, p: Record, inputs: Sequence[str], bound: dict[str, Any], given: dict
) -> None:
    """Add an operation between reshapes from and to [time, batch, channels, 1, 1] or [batch,
    channels, 1, 1].
    """
    x, out, hidden = inputs[0], r.outputs[0], p.outputVectorSize
    sides, count = (2 if given["direction"] == "bidirectional" else 1), (2 if op == "lstm" else 1)
    r.reshaped(f"{out} rows", x, [0, 0, -1] if r.exact else [-1, 1, p.inputVectorSize])
    for i, name in enumerate(_STATES[:count]):
        parts = []
        for state in inputs[1 + i :: count]:
            parts.append(f"{out} {name} {len(parts)}")
            r.reshaped(parts[-1], state, [-1, hidden])
        bound[name] = np.zeros((1, sides * hidden), np.float32)
        if parts:
            bound[name] = f"{out} {name}"
            r.add("concat", bound[name], {"values": parts}, axis=1)
    made = [f"{out} steps", *(f"{out} last {i}" for i in range(count))]
    r.add(op, made, {"x": f"{out} rows", **bound}, **given, gate_clip=GATE_CLIP)
    r.reshaped(out, made[0], [0, 0, -1, 1, 1] if r.exact else [-1, sides * hidden, 1, 1])
    if len(r.outputs) == 1:
        return
    for i, name in enumerate(made[1:]):
        parts = [f"{name} {side}" for side in range(sides)]
        r.add("split", parts, {"x": name}, axis=1, num_splits=sides)
        for part, wanted in zip(parts, r.outputs[1 + i :: count], strict=False):
            r.reshaped(wanted, part, [1, -1, hidden, 1, 1] if r.exact else [-1, hidden, 1, 1])
