"""Cases of elements, shapes, indices and matrices."""

import numpy as np
from maker import S, case, f, random

UNARY = """abs ceil floor rint round fix trunc exp expm1 sqrt rsqrt square cbrt rcbrt reciprocal
log log2 log10 log1p negative sign sin cos tan sinh cosh tanh arcsinh erf relu sigmoid softsign
degrees radians arctan logical_not BlockGrad identity zeros_like ones_like""".split()
BINARY = """broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_mod broadcast_power
broadcast_maximum broadcast_minimum broadcast_hypot broadcast_equal broadcast_not_equal
broadcast_greater broadcast_greater_equal broadcast_lesser broadcast_lesser_equal
broadcast_logical_and broadcast_logical_or broadcast_logical_xor""".split()


def elements():
    x = np.abs(f(3, 5)) + 0.3
    x[0, 0], x[0, 1], x[0, 2] = 1.5, 2.5, 1.0
    case("unary", lambda x: [getattr(S, name)(x) for name in UNARY], x=x)
    case(
        "unary_signed",
        lambda x: (
            [
                getattr(S, k)(x)
                for k in (
                    "abs",
                    "rint",
                    "round",
                    "fix",
                    "cbrt",
                    "arctan",
                    "arcsinh",
                    "expm1",
                    "sign",
                    "logical_not",
                )
            ]
            + [S.clip(x, -0.5, 0.75)]
        ),
        x=np.array([-2.5, -1.5, -0.5, 0, 0.5, 0.7, -1.2], "f"),
    )
    case(
        "inverse",
        lambda x: [S.arcsin(x), S.arccos(x), S.arctanh(x), S.arccosh(x + 2)],
        x=np.array([-0.9, 0.1, 0.7], "f"),
    )
    small = np.array([[1, 2, 0.5, 3], [2, 2, 1, 0.5]], "f")
    case(
        "binary",
        lambda a, b: [getattr(S, name)(a, b) for name in BINARY],
        a=small,
        b=np.array([[2, 2, 3, 0.5]], "f"),
    )
    case(
        "binary_signed",
        lambda a, b: [
            S.broadcast_mod(a, b),
            a + b,
            a - b,
            a * b,
            a / b,
            S.elemwise_add(a, b),
            S.add_n(a, b, a),
            S.where(a > b, a, b),
            a == b,
            a >= b,
        ],
        a=np.array([-3, 3, -2.5, 2], "f"),
        b=np.array([2, -2, 2, 2], "f"),
    )
    case(
        "scalars",
        lambda x: [
            x + 2,
            x - 2,
            2 - x,
            x * 3,
            x / 4,
            4 / x,
            x % 2,
            2 % x,
            x**2,
            2**x,
            x > 1,
            x < 1,
            x >= 1,
            x <= 1,
            x == 1,
            x != 1,
            S.maximum(x, 1.2),
            S.minimum(x, 1.2),
            S.hypot(x, 2),
        ],
        x=small,
    )
    case(
        "integers",
        lambda x: [x + 2, x % 3, x * 2, S.cast(x, "float32") / 2, -x],
        x=np.array([[-3, 2, 7]], "i4"),
    )


