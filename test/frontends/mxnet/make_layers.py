"""Cases of layers, detectors and recurrence."""

import numpy as np
from maker import S, case, f, random


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
