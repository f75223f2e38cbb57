"""Cases of NumPy's names, small integers, control flow, and rare parameters."""

import numpy as np
from maker import NP, NPX, S, case, f, random


def integers():
    """Quantized operators, as oneDNN computes them."""
    contrib = S.contrib

    def small(x, low=-2.0, high=2.5, kind="int8"):
        given = {"min_calib_range": low, "max_calib_range": high} if high else {}
        return contrib.quantize_v2(x, out_type=kind, **given)

    def weighted(make, x, w, b=None, **how):
        q = small(x, 0.0, 2.5, "uint8")
        ranges = {"min_weight": S.full((1,), -0.5), "max_weight": S.full((1,), 0.5)}
        bias = {"no_bias": True}
        if b is not None:
            bias = {"bias": S.cast(b, "int8")}
            bias |= {"min_bias": S.full((1,), -1.0), "max_bias": S.full((1,), 1.0)}
        given = {"data": q[0], "min_data": q[1], "max_data": q[2], "weight": S.cast(w, "int8")}
        return make(**given, **ranges, **bias, **how)

    x, whole = f(2, 4, 6, 6), lambda *s: random.integers(-127, 128, s).astype("f")
    case(
        "quantize",
        lambda x: [
            *small(x),
            *small(x, 0.0, 2.5, "auto"),
            *small(x, high=None),
            *contrib.quantize(x, S.full((1,), -1.0), S.full((1,), 2.0), out_type="uint8"),
            *contrib.quantize(x, S.full((1,), -1.0), S.full((1,), 2.0), out_type="int8"),
            contrib.dequantize(*small(x), out_type="float32"),
            contrib.dequantize(*small(x, 0.0, 2.5, "uint8"), out_type="float32"),
        ],
        x=x,
    )
    conv = {"kernel": (3, 3), "num_filter": 3}

    def products(x, w, b):
        plain = weighted(contrib.quantized_conv, x, w, stride=(2, 2), **conv)
        again = contrib.requantize(*plain, min_calib_range=-3.0, max_calib_range=3.0)
        return [
            *weighted(contrib.quantized_conv, x, w, b, pad=(1, 1), **conv),
            *plain,
            *contrib.requantize(*plain),
            *again,
            *contrib.quantized_act(*again, act_type="relu"),
            *contrib.quantized_pooling(*again, kernel=(2, 2), stride=(1, 1), pool_type="max"),
            *contrib.quantized_pooling(*again, kernel=(2, 2), stride=(1, 1), pool_type="avg"),
            *contrib.quantized_flatten(*again),
        ]

    case("quantized_conv", products, x=x, w=whole(3, 4, 3, 3), b=whole(3))
    case(
        "quantized_fully_connected",
        lambda x, w, b: [
            *weighted(contrib.quantized_fully_connected, x, w, b, num_hidden=5),
            *weighted(contrib.quantized_fully_connected, x, w, num_hidden=5),
        ],
        x=x,
        w=whole(5, 144),
        b=whole(5),
    )

    def elements(x, y):
        a, b = small(x), small(y, -1.0, 1.0)
        pair = (a[0], b[0], a[1], a[2], b[1], b[2])
        calibrated = {"min_calib_range": -3.5, "max_calib_range": 3.5}
        return [
            *contrib.quantized_elemwise_add(*pair, **calibrated),
            *contrib.quantized_elemwise_mul(*pair),
            *contrib.quantized_elemwise_mul(*pair, **calibrated),
            *contrib.quantized_concat(*pair, dim=1, num_args=2),
        ]

    case("quantized_elements", elements, x=x, y=f(2, 4, 6, 6))
    case(
        "quantized_embedding",
        lambda i, w: contrib.quantized_embedding(
            i, S.cast(w, "int8"), S.full((1,), -0.5), S.full((1,), 0.5), input_dim=7, output_dim=4
        ),
        i=np.array([1, 3, 6], "f"),
        w=whole(7, 4),
    )
    case(
        "quantized_batch_norm",
        lambda x, g, b, m, v: contrib.quantized_batch_norm(
            small(x)[0],
            g,
            b,
            m,
            v,
            *list(small(x))[1:],
            eps=1e-3,
            min_calib_range=-3.0,
            max_calib_range=3.0,
        ),
        x=f(1, 4, 3, 3),
        g=f(4),
        b=f(4),
        m=f(4),
        v=np.abs(f(4)) + 1,
    )