def shapes():
    x = f(2, 3, 4, 5)
    shapes = [
        (0, -1),
        (-2,),
        (0, -3, -2),
        (-4, 1, 2, -2),
        (0, 0, -4, -1, 2, 0),
        (-1, 0, 4),
        (4, 5, -1),
        (0, -3, 5),
        (0, -1, 10),
    ]
    case(
        "reshape",
        lambda x: (
            [S.reshape(x, shape=s) for s in shapes]
            + [
                S.reshape(x, shape=(-1, 0), reverse=True),
                S.reshape(x, shape=(0, -3, 0), reverse=True),
                S.Flatten(x),
                S.expand_dims(x, axis=-1),
                S.squeeze(S.expand_dims(x, axis=2)),
                S.squeeze(S.expand_dims(x, axis=2), axis=2),
                S.reshape_like(x, S.reshape(x, shape=(6, 20))),
            ]
        ),
        x=x,
    )
    case(
        "movement",
        lambda x: [
            S.transpose(x),
            S.transpose(x, axes=(0, 2, 3, 1)),
            S.SwapAxis(x, dim1=1, dim2=3),
            S.slice(x, begin=(0, 1), end=(2, 3)),
            S.slice(x, begin=(None, 2, None), end=(None, None, 0), step=(None, -1, -2)),
            S.slice_axis(x, axis=2, begin=-3, end=None),
            S.slice_axis(x, axis=1, begin=0, end=-1),
            S.flip(x, axis=1),
            S.reverse(x, axis=(0, 2)),
            S.tile(x, reps=(2, 1, 1, 3)),
            S.tile(x, reps=(2,)),
            S.repeat(x, repeats=2, axis=1),
            S.repeat(x, repeats=3),
            S.Pad(x, mode="constant", pad_width=(0, 0, 0, 0, 1, 2, 3, 0), constant_value=2.5),
            S.Pad(x, mode="reflect", pad_width=(0, 0, 0, 0, 1, 2, 3, 0)),
            S.Pad(x, mode="edge", pad_width=(0, 0, 0, 0, 1, 2, 3, 0)),
            S.Crop(x, offset=(1, 2), h_w=(2, 3), num_args=1),
            S.Crop(x, h_w=(2, 3), center_crop=True, num_args=1),
            S.slice_like(x, S.slice_axis(x, axis=3, begin=0, end=2)),
            S.slice_like(x, S.slice_axis(x, axis=3, begin=0, end=2), axes=(-1,)),
            S.shape_array(x),
            S.size_array(x),
            S.contrib.index_array(x, axes=(1, 3)),
        ],
        x=x,
    )
    case(
        "joins",
        lambda x: [
            S.Concat(x, x * 2, dim=1),
            S.Concat(x, x, dim=-1),
            S.stack(x, -x, axis=1),
            *S.SliceChannel(x, num_outputs=2, axis=2),
            *S.SliceChannel(x, num_outputs=3, axis=1, squeeze_axis=True),
            *S.split_v2(x, (1, 3), axis=2),
            *S.split_v2(x, 5, axis=3, squeeze_axis=True),
        ],
        x=x,
    )
    case(
        "broadcasts",
        lambda x, y: [
            S.broadcast_to(x, shape=(2, 0, 4)),
            S.broadcast_axis(x, axis=(0, 2), size=(2, 4)),
            S.broadcast_like(x, y),
            S.broadcast_like(x, y, lhs_axes=(0,), rhs_axes=(2,)),
        ],
        x=f(1, 3, 1),
        y=f(2, 3, 4),
    )
    case(
        "new",
        lambda x: [
            S.contrib.arange_like(x, axis=1),
            S.contrib.arange_like(x, start=1, step=2),
            S.zeros((2, 3)) + 1,
            S.arange(2, 8, 2, repeat=2),
            S.arange(4),
            S.full((2,), 3.5),
            S.eye(3, 4, 1),
            S.linspace(0, 1, 5),
            S.diag(x),
            S.diag(S.arange(3)),
        ],
        x=f(3, 4),
    )
    case(
        "blocks",
        lambda x: [S.depth_to_space(x, block_size=2), S.space_to_depth(x, block_size=2)],
        x=f(1, 8, 4, 2),
    )


