"""The arguments of PyTorch's operators that a converter may leave unread, with reasons.

A converter names its arguments as parameters; those that its code never loads are unread.
"""

from __future__ import annotations

import dis
from functools import cache
from inspect import Parameter, signature
from typing import Any

from ..common.fields import Ignored, IgnoredFields, same
from ..common.rows import Convert

IGNORED = IgnoredFields(
    Ignored("device layout pin_memory memory_format generator non_blocking copy names stride",
            "where a tensor lies and what its dimensions are called, not what is in it"),
    Ignored("momentum padding_idx scale_grad_by_freq sparse sparse_grad max_norm norm_type",
            "of training"),
    Ignored("cudnn_enable* cudnn_enabled benchmark deterministic allow_tf32 driver path "
            "compute_mode",
            "how PyTorch computes it"),
    Ignored("check_errors unsafe assume_unique implicit", "what is checked, or need not be"),
    Ignored("sorted stable", "sorted results and stable orders are right too"),
    Ignored("compute_v unpack_data unpack_pivots compute_log_sumexp return_debug_mask "
            "return_counts return_inverse",
            "an output that is not used"),
    Ignored("average_attn_weights", "of weights that are not given"),
    Ignored("N C HxW embed_dim", "the operands determine it", "*norm* *transformer* *attention*"),
    Ignored("padding", "the result's extents determine it", "aten.max_unpool*"),
    Ignored("quant_min quant_max dtype", "the operand determines it", "quantized_decomposed.*"),
    Ignored("quant_min quant_max input_dtype", "the operand determines it",
            "torchao.dequantize_affine*"),
    Ignored("*", "what is checked, not what is computed", "aten.*assert* aten.*constrain_range*"),
    Ignored("*", "an element type, which the operators that use it name themselves",
            "aten.promote_types* aten.result_type* aten.can_cast*"),
    Ignored("*", "how a graph is trained", "higher_order.*"),
    Ignored("self", "all tensors are contiguous", "aten.*storage_offset aten.*is_contiguous"),
)  # fmt: skip


def unread(function: Convert, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a converter's code never loads, unless they have its default values."""
    names, rest = _unloaded(function)
    parameters = signature(function).parameters
    return {
        name: value
        for name, value in given.items()
        if (name in names and not same(value, names[name])) or (rest and name not in parameters)
    }


@cache
def _unloaded(function: Convert) -> tuple[dict[str, Any], bool]:
    """The parameters that code never loads, with their defaults, and whether `**rest` is one."""
    code: Any = function.__code__  # type: ignore[attr-defined]
    loaded = {i.argval for i in dis.get_instructions(code) if i.opname.startswith("LOAD_")}
    loaded.update(code.co_cellvars)
    unloaded = [p for p in signature(function).parameters.values() if p.name not in loaded]
    names = {p.name: p.default for p in unloaded if p.kind is not Parameter.VAR_KEYWORD}
    return names, len(names) < len(unloaded)
