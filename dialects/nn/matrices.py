"""Functions of square matrices."""

from __future__ import annotations

from ..vocabulary import *
from .base import NnOp, is_float, tensor


class Determinant(NnOp, name="nn.determinant"):
    """The determinants of square matrices.

    Shapes: x [B.., N, N] -> out [B..]. Numerics: f16 and bf16 are computed in f32.
    Source: ONNX Det-22.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = "%d = nn.determinant %x : (tensor<4x3x3xf32>) -> tensor<4xf32>"

    @classmethod
    def infer(cls, types, attrs):
        (x,) = types
        if x.rank < 2 or not is_float(x.element_type):
            raise NncError(f"x must be matrices of floats, but got '{x}'")
        rows, columns = x.shape[-2:]
        if None not in (rows, columns) and rows != columns:
            raise NncError(f"the matrices of '{x}' are not square")
        return [tensor(x.shape[:-2], x.element_type)]

    def evaluate(self, x):
        wide = x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)
        return np.asarray(np.linalg.det(wide)).astype(x.dtype)
