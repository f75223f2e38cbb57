"""Operators that write to given tensors, though their names have no underscore.

Those with `out=` write their results there, and norms in training their running statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...ir.diagnostics import NncError
from ..common.graph import Node
from .arguments import Ref, words

_OVERLOADS = words(
    """
    out output values values_stable dim_values dim_max dim_min eigenvalues eigvals grad_input
    inverse result sign L U X a OutTensor OutScalar_Self OutScalar_Other out_ out_mode
    out_rcond_tensor out_tol_tensor
    """
)
"""Overloads with `out` arguments at the end, beside those in `_out`."""

_OF_BATCHES = "aten._native_batch_norm_legit_functional.default"
_NORMS = {
    "batch_norm": (_OF_BATCHES, 3),
    "native_batch_norm": (_OF_BATCHES, 3),
    "_native_batch_norm_legit": (_OF_BATCHES, 3),
    "_batch_norm_with_update": ("aten._batch_norm_with_update_functional.default", 4),
    "instance_norm": ("nnc.updated_instance_norm", 1),
}
"""Operators that also return running statistics: (their names, the index of the first one)."""

_OF_AUDIO = {
    "torchaudio._lfilter_core_loop": ("nnc.recursive_filter", words("samples factors padded")),
    "torchaudio._overdrive_core_loop": (
        "nnc.overdrive",
        words("samples driven last_in last_out"),
    ),
}
"""Loops of torchaudio: (their pure forms, names of the arguments that these read). The loops write
to all arguments but the first two.
"""


@dataclass(frozen=True)
class Given:
    """A pure operator that returns what another one writes.

    `targets` has the indices of the written tensors' new values among its results. They are also
    the results of the writing operator if `are_results`; else they are additional.
    """

    kind: str
    arguments: Mapping[str, Any]
    targets: Mapping[int, str]
    are_results: bool


def writes_given(node: Node) -> Given | None:
    """The pure form of a node that writes to given tensors; None if it writes to none."""
    namespace, _, rest = node.kind.partition(".")
    name, _, overload = rest.partition(".")
    if (loop := _OF_AUDIO.get(f"{namespace}.{name}")) is not None:
        kind, names = loop
        values = list(node.attributes.values())
        if len(values) < len(names):
            raise NncError(f"{node.label}: {len(values)} arguments, expected {len(names)}")
        targets = _targets(node, values[2:])
        return Given(kind, dict(zip(names, values, strict=False)), targets, are_results=True)
    if namespace != "aten":
        return None
    if name in _NORMS and not overload.endswith("out"):
        return _norm(node, name)
    if overload in _OVERLOADS or overload.endswith("_out"):
        return _results(node, name)
    return None


def _norm(node: Node, name: str) -> Given | None:
    given = dict(node.attributes)
    running = given.get("running_mean"), given.get("running_var")
    is_updated = given.get("use_input_stats" if name == "instance_norm" else "training", True)
    mean, var = running
    if not is_updated or not isinstance(mean, Ref) or not isinstance(var, Ref):
        return None
    kind, count = _NORMS[name]
    for one in ("training", "use_input_stats", "cudnn_enabled"):
        given.pop(one, None)
    return Given(kind, given, {count: mean.name, count + 1: var.name}, are_results=False)


def _results(node: Node, name: str) -> Given:
    arguments = list(node.attributes.items())
    count = len(node.outputs)
    targets = _targets(node, [value for _, value in arguments[len(arguments) - count :]])
    return Given(f"aten.{name}.default", dict(arguments[:-count]), targets, are_results=True)


def _targets(node: Node, written: Sequence[Any]) -> dict[int, str]:
    """The names of the arguments to which results are written, by the results' indices."""
    if not all(isinstance(value, Ref) for value in written):
        raise NncError(f"{node.label}: results that are written to given tensors are missing")
    return {i: value.name for i, value in enumerate(written)}
