"""Cases of convolutions and poolings."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from maker import I, V, X, case, f


def conv(x, w, **k):
    return lax.conv_general_dilated(x, w, **k)


im = f(2, 3, 9, 8)
imh = f(2, 9, 8, 3)
case(
    "conv_nchw",
    lambda x, w: conv(x, w, window_strides=(2, 1), padding=((1, 1), (0, 2))),
    im,
    f(5, 3, 3, 2),
)
case(
    "conv_nhwc",
    lambda x, w: conv(
        x, w, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
    imh,
    f(3, 3, 3, 4),
)
case(
    "conv_group",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding="VALID", feature_group_count=3),
    im,
    f(6, 1, 3, 3),
)
case(
    "conv_dw",
    lambda x, w: conv(
        x,
        w,
        window_strides=(2, 2),
        padding="SAME",
        feature_group_count=3,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    ),
    imh,
    f(3, 3, 1, 3),
)
case(
    "conv_dil",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding=((2, 2), (2, 2)), rhs_dilation=(2, 2)),
    im,
    f(4, 3, 3, 3),
)
case(
    "conv_lhsdil",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding=((1, 2), (1, 1)), lhs_dilation=(2, 2)),
    im,
    f(4, 3, 3, 3),
)
case("conv_t", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), imh, f(3, 3, 3, 4))
case(
    "conv1d", lambda x, w: conv(x, w, window_strides=(1,), padding="SAME"), f(2, 3, 10), f(4, 3, 3)
)
case(
    "conv3d",
    lambda x, w: conv(x, w, window_strides=(1, 1, 1), padding="VALID"),
    f(1, 2, 5, 5, 5),
    f(3, 2, 2, 2, 2),
)
case(
    "conv_batchgroup",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding="VALID", batch_group_count=2),
    f(4, 3, 6, 6),
    f(4, 3, 3, 3),
)
case(
    "conv_rev",
    lambda x, w: conv(x, lax.rev(w, (2, 3)), window_strides=(1, 1), padding="VALID"),
    im,
    f(4, 3, 3, 3),
)
case("convolve", lambda a, c: jnp.convolve(a, c), V, f(3))
case("correlate", lambda a, c: jnp.correlate(a, c, "same"), V, f(3))
case(
    "conv_negpad",
    lambda x, w: conv(x, w, window_strides=(1, 1), padding=((-1, -1), (0, -1))),
    im,
    f(4, 3, 3, 3),
)
case(
    "conv_grad",
    lambda x, w: jax.grad(
        lambda x, w: (conv(x, w, window_strides=(2, 2), padding="SAME") ** 2).sum(), (0, 1)
    )(x, w),
    im,
    f(4, 3, 3, 3),
)
case(
    "conv_groupgrad",
    lambda x, w: jax.grad(
        lambda x, w: (
            conv(x, w, window_strides=(1, 1), padding="SAME", feature_group_count=3) ** 2
        ).sum(),
        (0, 1),
    )(x, w),
    im,
    f(6, 1, 3, 3),
)
case("patches", lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "VALID"), im)
case(
    "maxpool",
    lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
    imh,
)
case(
    "avgpool",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "VALID") / 9,
    im,
)
case(
    "minpool",
    lambda x: lax.reduce_window(
        x, np.inf, lax.min, (1, 1, 3, 3), (1, 1, 1, 1), ((0, 0), (0, 0), (1, 1), (1, 1))
    ),
    im,
)
case(
    "pool_dil",
    lambda x: lax.reduce_window(
        x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 1, 1), "VALID", window_dilation=(1, 1, 2, 2)
    ),
    im,
)
case(
    "pool_base",
    lambda x: lax.reduce_window(
        x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 1, 1), "VALID", base_dilation=(1, 1, 2, 2)
    ),
    im,
)
case(
    "pool_init",
    lambda x: lax.reduce_window(x, 1.5, lax.add, (1, 1, 2, 2), (1, 1, 1, 1), "SAME"),
    im,
)
case("pool_prod", lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 1), "VALID"), X)
case(
    "pool_i",
    lambda x: lax.reduce_window(x, np.int32(-(2**31)), lax.max, (2, 2), (1, 1), "VALID"),
    I,
)
case(
    "maxpool_grad",
    lambda x: jax.grad(
        lambda x: (
            lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") ** 2
        ).sum()
    )(x),
    im,
)
case(
    "maxpool_grad_same",
    lambda x: jax.grad(
        lambda x: (
            lax.reduce_window(x, -np.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME") ** 2
        ).sum()
    )(x),
    im,
)
case(
    "avgpool_grad",
    lambda x: jax.grad(
        lambda x: (
            lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "SAME") ** 2
        ).sum()
    )(x),
    im,
)
