"""Writes `files/`: groups of operations, and what OpenVINO's CPU plugin makes of them.

Run with a Python that has OpenVINO of 2026: `python test/frontends/openvino/make.py`.
"""

import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import (
    opset1,
    opset3,
    opset4,
    opset5,
    opset6,
    opset7,
    opset8,
    opset11,
    opset12,
    opset13,
    opset14,
    opset15,
    opset16,
)

FILES = Path(__file__).parent / "files"
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}


class Group:
    """A model that is many single operations, each with inputs and outputs of its own."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.random = name, np.random.default_rng(seed)
        self.is_open = False  # whether extents of inputs are left open
        self.parameters, self.inputs, self.outputs = [], [], []

    def f(self, *shape):
        return self.random.normal(size=shape).astype("f4")

    def k(self, value, kind=None):
        return opset16.constant(np.asarray(value, kind))

    def add(self, make, *values):
        """The outputs of `make` of parameters with these values."""
        own = []
        for value in map(np.asarray, values):
            name = f"x{len(self.inputs)}"
            shape = [-1] * value.ndim if self.is_open else list(value.shape)
            parameter = opset1.parameter(shape, value.dtype, name)
            parameter.output(0).set_names({name})
            own.append(parameter)
            self.inputs.append(value)
        self.parameters += own
        for one in make(*own).outputs():
            if not one.get_names():
                one.set_names({f"y{len(self.outputs)}"})
            self.outputs.append(one)

    def write(self, half: bool = False) -> None:
        path = FILES / f"{self.name}.xml"
        model = ov.Model(self.outputs, self.parameters, self.name)
        ov.save_model(model, path, compress_to_fp16=half)
        core = ov.Core()
        run = core.compile_model(core.read_model(path), "CPU", EXACT)
        found = run(self.inputs)
        kept = {f"x{i}": value for i, value in enumerate(self.inputs)}
        kept |= {f"out{i}": found[one] for i, one in enumerate(run.outputs)}
        np.savez_compressed(path.with_suffix(".npz"), **kept)
        print(self.name, len(self.outputs))


def elementwise() -> Group:
    g = Group("elementwise", 1)
    x = g.f(2, 3, 4)
    for op in "abs ceiling erf exp negative relu sigmoid sin softplus softsign tanh".split():
        g.add(getattr(opset1, op, None) or getattr(opset4, op, None) or getattr(opset13, op), x)
    g.add(opset4.mish, x)
    g.add(opset4.hswish, x)
    g.add(opset5.hsigmoid, x)
    for op in "add subtract multiply divide maximum floor_mod squared_difference less".split():
        g.add(getattr(opset1, op), x, g.f(3, 1))
    g.add(lambda a, b: opset1.mod(a, b), np.int32([-7, 7, 5]), np.int32([3, -3, 2]))
    for mode in ("half_to_even", "half_away_from_zero"):
        g.add(lambda a, mode=mode: opset5.round(a, mode), np.float32([-2.5, -0.5, 0.5, 1.5]))
    for mode in ("erf", "tanh"):
        g.add(lambda a, mode=mode: opset7.gelu(a, mode), x)
    g.add(lambda a: opset4.swish(a, g.k(1.7, "f4")), x)
    g.add(lambda a: opset1.elu(a, 0.7), x)
    g.add(lambda a: opset1.selu(a, g.k([1.3], "f4"), g.k([0.9], "f4")), x)
    g.add(lambda a: opset1.hard_sigmoid(a, g.k(0.3, "f4"), g.k(0.4, "f4")), x)
    g.add(lambda a: opset1.clamp(a, -0.3, 0.6), x)
    g.add(lambda a: opset1.clamp(a, -1.5, 2.7), np.int32([-5, -1, 2, 9]))
    g.add(lambda a: opset1.prelu(a, g.k(g.f(3))), x)
    g.add(lambda a: opset8.softmax(a, -2), x)
    g.add(lambda a: opset5.log_softmax(a, 1), x)
    g.add(lambda a: opset1.convert(a, "i32"), x * 3)
    g.add(lambda a: opset1.convert(a, "boolean"), np.float32([0, 0.3, -2]))
    g.add(lambda a, b, c: opset1.select(a, b, c), x > 0, x, g.f(3, 1))
    for levels, low, high, first, last in (
        (2, -1, 1, -1, 1),
        (255, -0.5, 2, 0, 3),
        (16, 0, 2, 2, 0),
    ):
        ends = [g.k(v, "f4") for v in (low, high, first, last)]
        g.add(lambda a, n=levels, e=ends: opset1.fake_quantize(a, *e, n), x)
    return g


def windows() -> Group:
    g = Group("windows", 2)
    x = g.f(2, 4, 7, 8)
    weight = g.k(g.f(3, 4, 3, 2))
    for pad in ("explicit", "same_upper", "same_lower", "valid"):
        g.add(lambda a, p=pad: opset1.convolution(a, weight, [2, 1], [1, 0], [0, 2], [1, 2], p), x)
    groups = g.k(g.f(2, 3, 2, 3, 3))
    g.add(lambda a: opset1.group_convolution(a, groups, [1, 2], [1, 1], [1, 1], [1, 1]), x)
    back = g.k(g.f(4, 3, 3, 2))
    g.add(
        lambda a: opset1.convolution_backprop_data(
            a, back, [2, 3], None, [1, 0], [0, 1], [1, 2], "explicit", [1, 0]
        ),
        x,
    )
    back_groups = g.k(g.f(2, 2, 3, 2, 2))
    g.add(
        lambda a: opset1.group_convolution_backprop_data(
            a, back_groups, [2, 2], None, [0, 0], [0, 0], [1, 1], "explicit", [1, 0]
        ),
        x,
    )
    for rounding in ("floor", "ceil", "ceil_torch"):
        how = [2, 2], [1, 1], [1, 0], [1, 0], [3, 2], rounding
        g.add(lambda a, h=how: opset14.max_pool(a, *h), x)
        g.add(lambda a, h=how: opset14.avg_pool(a, h[0], *h[2:5], True, h[5]), x)
    g.add(lambda a: opset1.avg_pool(a, [2, 2], [1, 0], [1, 0], [3, 2], False, "floor"), x)
    how = [2, 2], [1, 1], [1, 0], [1, 0], [3, 2], "floor", "explicit", "i64", 2
    g.add(lambda a: opset1.abs(opset14.max_pool(a, *how).output(0)), x)  # indices are not used
    g.add(lambda a: opset8.adaptive_avg_pool(a, g.k([3, 5])), x)
    for mode, where, nearest in (
        ("nearest", "asymmetric", "floor"),
        ("nearest", "half_pixel", "round_prefer_ceil"),
        ("linear_onnx", "half_pixel", "floor"),
        ("linear", "align_corners", "floor"),
        ("cubic", "pytorch_half_pixel", "floor"),
    ):
        for form, given in (("sizes", g.k([5, 11])), ("scales", g.k([0.7, 1.5], "f4"))):
            rest = mode, form, [0] * 4, [0] * 4, where, nearest, False, -0.5, g.k([2, 3])
            g.add(lambda a, s=given, r=rest: opset11.interpolate(a, s, *r), x)
    return g


def movement() -> Group:
    g = Group("movement", 3)
    x = g.f(2, 5, 6)
    g.add(lambda a: opset1.reshape(a, g.k([0, -1, 3]), True), x)
    g.add(lambda a: opset1.squeeze(a, g.k([0, -1])), g.f(1, 3, 1))
    g.add(lambda a: opset1.unsqueeze(a, g.k([0, -1, 2])), g.f(4, 6))
    g.add(lambda a: opset1.transpose(a, g.k([], "i8")), x)
    g.add(lambda a: opset1.split(a, g.k(-1), 3), x)
    g.add(lambda a: opset1.variadic_split(a, g.k(1), g.k([1, -1, 2])), x)
    g.add(lambda a, b: opset1.concat([a, b], -2), x, g.f(2, 3, 6))
    g.add(lambda a: opset3.shape_of(a, "i32"), x)
    g.add(lambda a: opset8.gather(a, g.k([[-1, 0]]), g.k(2)), x)
    g.add(lambda a: opset8.gather(a, g.k([[0, 1], [4, 2]]), g.k(2), -1), x)
    g.add(lambda a: opset8.gather_nd(a, g.k([[1], [4]]), 1), x)
    g.add(lambda a: opset8.slice(a, g.k([1, -2]), g.k([5, -100]), g.k([2, -1]), g.k([1, 2])), x)
    for masks in (
        ([1, 0, 0], [0, 1, 0], [], [], []),
        ([0, 0, 0], [0, 0, 0], [0, 1, 0], [], []),
        ([0, 0, 0], [0, 0, 0], [], [], [1, 0, 0]),
        ([1, 0, 0], [0, 0, 0], [], [], [1, 0, 0]),
    ):
        begin, new, shrink, ellipsis, end = masks[0], masks[1], masks[4], masks[2], masks[3]
        bounds = g.k([1, 1, -2]), g.k([2, 4, 100]), g.k([1, 2, 1])
        rest = begin, end, new, shrink, ellipsis
        g.add(lambda a, b=bounds, r=rest: opset1.strided_slice(a, *b, *r), g.f(4, 5, 6))
    g.add(lambda a: opset3.broadcast(a, g.k([2, 4, 6]), g.k([1]), "explicit"), g.f(4))
    g.add(lambda a: opset3.broadcast(a, g.k([4, 1]), broadcast_spec="bidirectional"), g.f(2, 1, 3))
    g.add(lambda a: opset1.tile(a, g.k([2, 1, 3, 1])), x)
    for mode in ("constant", "edge", "reflect"):
        fill = g.k(0.7, "f4") if mode == "constant" else None
        g.add(lambda a, m=mode, f=fill: opset12.pad(a, g.k([0, 1, 2]), g.k([1, 0, 3]), m, f), x)
    at = np.array([[0, 4, -1], [7, 2, -5]])
    g.add(lambda a: opset1.one_hot(a, g.k(5), g.k(2, "f4"), g.k(-1, "f4"), 1), at)
    for mode in ("blocks_first", "depth_first"):
        g.add(lambda a, m=mode: opset1.depth_to_space(a, m, 2), g.f(1, 8, 3, 4))
        g.add(lambda a, m=mode: opset1.space_to_depth(a, m, 2), g.f(1, 3, 4, 6))
    g.add(lambda a: opset7.roll(a, g.k([1, -2]), g.k([0, 2])), x)
    g.add(lambda a: opset1.reverse_sequence(a, g.k([3, 5]), 0, 1), x)
    updates = g.k(g.f(2, 2, 2, 6))
    g.add(lambda a: opset3.scatter_update(a, g.k([[0, 3], [1, 4]]), updates, g.k(1)), x)
    for how in ("none", "sum", "max"):
        updates = g.k(g.f(2, 6))
        g.add(
            lambda a, h=how, u=updates: opset15.scatter_nd_update(a, g.k([[0, 1], [1, 4]]), u, h), x
        )
    return g


def reductions() -> Group:
    g = Group("reductions", 4)
    x, image = g.f(2, 5, 6), g.f(2, 6, 3, 4)
    for name in "l1 l2 max mean min prod sum".split():
        op = getattr(opset1, f"reduce_{name}", None) or getattr(opset4, f"reduce_{name}")
        g.add(lambda a, op=op: op(a, g.k([0, -1]), False), x)
        g.add(lambda a, op=op: op(a, g.k([], "i8"), True), x)
    for a, b in ((False, False), (True, True)):
        shapes = ((2, 5, 3), (4, 5)) if a else ((2, 3, 5), (5, 4))
        g.add(lambda x, y, a=a, b=b: opset1.matmul(x, y, a, b), *(g.f(*s) for s in shapes))
    for axes in ([2, 3], [1, 2, 3], [1]):
        for mode in ("inside_sqrt", "outside_sqrt"):
            g.add(lambda a, x=axes, m=mode: opset6.mvn(a, g.k(x), True, 0.1, m), image)
        g.add(lambda a, x=axes: opset1.normalize_l2(a, g.k(x), 0.5, "add"), image)
        g.add(lambda a, x=axes: opset1.normalize_l2(a, g.k(x), 2.5, "max"), image)
    g.add(lambda a: opset1.lrn(a, g.k([1]), 0.5, 0.6, 1.0, 3), image)
    scale, bias = g.k(g.f(6)), g.k(g.f(6))
    g.add(lambda a: opset12.group_normalization(a, scale, bias, 3, 0.1), image)
    spread = g.k(np.abs(g.f(6)) + 0.1)
    g.add(lambda a: opset5.batch_norm_inference(a, scale, bias, bias, spread, 0.1), image)
    g.add(lambda a: opset3.cum_sum(a, g.k(1), True, True), x)
    for mode in ("max", "min"):
        for order in ("value", "index"):
            g.add(lambda a, m=mode, o=order: opset11.topk(a, g.k(3), -1, m, o), x)
    q, k, v = g.f(2, 3, 4, 5), g.f(2, 3, 6, 5), g.f(2, 3, 6, 5)
    attend = opset13.scaled_dot_product_attention
    g.add(lambda q, k, v: attend(q, k, v, causal=True), q, k, v)
    seen = np.tril(np.ones((4, 6))) > 0
    g.add(lambda q, k, v, m: attend(q, k, v, m, g.k(0.3, "f4")), q, k, v, seen)
    return g


def recurrent() -> Group:
    g = Group("recurrent", 5)
    for direction, lengths in (("forward", [4, 2]), ("reverse", [4, 4]), ("bidirectional", [4, 3])):
        d = 2 if direction == "bidirectional" else 1
        x, h, full = g.f(2, 4, 3), g.f(2, d, 5), g.k(lengths, "i4")
        w = [g.k(g.f(d, 20, n)) for n in (3, 5)] + [g.k(g.f(d, 20))]
        sequence = opset5.lstm_sequence
        g.add(lambda x, h, c, w=w, l=full, d=direction: sequence(x, h, c, l, *w, 5, d), x, h, h)
        w = [g.k(g.f(d, 5, n)) for n in (3, 5)] + [g.k(g.f(d, 5))]
        g.add(lambda x, h, w=w, l=full, d=direction: opset5.rnn_sequence(x, h, l, *w, 5, d), x, h)
        for late in (False, True):
            w = [g.k(g.f(d, 15, n)) for n in (3, 5)] + [g.k(g.f(d, 20 if late else 15))]
            rest = {"linear_before_reset": late}
            g.add(
                lambda x, h, w=w, l=full, d=direction, r=rest: opset5.gru_sequence(
                    x, h, l, *w, 5, d, **r
                ),
                x,
                h,
            )
    w = [g.k(g.f(20, n)) for n in (3, 5)] + [g.k(g.f(20))]
    g.add(lambda x, h, c: opset4.lstm_cell(x, h, c, *w, 5), g.f(2, 3), g.f(2, 5), g.f(2, 5))
    return g


def packed() -> Group:
    """Weights of 4 and of 8 bits, and, with `half`, of 16."""
    g = Group("packed", 6)
    steps = ov.op.Constant(ov.Type.u4, ov.Shape([6, 5]), np.arange(30) % 16)
    signed = ov.op.Constant(ov.Type.i4, ov.Shape([6, 5]), np.arange(30) % 16 - 8)
    for weight in (steps, signed, g.k(np.arange(30).reshape(6, 5) - 9, "i1")):
        real = opset1.multiply(opset1.convert(weight, "f32"), g.k(g.f(1, 5)))
        g.add(lambda a, w=real: opset1.matmul(a, w, False, False), g.f(4, 6))
    whole = g.k(g.f(6, 5))
    g.add(lambda a: opset1.matmul(a, whole, False, False), g.f(4, 6))
    return g


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for make in (elementwise, windows, movement, reductions, recurrent, packed):
        if make.__name__ in (sys.argv[1:] or [make.__name__]):
            make().write(make is packed)