def deep():
    names = "exp log sqrt abs square sin tanh floor negative log1p".split()
    case("deep_unary", lambda x: [getattr(NP, k)(x) for k in names], True, x=np.abs(f(3, 4)) + 0.5)
    case(
        "deep_binary",
        lambda x, y: [
            x + y,
            x * y,
            x - y,
            x / y,
            x**2,
            2 - x,
            x > y,
            x == y,
            1 / x,
            NP.maximum(x, y),
            NP.arctan2(x, y),
            NP.matmul(x, y.T),
            NP.dot(x, y.T),
            NP.where(x > y, x, y),
            x % 2,
            NP.tensordot(x, y, axes=([1], [1])),
        ],
        True,
        x=np.abs(f(3, 4)) + 0.5,
        y=f(3, 4),
    )
    case(
        "deep_shapes",
        lambda x: [
            x.reshape(4, -1),
            NPX.reshape(x, (-2, -5)),
            NPX.reshape(x, (-6, 1, 2, -4)),
            x.T,
            x[:, 1:],
            x.transpose(1, 0, 2),
            NP.concatenate([x, x], axis=1),
            NP.stack([x, x], axis=1),
            NP.expand_dims(x, 1),
            x.sum(axis=1),
            x.mean(),
            NP.max(x, axis=(0, 1)),
            NP.squeeze(x[:1]),
            *NP.split(x, 2, axis=2),
            NP.repeat(x, 2, axis=1),
            NP.swapaxes(x, 0, 2),
            NP.tile(x, (2, 1)),
            NP.std(x, axis=1),
            NP.var(x),
            NP.argmax(x, axis=1),
            NP.cumsum(x, axis=1),
            NP.broadcast_to(x, (2, 2, 3, 4)),
            NP.flip(x, 1),
            NP.roll(x, 1, axis=2),
            x.astype("int32"),
        ],
        True,
        x=f(2, 3, 4),
    )
    case(
        "deep_layers",
        lambda x, w, b: [
            NPX.fully_connected(x, w, b, num_hidden=5),
            NPX.relu(x),
            NPX.sigmoid(x),
            NPX.softmax(x),
            NPX.log_softmax(x, axis=0),
            NPX.leaky_relu(x, act_type="gelu"),
            NPX.one_hot(NP.argmax(x, axis=1), 4),
            NPX.activation(x, act_type="softrelu"),
            NPX.pick(x, NP.argmax(x, axis=1)),
            NPX.batch_dot(NP.expand_dims(x, 0), NP.expand_dims(w.T, 0)),
        ],
        True,
        x=f(3, 4),
        w=f(5, 4),
        b=f(5),
    )


def numpy():
    """What only deep numpy has, and old names."""
    number = np.array([[1.5, -2, np.inf, np.nan], [-np.inf, 0, 3, -0.25]], "f")
    case(
        "deep_numpy_shapes",
        lambda x, y, v, m: [
            NP.atleast_3d(v),
            NP.atleast_2d(v),
            NP.rot90(x),
            NP.rot90(x, k=-1, axes=(0, 2)),
            NP.trace(x, offset=1, axis1=0, axis2=2),
            NP.diagonal(x, offset=-1, axis1=2, axis2=1),
            NP.tril(m, k=-1),
            NP.diff(x, n=2, axis=1),
            NP.einsum("ijk,ijl->ikl", x, y),
        ],
        deep=True,
        x=f(2, 3, 4),
        y=f(2, 3, 4),
        v=f(5),
        m=f(4, 5),
    )
    for name in ("hstack", "vstack", "dstack"):
        case(
            f"deep_{name}",
            lambda x, y: getattr(NP, name)([x, y]),
            deep=True,
            x=f(2, 3, 4),
            y=f(2, 3, 4),
        )
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        case(
            f"deep_{name}_of_vectors",
            lambda x, y: getattr(NP, name)([x, y]),
            deep=True,
            x=f(4),
            y=f(4),
        )
    case(
        "deep_numpy_elements",
        lambda x, y, c: [
            NP.nan_to_num(x),
            NP.nan_to_num(x, nan=1.0, posinf=2.0, neginf=-3.0),
            NP.isposinf(x),
            NP.isneginf(x),
            NP.copysign(y, c),
            NP.copysign(y, -2.0),
            NP.copysign(3.0, y),
            NP.ldexp(y, c),
            NP.all(y, axis=1),
            NP.any(x, axis=0, keepdims=True),
            NP.polyval(c[0], y),
        ],
        deep=True,
        x=number,
        y=f(2, 4),
        c=np.array([[1, 0, -2, 3], [2, -1, 0, 0]], "f"),
    )
    case(
        "deep_numpy_numbers",
        lambda x: [
            x + NP.hamming(5),
            x + NP.hanning(5),
            x + NP.blackman(5),
            x + NP.logspace(0.0, 1.0, 5),
            NP.indices((2, 3)),
        ],
        deep=True,
        x=f(5),
    )
    case(
        "positions_of_elements",
        lambda i: [
            S.unravel_index(i, shape=(2, 3, 4)),
            S.ravel_multi_index(S.stack(i, i, i), shape=(9, 8, 30)),
        ],
        i=np.array([3, 7, 21], "f"),
    )