def indices():
    i = np.array([[0, 2, 1], [5, -2, 1]], "f")
    case(
        "gathering",
        lambda x, w, i, p: [
            S.Embedding(S.slice_axis(i, axis=0, begin=0, end=1), w, input_dim=4, output_dim=3),
            S.take(w, i),
            S.take(w, i, axis=1, mode="wrap"),
            S.pick(x, p),
            S.pick(x, p, keepdims=True),
            S.one_hot(i, depth=4),
            S.one_hot(i, depth=3, on_value=2, off_value=-1),
            S.batch_take(x, S.cast(p, "int32")),
            S.gather_nd(x, S.stack(p, p)),
            S.scatter_nd(p, S.stack(p, p), shape=(3, 4)),
        ],
        x=f(2, 3),
        w=f(4, 3),
        i=i,
        p=np.array([1, 0], "f"),
    )
    x = random.permutation(24).reshape(2, 3, 4).astype("f")
    case(
        "order",
        lambda x: [
            S.topk(x, k=2),
            *S.topk(x, k=3, ret_typ="both", axis=1),
            S.topk(x, k=2, ret_typ="value", is_ascend=True),
            S.topk(x, k=2, ret_typ="mask"),
            S.topk(x, k=4, axis=None),
            S.sort(x),
            S.sort(x, axis=1, is_ascend=False),
            S.argsort(x),
            S.argmax(x, axis=1),
            S.argmin(x, axis=-1, keepdims=True),
            S.argmax(x),
            S.argmax_channel(S.reshape(x, shape=(0, -1))),
        ],
        x=x,
    )
    case(
        "sequences",
        lambda x, n: [
            S.SequenceMask(x, n, use_sequence_length=True, value=-1),
            S.SequenceMask(x),
            S.SequenceMask(S.transpose(x, axes=(1, 0, 2)), n, use_sequence_length=True, axis=1),
            S.SequenceLast(x, n, use_sequence_length=True),
            S.SequenceLast(x),
            S.SequenceReverse(x, n, use_sequence_length=True),
            S.SequenceReverse(x),
        ],
        x=f(4, 2, 3),
        n=np.array([2, 3], "f"),
    )
    y = f(2, 3, 4)
    case(
        "reductions",
        lambda x: [
            *(
                op(x, **how)
                for op in (S.sum, S.mean, S.prod, S.max, S.min, S.nansum)
                for how in ({}, {"axis": 1}, {"axis": (0, 2), "keepdims": True})
            ),
            S.sum(x, axis=1, exclude=True),
            S.norm(x),
            S.norm(x, ord=1, axis=1),
            S.norm(x, axis=2),
            *S.moments(x, axes=(0, 1)),
            S.cumsum(x, axis=1),
            S.cumsum(x),
        ],
        x=y,
    )


def matrices():
    case(
        "dot",
        lambda a, b: [
            S.dot(a, b),
            S.dot(b, a, transpose_a=True, transpose_b=True),
            S.dot(a, b, transpose_a=False),
            S.khatri_rao(a, S.transpose(b)),
            S.linalg.syrk(a),
            S.linalg.syrk(a, transpose=True, alpha=2),
        ],
        a=f(3, 4),
        b=f(4, 3),
    )
    case(
        "batch_dot",
        lambda a, b: [
            S.batch_dot(a, b),
            S.batch_dot(a, a, transpose_b=True),
            S.batch_dot(a, a, transpose_a=True),
            S.linalg.gemm2(a, b, alpha=0.5),
            S.linalg.gemm(a, b, S.batch_dot(a, b), beta=2.0),
            S.dot(a, S.slice_axis(S.reshape(b, shape=(4, -1)), axis=1, begin=0, end=5)),
        ],
        a=f(2, 3, 4),
        b=f(2, 4, 5),
    )
    qkv, kv, q = f(5, 2, 24), f(6, 2, 16), f(5, 2, 8)
    self_ = S.contrib.interleaved_matmul_selfatt_qk
    case(
        "attention",
        lambda x, kv, q: [
            self_(x, heads=2),
            S.contrib.interleaved_matmul_selfatt_valatt(x, S.softmax(self_(x, heads=2)), heads=2),
            S.contrib.interleaved_matmul_encdec_qk(q, kv, heads=2),
            S.contrib.interleaved_matmul_encdec_valatt(
                kv, S.softmax(S.contrib.interleaved_matmul_encdec_qk(q, kv, heads=2)), heads=2
            ),
            S.contrib.div_sqrt_dim(x),
        ],
        x=qkv,
        kv=kv,
        q=q,
    )
