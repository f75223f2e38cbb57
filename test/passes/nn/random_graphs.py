"""Random graphs of nn ops that verify, for property tests."""

from __future__ import annotations

import numpy as np
from nnc.dialects import nn
from nnc.ir.builder import Builder
from nnc.ir.core import Value

from .graphs import t, value_of

UNARY = [nn.Relu, nn.Neg, nn.Abs, nn.Sigmoid, nn.Tanh, nn.Gelu, nn.HardSwish, nn.Softplus]
BINARY = [nn.Add, nn.Sub, nn.Mul, nn.Max, nn.Min]


class RandomGraph:
    """Grows a graph op by op from values of known static shape."""

    def __init__(self, seed: int, size: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.size = size
        self.values: list[Value] = []
        shapes = [(2, 4, 6, 6), (3, 8), (1, 5, 8)]
        self.arrays = [self.rng.standard_normal(s).astype(np.float32) for s in shapes]

    def build(self, b: Builder, *args: Value) -> list[Value]:
        """Insert ops; the results are those that nothing uses, and one that something does."""
        self.b, self.values = b, list(args)
        steps = [self.unary, self.unary, self.binary, self.binary, self.conv, self.matmul]
        steps += [self.reshape, self.transpose, self.row_wise, self.reduce, self.cut, self.join]
        for _ in range(self.size):
            made = steps[self.rng.integers(len(steps))](self.pick())
            if made is not None:
                self.values.append(b(made).results[0])
        unused = [v for v in self.values if not v.has_uses and v.defining_op is not None]
        return [*unused, self.pick()]

    def pick(self) -> Value:
        # The newest values are the likeliest, so that chains form.
        at = len(self.values) - 1 - int(self.rng.exponential(2.0))
        return self.values[max(at, 0)]

    def constant(self, *shape: int) -> Value:
        if self.rng.random() < 0.2:
            return value_of(self.b, np.full(shape, self.rng.choice([0.0, 1.0, 2.0]), np.float32))
        return value_of(self.b, (self.rng.standard_normal(shape) * 0.5).astype(np.float32))

    def shape(self, x: Value) -> tuple[int, ...]:
        return x.type.shape  # type: ignore[attr-defined]

    def unary(self, x: Value):
        return UNARY[self.rng.integers(len(UNARY))](x)

    def binary(self, x: Value):
        shape = self.shape(x)
        same = [v for v in self.values if self.shape(v) == shape]
        choice = self.rng.integers(5)
        if choice == 0:
            other = self.constant()
        elif choice == 1:
            other = self.constant(*shape[-1:])
        elif choice == 2 and len(shape) == 4:
            other = self.constant(shape[1], 1, 1)
        else:
            other = same[self.rng.integers(len(same))]
        pair = [x, other] if self.rng.random() < 0.5 else [other, x]
        return BINARY[self.rng.integers(len(BINARY))](*pair)

    def conv(self, x: Value):
        if len(self.shape(x)) != 4 or min(self.shape(x)) < 1:
            return None
        C = self.shape(x)[1]
        groups = C if self.rng.random() < 0.3 else 1
        M = C if groups == C else int(self.rng.integers(1, 5))
        w = self.constant(M, C // groups, 3, 3)
        bias = self.constant(M) if self.rng.random() < 0.5 else None
        y = self.b(nn.Conv(x, w, bias, pads=(1, 1, 1, 1), groups=groups)).result
        if self.rng.random() < 0.5:
            scale, shift, mean = (self.constant(M) for _ in range(3))
            var = value_of(self.b, np.abs(self.rng.standard_normal(M)).astype(np.float32) + 0.5)
            y = self.b(nn.BatchNorm(y, scale, shift, mean, var)).result
        return nn.MaxPool(y, kernel=(2, 2)) if min(self.shape(y)[2:]) > 4 else nn.Relu(y)

    def matmul(self, x: Value):
        shape = self.shape(x)
        if len(shape) < 2 or 0 in shape:
            return None
        if self.rng.random() < 0.3:
            order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
            return nn.Matmul(x, self.b(nn.Transpose(x, order)))
        return nn.Matmul(x, self.constant(shape[-1], int(self.rng.choice([3, 8]))))

    def reshape(self, x: Value):
        shape = self.shape(x)
        total = int(np.prod(shape))
        if len(shape) > 2 and self.rng.random() < 0.5:
            return nn.Reshape(x, out=t(total // shape[-1], shape[-1]))
        if shape and shape[-1] % 2 == 0:
            return nn.Reshape(x, out=t(*shape[:-1], 2, shape[-1] // 2))
        return nn.Reshape(x, out=t(1, *shape)) if len(shape) < 4 else None

    def transpose(self, x: Value):
        order = self.rng.permutation(len(self.shape(x)))
        return nn.Transpose(x, [int(i) for i in order])

    def row_wise(self, x: Value):
        shape = self.shape(x)
        if not shape:
            return None
        axis = len(shape) - 1
        match self.rng.integers(3):
            case 0:
                return nn.Softmax(x, axis=int(self.rng.integers(len(shape))))
            case 1:
                return nn.LayerNorm(
                    x, self.constant(shape[-1]), self.constant(shape[-1]), axis=axis
                )
        mean = self.b(nn.ReduceMean(x, axes=(axis,), keep_dims=True))
        centered = self.b(nn.Sub(x, mean))
        return nn.Mul(centered, self.b(nn.ReduceMax(centered, axes=(axis,), keep_dims=True)))

    def reduce(self, x: Value):
        rank = len(self.shape(x))
        if rank < 2:
            return None
        cls = [nn.ReduceSum, nn.ReduceMean, nn.ReduceMax, nn.ReduceL2][self.rng.integers(4)]
        keep = bool(self.rng.random() < 0.5)
        return cls(x, axes=(int(self.rng.integers(rank)),), keep_dims=keep)

    def cut(self, x: Value):
        shape = self.shape(x)
        wide = [d for d, n in enumerate(shape) if n > 1]
        if not wide:
            return None
        axis = int(self.rng.choice(wide))
        half = shape[axis] // 2
        parts = [t(*shape[:axis], n, *shape[axis + 1 :]) for n in (half, shape[axis] - half)]
        if self.rng.random() < 0.5:
            return nn.Split(x, axis=axis, outs=parts)
        starts = [shape[axis] - half if d == axis else 0 for d in range(len(shape))]
        return nn.Slice(x, starts, out=parts[0])

    def join(self, x: Value):
        shape = self.shape(x)
        if not shape or int(np.prod(shape)) > 2000:
            return None
        return nn.Concat([x, x], axis=int(self.rng.integers(len(shape))))