def control():
    def steps(x, s, w):
        outputs, state = S.contrib.foreach(lambda d, s: (d * w + s, s * 0.5 + d), x, s)
        return [outputs, state]

    def two(x, y, s, t):
        def step(data, states):
            both = data[0] * states[1] + data[1]
            return [both, data[0] - states[0]], [states[0] + both, states[1] * 0.9]

        outputs, states = S.contrib.foreach(step, [x, y], [s, t])
        return [*outputs, *states]

    def loop(i, s, w):
        """What lies behind the rows that were computed is undefined, so all are."""
        outputs, states = S.contrib.while_loop(
            lambda i, a: i < 4, lambda i, a: ([a * w], [i + 1, a + w]), [i, s], 4
        )
        return [outputs[0], *states]

    def early(i, s, w):
        _, states = S.contrib.while_loop(
            lambda i, a: S.sum(a) < 20.0, lambda i, a: ([], [i + 1, a + w]), [i, s], 9
        )
        return states

    def chosen(i, s, w):
        found = S.contrib.cond(S.sum(i) < 3, lambda: [s + w, s], lambda: [s * w, s - 1.0])
        return list(found)

    case("foreach", steps, x=f(5, 2, 3), s=f(2, 3), w=f(2, 3))
    case("foreach_two", two, x=f(4, 3), y=f(4, 3), s=f(3), t=f(3))
    start = {"i": np.zeros(1, "f"), "s": np.ones((2, 2), "f"), "w": np.full((2, 2), 1.5, "f")}
    case("while_loop", loop, **start)
    case("while_loop_early", early, **start)
    case("cond_then", chosen, i=np.array([1.0], "f"), s=f(2, 3), w=f(2, 3))
    case("cond_else", chosen, i=np.array([5.0], "f"), s=f(2, 3), w=f(2, 3))


def corners():
    """Parameters that are rare, and those that a layer has without asking for them."""
    whole = {"kernel": (1, 1), "pooling_convention": "full", "stride": (2, 2), "pad": (0, 0)}
    case(
        "signed_powers",
        lambda x: [
            S.Pooling(x, pool_type="lp", p_value=p, **how)
            for p in (1, 2, 3)
            for how in (
                {"kernel": (2, 3), "stride": (1, 2), "pad": (0, 1)},
                {"global_pool": True, **whole},
            )
        ],
        x=f(2, 3, 5, 6),
    )
    case(
        "whole_images",
        lambda x: [S.Pooling(x, pool_type=k, global_pool=True, **whole) for k in ("avg", "max")],
        x=f(2, 3, 5, 6),
    )
    case(
        "single_elements",
        lambda x, i: [
            S.argmin(x, keepdims=True),
            S.argmax(x),
            S.pick(S.slice(x, begin=(1, 0), end=(2, 4)).reshape((4,)), i, axis=0, mode="wrap"),
            S.SequenceReverse(x, axis=0),
            S.argmax(S.slice(x, begin=(1, 0), end=(2, 4)).reshape((4,)), axis=0),
            S.mean(S.slice(x, begin=(1, 0), end=(2, 4)).reshape((4,)), axis=-1),
            S.sum(x, axis=(0, 1)),
        ],
        x=f(3, 4),
        i=np.array(5.0, "f"),
    )
    case(
        "old_pooling",  # pads maxima with zeros, and divides sums by the kernel's area
        lambda x: [
            S.Pooling_v1(
                x, kernel=(2, 3), stride=(1, 3), pad=(1, 1), pool_type=kind, pooling_convention=ends
            )
            for kind in ("max", "avg", "sum")
            for ends in ("valid", "full")
        ],
        x=f(2, 2, 5, 6) - 2,
    )
    case(
        "windows_of_padding",
        lambda x: [
            S.Pooling(x, kernel=(2, 2), stride=(3, 3), pooling_convention="full"),
            S.Pooling(x, kernel=(1, 2), pad=(1, 1)),
        ],
        x=f(1, 2, 6, 5),
    )
    case(
        "gamma_functions",
        lambda x, y: [S.gamma(x), S.gammaln(x), S.erfinv(y)],
        x=np.array([-2.5, -0.3, 0.2, 1.7, 5.5], "f"),
        y=np.array([-0.9, -0.1, 0.0, 0.5, 0.99], "f"),
    )
    case("moments_of_all", lambda x: S.moments(x, axes=(0,)), x=f(5))
