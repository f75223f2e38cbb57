"""Writes the files beside this script's folder `files`: run by a Python that has MXNet 1.9.1.

pip install numpy==1.23.5 && pip install --no-deps mxnet==1.9.1 && python make.py && python make.py recurrence && python make.py control && python make.py detectors && python make.py integers && python make.py numpy && python make.py corners
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

PART = sys.argv[1] if len(sys.argv) > 1 else "operators"
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
# Without oneDNN some operators of recurrence fail, with it some others.
os.environ["MXNET_MKLDNN_ENABLED"] = str(int(PART in ("recurrence", "integers")))
import mxnet as mx

FILES = Path(__file__).parent / "files"
S, NP, NPX = mx.sym, mx.sym.np, mx.sym.npx
random = np.random.default_rng(0)
CASES = []


def f(*shape):
    return random.standard_normal(shape).astype("f")


def case(name, make, deep=False, **inputs):
    """An operator, or several on the same inputs."""
    variables = {k: S.var(k) for k in inputs}
    if deep:
        variables = {k: v.as_np_ndarray() for k, v in variables.items()}
    made = make(**variables)
    CASES.append((name, S.Group(list(made)) if isinstance(made, (list, tuple)) else made, inputs))


def convolutions():
    w = f(6, 2, 3, 3)
    case(
        "convolution",
        lambda x, w, b: S.Convolution(
            x,
            w,
            b,
            kernel=(3, 3),
            stride=(2, 1),
            dilate=(1, 2),
            pad=(1, 2),
            num_filter=6,
            num_group=2,
        ),
        x=f(2, 4, 7, 8),
        w=w,
        b=f(6),
    )
    case(
        "convolution_1d",
        lambda x, w: S.Convolution(x, w, kernel=(3,), num_filter=5, no_bias=True),
        x=f(2, 4, 9),
        w=f(5, 4, 3),
    )
    case(
        "deconvolution",
        lambda x, w, b: [
            S.Deconvolution(
                x,
                w,
                b,
                kernel=(3, 3),
                stride=(2, 2),
                pad=(1, 1),
                adj=(1, 0),
                num_filter=6,
                no_bias=False,
            ),
            S.Deconvolution(x, w, kernel=(3, 3), stride=(2, 2), target_shape=(10, 9), num_filter=6),
        ],
        x=f(1, 4, 5, 4),
        w=f(4, 6, 3, 3),
        b=f(6),
    )
    case(
        "fully_connected",
        lambda x, w, b: [
            S.FullyConnected(x, w, b, num_hidden=5),
            S.FullyConnected(
                x,
                S.slice_axis(w, axis=1, begin=0, end=4),
                no_bias=True,
                num_hidden=5,
                flatten=False,
            ),
        ],
        x=f(2, 3, 4),
        w=f(5, 12),
        b=f(5),
    )


def poolings():
    for kind in ("max", "avg", "sum"):
        for convention in ("valid", "full"):
            case(
                f"pooling_{kind}_{convention}",
                lambda x: S.Pooling(
                    x,
                    kernel=(3, 2),
                    stride=(2, 3),
                    pad=(1, 0),
                    pool_type=kind,
                    pooling_convention=convention,
                ),
                x=f(1, 3, 8, 7),
            )
    case(
        "pooling_others",
        lambda x: [
            S.Pooling(
                x,
                kernel=(3, 3),
                stride=(2, 2),
                pad=(1, 1),
                pool_type="avg",
                count_include_pad=False,
            ),
            S.Pooling(
                x,
                kernel=(3, 3),
                stride=(2, 2),
                pad=(1, 1),
                pool_type="avg",
                count_include_pad=False,
                pooling_convention="full",
            ),
            S.Pooling(x, kernel=(2, 2), pool_type="lp", p_value=2),
            S.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg"),
            S.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="max"),
            S.Pooling(x, kernel=(2, 2), stride=(3, 3), pool_type="avg", pooling_convention="full"),
            S.contrib.AdaptiveAvgPooling2D(x, output_size=(3, 2)),
            S.contrib.AdaptiveAvgPooling2D(x, output_size=1),
        ],
        x=f(1, 3, 7, 8),
    )


def normalizations():
    four = {"g": f(4), "b": f(4)}
    case(
        "batch_norm",
        lambda x, g, b, m, v: [
            S.BatchNorm(x, g, b, m, v, eps=1e-3)[0],
            S.BatchNorm(x, g, b, m, v, fix_gamma=False, axis=1)[0],
        ],
        x=f(2, 4, 3, 3),
        m=f(4),
        v=np.abs(f(4)) + 1,
        **four,
    )
    case(
        "batch_norm_last",
        lambda x, g, b, m, v: S.BatchNorm(x, g, b, m, v, fix_gamma=False, axis=-1)[0],
        x=f(2, 3, 3, 4),
        m=f(4),
        v=np.abs(f(4)) + 1,
        **four,
    )
    case(
        "norms",
        lambda x, g, b: [
            S.InstanceNorm(x, g, b),
            S.GroupNorm(
                x, S.slice(g, begin=(0,), end=(2,)), S.slice(b, begin=(0,), end=(2,)), num_groups=2
            ),
            S.LayerNorm(x, g, b, axis=1),
            S.LayerNorm(S.transpose(x, axes=(0, 2, 3, 1)), g, b),
            S.LRN(x, nsize=3, alpha=0.1, beta=0.6, knorm=1.5),
            S.L2Normalization(x),
            S.L2Normalization(x, mode="channel"),
            S.L2Normalization(x, mode="spatial"),
        ],
        x=f(2, 4, 3, 3),
        **four,
    )
    case(
        "softmaxes",
        lambda x, t: [
            S.SoftmaxOutput(x),
            S.SoftmaxOutput(x, multi_output=True),
            S.SoftmaxOutput(x, preserve_shape=True),
            S.SoftmaxActivation(x, mode="channel"),
            S.SoftmaxActivation(x),
            S.softmax(x, axis=1),
            S.softmax(x, temperature=2.0),
            S.log_softmax(x),
            S.softmin(x),
            S.softmax(x, t, axis=1, use_length=True),
        ],
        x=f(2, 3, 4),
        t=np.array([[1, 2, 3, 1], [2, 2, 3, 3]], "i4"),
    )
    case(
        "activations",
        lambda x, s: [
            *(
                S.Activation(x, act_type=k)
                for k in ("relu", "sigmoid", "tanh", "softrelu", "softsign")
            ),
            *(S.LeakyReLU(x, act_type=k, slope=0.3) for k in ("leaky", "elu", "selu", "gelu")),
            S.LeakyReLU(x, s, act_type="prelu"),
            S.hard_sigmoid(x, alpha=0.3),
            S.smooth_l1(x, scalar=2),
            S.LogisticRegressionOutput(x),
            S.LinearRegressionOutput(x),
            S.Dropout(x),
        ],
        x=f(2, 3, 4),
        s=f(3),
    )


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


def images():
    case(
        "sampling",
        lambda x, w: [
            S.UpSampling(x, scale=2, sample_type="nearest", num_args=1),
            S.UpSampling(
                x,
                S.slice_axis(
                    S.repeat(S.repeat(x, repeats=2, axis=2), repeats=2, axis=3),
                    axis=1,
                    begin=0,
                    end=2,
                ),
                scale=4,
                sample_type="nearest",
                num_args=2,
            ),
            S.UpSampling(x, w, scale=2, sample_type="bilinear", num_args=2, num_filter=3),
            S.contrib.BilinearResize2D(x, height=5, width=9),
            S.contrib.BilinearResize2D(x, height=8, width=6, align_corners=False),
            S.contrib.BilinearResize2D(x, scale_height=2.0, scale_width=1.5, mode="size"),
        ],
        x=f(1, 3, 4, 4),
        w=f(3, 1, 4, 4),
    )
    case(
        "priors",
        lambda x: [
            S.contrib.MultiBoxPrior(x, sizes=(0.3, 0.5), ratios=(1, 2, 0.5), clip=True),
            S.contrib.MultiBoxPrior(x, sizes=(0.3,), steps=(0.2, 0.3), offsets=(0.4, 0.6)),
        ],
        x=f(1, 2, 3, 4),
    )
    count = 20
    corner = random.uniform(0, 0.6, (count, 2))
    anchors = np.concatenate([corner, corner + random.uniform(0.2, 0.4, (count, 2))], 1).astype("f")
    scores = random.dirichlet((1, 1, 1), (2, count)).transpose(0, 2, 1).astype("f")
    case(
        "detection",
        lambda c, o, a: [
            S.contrib.MultiBoxDetection(c, o, a, threshold=0.2, nms_threshold=0.4),
            S.contrib.MultiBoxDetection(
                c, o, a, threshold=0.1, nms_threshold=0.3, force_suppress=True, clip=False
            ),
        ],
        c=scores,
        o=0.5 * f(2, 4 * count),
        a=anchors[None],
    )
    boxes = np.concatenate(
        [
            random.integers(0, 3, (2, count, 1)).astype("f"),
            random.permutation(2 * count).reshape(2, count, 1).astype("f") / 50,
            np.stack([anchors, anchors[::-1]]),
        ],
        2,
    )
    case(
        "box_nms",
        lambda x: [
            S.contrib.box_nms(x, overlap_thresh=0.3, valid_thresh=0.2, id_index=0),
            S.contrib.box_nms(
                x, overlap_thresh=0.3, valid_thresh=0.1, id_index=0, force_suppress=True
            ),
            S.contrib.box_nms(
                x,
                overlap_thresh=0.2,
                topk=9,
                id_index=0,
                background_id=1,
                in_format="center",
                out_format="corner",
            ),
        ],
        x=boxes.astype("f"),
    )
    case(
        "boxes",
        lambda a, b, m: [
            S.contrib.box_iou(a, b),
            S.contrib.box_iou(a, b, format="center"),
            S.contrib.box_decode(
                m, S.expand_dims(a, axis=0), std0=0.1, std1=0.1, std2=0.2, std3=0.2, format="corner"
            ),
        ],
        a=anchors[:6],
        b=anchors[8:12],
        m=f(2, 6, 4),
    )
    rois = np.array([[0, 0.5, 1, 6.5, 6], [1, 2, 2, 5, 7.5], [0, 0, 0, 3, 3]], "f")
    case(
        "roi_align",
        lambda x, r: [
            S.contrib.ROIAlign(x, r, pooled_size=(2, 3), spatial_scale=0.8, sample_ratio=2),
            S.contrib.ROIAlign(x, r, pooled_size=(2, 2), spatial_scale=1.0, sample_ratio=-1),
            S.contrib.ROIAlign(
                x, r, pooled_size=(2, 2), spatial_scale=1.0, sample_ratio=2, aligned=True
            ),
            S.ROIPooling(x, r, pooled_size=(2, 2), spatial_scale=0.8),
        ],
        x=f(2, 3, 8, 8),
        r=rois,
    )


def detectors():
    """Proposals, moved windows, and images that are read at computed positions."""
    sure = random.permutation(2 * 24 * 30).reshape(2, 24, 5, 6).astype("f") / 1440
    info = np.array([[78, 96, 1.0], [70, 80, 0.5]], "f")
    given = {
        "rpn_pre_nms_top_n": 120,
        "rpn_post_nms_top_n": 30,
        "rpn_min_size": 12,
        "output_score": True,
    }
    case(
        "proposals",
        lambda s, m, i: [*S.contrib.MultiProposal(s, m, i, **given)],
        s=sure,
        m=0.3 * f(2, 48, 5, 6),
        i=info,
    )
    given = given | {"scales": (2, 4), "ratios": (0.4, 1, 3), "rpn_post_nms_top_n": 60}
    given |= {"threshold": 0.4, "rpn_min_size": 30}
    case(
        "proposals_repeated",
        lambda s, m, i: [*S.contrib.Proposal(s, m, i, **given)],
        s=sure[:1, :12],
        m=0.3 * f(1, 24, 5, 6),
        i=info[:1],
    )
    rois = np.array([[0, 0.5, 1, 12.5, 9], [1, 2, 2, 5, 7.5], [0, 0, 0, 3, 3]], "f")
    case(
        "own_channels",
        lambda x, r: S.contrib.PSROIPooling(
            x, r, spatial_scale=0.5, output_dim=3, pooled_size=2, group_size=2
        ),
        x=f(2, 12, 8, 8),
        r=rois,
    )
    windows = {"kernel": (3, 3), "stride": (2, 1), "pad": (1, 1), "num_filter": 6}
    windows |= {"num_deformable_group": 2}
    case(
        "deformable",
        lambda x, o, w, b: [
            S.contrib.DeformableConvolution(x, o, w, b, **windows),
            S.contrib.DeformableConvolution(x, o, w, no_bias=True, **windows),
        ],
        x=f(2, 4, 7, 8),
        o=f(2, 36, 4, 8),
        w=f(6, 4, 3, 3),
        b=f(6),
    )
    case(
        "modulated",
        lambda x, o, m, w, b: S.contrib.ModulatedDeformableConvolution(x, o, m, w, b, **windows),
        x=f(2, 4, 7, 8),
        o=f(2, 36, 4, 8),
        m=random.uniform(0, 1, (2, 18, 4, 8)).astype("f"),
        w=f(6, 4, 3, 3),
        b=f(6),
    )
    case(
        "positions",
        lambda x, t, w: [
            S.GridGenerator(t, transform_type="affine", target_shape=(5, 6)),
            S.GridGenerator(w, transform_type="warp"),
            S.BilinearSampler(x, S.GridGenerator(w, transform_type="warp")),
            S.SpatialTransformer(
                x, t, target_shape=(5, 6), transform_type="affine", sampler_type="bilinear"
            ),
        ],
        x=f(2, 3, 7, 8),
        t=np.array([[0.8, 0.3, 0.1, -0.2, 1.1, -0.1], [1, 0, 0.5, 0, 1, 0]], "f"),
        w=f(2, 2, 7, 8),
    )
    case(
        "columns",
        lambda x: [
            S.im2col(x, kernel=(3, 2), stride=(2, 1), pad=(1, 0)),
            S.col2im(
                S.im2col(x, kernel=(3, 2), stride=(2, 1), pad=(1, 0)),
                output_size=(7, 8),
                kernel=(3, 2),
                stride=(2, 1),
                pad=(1, 0),
            ),
        ],
        x=f(2, 3, 7, 8),
    )


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


def recurrence():
    for mode, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        for both in (False, True):
            d, h, i, layers = 1 + both, 4, 3, 2
            size = sum(d * gates * h * (w + h + 2) for w in (i, d * h))
            states = {k: f(layers * d, 2, h) for k in ("hc" if gates == 4 else "h")}
            case(
                f"{mode}{'_both' * both}",
                lambda x, p, **s: list(
                    S.RNN(
                        x,
                        p,
                        *s.values(),
                        state_size=h,
                        num_layers=layers,
                        bidirectional=both,
                        mode=mode,
                        state_outputs=True,
                    )
                ),
                x=f(5, 2, i),
                p=0.5 * f(size),
                **states,
            )

    for both in (False, True):
        d, h, i, layers, out = 1 + both, 4, 3, 2, 3
        size = sum(d * (4 * h * (w + out + 2) + out * h) for w in (i, d * out))
        case(
            f"lstm_projected{'_both' * both}",
            lambda x, p, h, c: list(
                S.RNN(
                    x,
                    p,
                    h,
                    c,
                    state_size=4,
                    projection_size=3,
                    num_layers=layers,
                    bidirectional=both,
                    mode="lstm",
                    state_outputs=True,
                )
            ),
            x=f(5, 2, i),
            p=0.5 * f(size),
            h=f(layers * d, 2, out),
            c=f(layers * d, 2, h),
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


def evaluated(name, symbol, inputs):
    """The outputs; labels and other inputs that matter in training only are zeros."""
    deep = name.startswith("deep")
    with mx.util.np_shape(deep), mx.util.np_array(deep):
        given = {k: mx.nd.array(v, dtype=v.dtype) for k, v in inputs.items()}
        if deep:
            given = {k: v.as_np_ndarray() for k, v in given.items()}
        known = {k: v.shape for k, v in inputs.items()}
        sizes, _, _ = symbol.infer_shape(**known)
        for argument, size in zip(symbol.list_arguments(), sizes or ()):  # None: not all are known
            if argument not in given:
                given[argument] = mx.nd.zeros(size)
        arguments = {k: given[k] for k in symbol.list_arguments()}
        others = {k: given[k] for k in symbol.list_auxiliary_states()}
        outputs = symbol.bind(mx.cpu(), arguments, aux_states=others).forward(is_train=False)
        return [y.asnumpy() for y in outputs]


def write_cases():
    makers = [convolutions, poolings, normalizations, elements, shapes, indices, matrices, images]
    parts = {"recurrence": [recurrence], "control": [control], "detectors": [detectors]}
    parts |= {"integers": [integers], "numpy": [numpy], "corners": [corners]}
    for make in parts.get(PART, [*makers, deep]):
        make()
    symbols, arrays = {}, {}
    for name, symbol, inputs in CASES:
        outputs = evaluated(name, symbol, inputs)
        symbols[name] = json.loads(symbol.tojson())
        arrays.update({f"{name}/in/{k}": v for k, v in inputs.items()})
        arrays.update({f"{name}/out/{i}": y for i, y in enumerate(outputs)})
        for label, y in zip(symbol.list_outputs(), outputs):
            if not np.isfinite(y.astype("f8")).all():
                print("not finite", name, label)
    text = json.dumps(symbols, separators=(",", ":"))
    (FILES / f"{PART}.json").write_text(text)
    np.savez_compressed(FILES / f"{PART}.npz", **arrays)


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    write_cases()
