"""Recurrent layers of PyTorch as one operator each.

AOTAutograd decomposes ATen's operators into one node for each step and gate. So opaque operators of
the same schema replace them while it traces, and are replaced by ATen's again in the result.
"""

from __future__ import annotations

from typing import Any

import torch  # pyright: ignore[reportMissingImports]

_ATEN: dict[str, Any] = {
    "lstm": torch.ops.aten.lstm.input,
    "gru": torch.ops.aten.gru.input,
    "rnn_tanh": torch.ops.aten.rnn_tanh.input,
    "rnn_relu": torch.ops.aten.rnn_relu.input,
}
_LIBRARY = torch.library.Library("nnc", "FRAGMENT")


def _declare(name: str) -> Any:
    """Declare the opaque operator for one of ATen's."""
    schema = str(_ATEN[name]._schema).removeprefix("aten::").replace(".input(", "(", 1)
    _LIBRARY.define(schema)
    _LIBRARY.impl(name, _shapes, "Meta")
    return getattr(torch.ops.nnc, name).default


def _shapes(
    input: Any,
    hx: Any,
    params: Any,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    """Result tensors without elements: all steps of the last layer, and the last states."""
    states = list(hx) if isinstance(hx, list | tuple) else [hx]
    width = states[0].shape[-1] * (2 if bidirectional else 1)
    return input.new_empty((*input.shape[:-1], width)), *(s.new_empty(s.shape) for s in states)


_OPAQUE = {name: _declare(name) for name in _ATEN}


def made_opaque(graph: torch.fx.GraphModule) -> None:
    """Replace calls of torch.lstm, torch.gru, .. by opaque operators."""
    functions = {getattr(torch._VF, name): _OPAQUE[name] for name in _OPAQUE}
    functions |= {getattr(torch, name): _OPAQUE[name] for name in _OPAQUE}
    for node in graph.graph.nodes:
        called = node.op == "call_function" and node.target in functions
        # Those of packed sequences have the batch sizes in the second place.
        if called and len(node.args) == 9 and isinstance(node.args[3], bool):
            node.target = functions[node.target]
    graph.recompile()


def made_known(graph: torch.fx.GraphModule) -> None:
    """Replace the opaque operators by ATen's."""
    back = {opaque: _ATEN[name] for name, opaque in _OPAQUE.items()}
    for node in graph.graph.nodes:
        if node.op == "call_function" and node.target in back:
            node.target = back[node.target]
    graph.recompile()
