"""Numbers halfway between two integers, quantized in every way, and pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.export import Dim
from torch.nn import functional

_STEPS = (0.0123, 0.37, 0.00071, 2.9)


def halves() -> torch.Tensor:
    """Rows of odd multiples of half a step, for each step."""
    odd = torch.randint(-150, 150, (len(_STEPS), 40), dtype=torch.float64) * 2 + 1
    return (odd * torch.tensor(_STEPS, dtype=torch.float64)[:, None] / 2).float()


def quantized_halves(x: torch.Tensor, scales: torch.Tensor, wide: torch.Tensor) -> Any:
    """Scales as numbers and as tensors of f32 and f64: of all, of channels, rows and groups."""
    import torch.ao.quantization.fx._decomposed

    q, i8, u8 = torch.ops.quantized_decomposed, torch.int8, torch.uint8
    found = []
    for i, step in enumerate(_STEPS):
        found.append(q.quantize_per_tensor(x, step, 3, 0, 255, u8))
        for one in (scales, wide):
            whole = q.quantize_per_tensor.tensor(x, one[i], torch.tensor(-2), -128, 127, i8)
            found.append(whole)
            real = q.dequantize_per_tensor.tensor(whole, one[i], torch.tensor(-2), -128, 127, i8)
            found.append(real)
    zeros = torch.tensor([0, 7, -3, 1])
    for one in (scales, wide):
        channels = q.quantize_per_channel(x, one, zeros, 0, -128, 127, i8)
        rows = q.quantize_per_token(x, one[:, None], zeros[:, None], -128, 127, i8)
        real = q.dequantize_per_token(rows, one[:, None], zeros[:, None], -128, 127, i8, x.dtype)
        ends = (one[:, None].expand(4, 2), zeros[:, None].expand(4, 2), -8, 7, i8)
        groups = q.quantize_per_channel_group(x, *ends, 20)
        again = q.dequantize_per_channel_group(groups, *ends, 20, torch.float32)
        found += [channels, rows, real, groups, again]
        found.append(q.dequantize_per_channel(channels, one, zeros, 0, -128, 127, i8))
    found += [torch.fake_quantize_per_tensor_affine(x, step, 3, 0, 255) for step in _STEPS]
    for places in (zeros.int(), zeros + 0.25):
        found.append(torch.fake_quantize_per_channel_affine(x, scales, places, 0, -128, 127))
    found.append(q.fake_quant_per_channel(x, scales, zeros, 0, -128, 127))
    half = q.dequantize_per_tensor(rows, 7.3, 5, -128, 127, i8, out_dtype=torch.bfloat16)
    return *found, half.float()


def quantized_by_range(x: torch.Tensor) -> Any:
    """Scales and zero points: of all and of rows, for several types."""
    import torch.ao.quantization.fx._decomposed

    q, i8, found = torch.ops.quantized_decomposed, torch.int8, []
    for kind, low, high in ((i8, -128, 127), (torch.uint8, 0, 255), (torch.int32, -(2**31), 2**31 - 1)):  # fmt: skip
        found += q.choose_qparams(x, low, high, 1e-6, kind)
        found += q.choose_qparams_per_token_asymmetric(x, kind)
    scale, zero = q.choose_qparams_per_token(x, i8)
    rows = q.quantize_per_token(x, scale, zero, -128, 127, i8)
    real = q.dequantize_per_token(rows, scale, zero, -128, 127, i8, torch.float32)
    return *found, scale, zero, rows, real


def quantized_cases(of: Callable[..., torch.nn.Module], r: Callable[..., torch.Tensor]) -> Any:
    """Modules, inputs, dynamic shapes, and inputs of other extents."""
    steps = torch.tensor(_STEPS, dtype=torch.float64)
    rows = ({0: Dim.AUTO},)
    return {
        "quantized_halves": (of(quantized_halves), [halves(), steps.float(), steps], None, []),
        "quantized_by_range": (of(quantized_by_range), [halves()], None, []),
        "pairs": (of(pairs), [r(5, 3)], (rows,), [r(8, 3)]),
    }


def pairs(x: torch.Tensor) -> Any:
    """The distances of all rows from one another."""
    return [functional.pdist(x, p) for p in (2.0, 1.0, 3.0, float("inf"))]
