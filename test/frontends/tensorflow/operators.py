"""Functions of TensorFlow's operators, by topic, of which `make.py` makes graphs."""

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla as tfxla

F32 = tf.float32


def arithmetic(x, y):
    i = tf.cast(x * 10, tf.int32)
    return (
        *(x // y, x % y, tf.truncatediv(i, 3), i // 3, i % 3, i // -3, tf.truncatemod(i, 4)),
        *(tf.atan2(x, y), tf.minimum(x, y), tf.math.squared_difference(x, y), tf.pow(x * x, y)),
        *(tf.math.divide_no_nan(x, tf.nn.relu(y)), tf.add_n([x, y, x]), tf.cast(x > y, F32)),
        *(tf.math.logical_xor(x > 0, y > 0), tf.where(x > 0, x, y), tf.math.is_finite(x)),
        *(tf.math.xlogy(tf.nn.relu(x), tf.abs(y)), tf.clip_by_value(x, -0.5, 0.5), x != y),
        *(
            tf.bitwise.bitwise_and(i, 5),
            tf.bitwise.left_shift(i, 2),
            tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 1.0]),
        ),
    )


def activations(x):
    return (
        *(tf.nn.gelu(x), tf.nn.gelu(x, approximate=True), tf.nn.silu(x), tf.nn.elu(x)),
        *(tf.nn.selu(x), tf.nn.leaky_relu(x), tf.nn.softplus(x), tf.round(x * 3), tf.sign(x)),
        *(tf.math.erf(x), tf.math.log1p(tf.abs(x)), tf.math.expm1(x), tf.nn.relu6(x * 6)),
        *(tf.math.rsqrt(tf.abs(x)), tf.nn.crelu(x), tf.nn.softmax(x), tf.nn.log_softmax(x)),
        tf.quantization.fake_quant_with_min_max_args(x, -1.0, 2.0),
        tf.quantization.fake_quant_with_min_max_vars(x, -1.3, 0.7, narrow_range=True),
    )


def reductions(x):
    values, indices = tf.math.top_k(x, 2)
    return (
        *(tf.reduce_sum(x, [0, 2]), tf.reduce_mean(x, -1, keepdims=True), values, indices),
        *(tf.reduce_logsumexp(x), tf.argmax(x, 1), tf.argmin(x, 2, tf.int32)),
        *(tf.reduce_any(x > 1, 1), tf.reduce_all(x > -1, 1), tf.cumsum(x, 1, exclusive=True)),
        *(tf.math.cumprod(x, 2, reverse=True), tf.nn.l2_normalize(x, -1), tf.nn.l2_loss(x)),
        *(tf.math.reduce_std(x), tf.reduce_prod(x, 1), tf.reduce_max(x, [1, 2])),
        *(tf.norm(x, axis=1), tf.math.unsorted_segment_max(x, [1, 0], 3), tf.where(x > 0)),
    )


def slices(x):
    return (
        *(x[:, 1:-1:2, ..., tf.newaxis, 0], x[..., ::-1], x[-1, :, 2], x[1:, tf.newaxis, -2:]),
        tf.strided_slice(x, [0, 0, 0], [2, 3, 4], [1, 2, 2]),
        tf.slice(x, [0, 1, 0], [-1, 2, 3]),
        tf.reshape(x, [tf.shape(x)[0], -1]),
        tf.tile(x, [1, tf.shape(x)[0], 2]),
        tf.reverse(x, [1]),
        tf.broadcast_to(x[:, :1], tf.shape(x)),
        tf.zeros(tf.shape(x)[:2]) + 1,
    )


def updates(x, update, start):
    """Starts inside of x, before it, and where the update would reach beyond it."""
    write = tfxla.dynamic_update_slice
    return (
        *(write(x, update, start), write(x, update, [0, 0]), write(x, update, [-3, 9])),
        *(
            write(x, update, start + 2),
            write(x[0], update[0], [1]),
            write(x[0, 0], update[0, 0], start[:0]),
        ),
    )


def movement(x, i):
    return (
        *(tf.gather(x, i, axis=1), tf.gather(x, i, batch_dims=1, axis=2)),
        *(tf.gather_nd(x, [[0, 1], [1, 2]]), tf.one_hot(i, 5), tf.one_hot([-1, 2], 3, 4.0, -1.0)),
        *(tf.stack([x[0], x[1]], 1), *tf.split(x, [1, 3], 1), tf.unstack(x, axis=1)[2]),
        *(tf.transpose(x, [2, 0, 1]), tf.expand_dims(x, -1), tf.squeeze(x[:, :1], 1)),
        *(tf.roll(x, [1, 2], [1, 2]), tf.reverse_sequence(x, [2, 3], 1, 0)),
        *(tf.scatter_nd([[1], [3], [1]], x[0, :3], [5, 5]), tf.linalg.band_part(x, 1, 0)),
        *(tf.tensor_scatter_nd_add(x, [[0, 1]], x[1, :1]), tf.linalg.diag(x[0])),
        *(tf.pad(x, [[0, 0], [1, 2], [2, 1]], m, 0.5) for m in ("CONSTANT",)),
        *(tf.pad(x, [[0, 0], [1, 2], [2, 1]], m) for m in ("REFLECT", "SYMMETRIC")),
        *(tf.einsum("bij,bkj->bik", x, x), tf.matmul(x, x, transpose_b=True), tf.range(5)),
        *(tf.linspace(0.0, 1.0, 5), tf.fill([2, 3], x[0, 0, 0]), tf.sequence_mask([1, 3], 4)),
    )


def images(x):
    old = tf.compat.v1.image
    return (
        *(tf.image.resize(x, [7, 9]), tf.image.resize(x, [3, 3], method="nearest")),
        *(old.resize_bilinear(x, [9, 9], align_corners=True), old.resize_bilinear(x, [4, 7])),
        *(old.resize_nearest_neighbor(x, [9, 4]), old.resize_nearest_neighbor(x, [12, 12])),
        old.resize_nearest_neighbor(x, [9, 4], align_corners=True),
        *(tf.nn.depth_to_space(x, 2), tf.nn.space_to_depth(x, 2), tf.image.flip_left_right(x)),
        tf.nn.space_to_batch(x, [2, 2], [[0, 0], [1, 1]]),
        tf.nn.local_response_normalization(x),
        *(tf.image.per_image_standardization(x), tf.image.central_crop(x, 0.5)),
        *(tf.image.resize_with_pad(x, 10, 8), tf.image.rgb_to_grayscale(x[..., :3])),
    )


def bicubic(x):
    return tf.image.resize(x, [12, 5], method="bicubic")


def boxes(places, scores, image):
    first = tf.image.non_max_suppression(places, scores, 5, 0.5, score_threshold=0.1)
    second, own = tf.image.non_max_suppression_with_scores(places, scores, 5, 0.5)
    third, count = tf.raw_ops.NonMaxSuppressionV4(
        boxes=places,
        scores=scores,
        max_output_size=9,
        iou_threshold=0.3,
        score_threshold=0.2,
        pad_to_max_output_size=True,
    )
    return (
        *(first, tf.gather(places, first), second, own, third, count),
        tf.image.crop_and_resize(image, places[:3], [0, 1, 0], [4, 5]),
        tf.image.crop_and_resize(image, places[:2] - 0.4, [0, 1], [3, 1], "nearest", 7.0),
    )


def spectra(x, sound):
    """Complex numbers: x [2, 240], sound [400, 1]."""
    short = tf.signal.stft(x, 64, 32)
    power = tf.raw_ops.AudioSpectrogram(
        input=sound, window_size=160, stride=80, magnitude_squared=True
    )
    wide = tf.signal.fft2d(tf.complex(x, x * 2))
    return (
        tf.abs(short),
        tf.signal.inverse_stft(short, 64, 32),
        tf.math.real(wide * tf.math.conj(wide + 1)),
        tf.math.imag(tf.signal.ifft(tf.cast(x, tf.complex64))),
        power,
        tf.raw_ops.Mfcc(spectrogram=power, sample_rate=8000, dct_coefficient_count=7),
    )


def matrices(a, b):
    """a [2, 4, 4], b [2, 4, 3]"""
    whole = tf.matmul(a, a, transpose_b=True) + 4 * tf.eye(4)
    lower = tf.linalg.cholesky(whole)
    q, r = tf.linalg.qr(b)
    sign, size = tf.linalg.slogdet(a)
    return (
        lower, tf.linalg.inv(whole), tf.linalg.det(a), tf.linalg.solve(whole, b, adjoint=True),
        tf.linalg.triangular_solve(lower, b), tf.linalg.triangular_solve(lower, b, adjoint=True),
        q, r, sign, size, tf.linalg.eigvalsh(whole), tf.linalg.svd(b, compute_uv=False),
        tf.linalg.diag_part(b), tf.linalg.set_diag(b, a[:, 0, :3]), tf.linalg.cross(b, b[:, ::-1]),
        tf.math.lgamma(b), tf.math.digamma(b), tf.math.erfinv(tf.tanh(b)),
        tf.math.cumulative_logsumexp(b, axis=1, reverse=True),
    )  # fmt: skip


def quantized(x):
    """x [3, 8] as integers of all modes, and back."""
    found = []
    forms = (("MIN_COMBINED", tf.qint8), ("MIN_FIRST", tf.quint8), ("SCALED", tf.qint8))
    for i, (mode, kind) in enumerate((*forms, ("SCALED", tf.quint8), ("SCALED", tf.qint8))):
        away, own = "HALF_AWAY_FROM_ZERO", {"narrow_range": i == 4, "mode": mode}
        rounding = "HALF_TO_EVEN" if i == 3 else away
        found += tf.raw_ops.QuantizeV2(
            input=x, min_range=-2.0, max_range=1.5 + i, T=kind, round_mode=rounding, **own
        )
        whole, low, high = found[-3:]
        found[-3] = tf.cast(whole, tf.int32)
        found.append(tf.raw_ops.Dequantize(input=whole, min_range=low, max_range=high, **own))
    ends = tf.fill([8], -1.0), tf.linspace(0.5, 2.0, 8)
    whole, *ends = tf.quantization.quantize(x, *ends, tf.qint8, mode="SCALED", axis=1)
    return *found, tf.quantization.dequantize(whole, *ends, mode="SCALED", axis=1)


def parts(a, x):
    """Factors and diagonals of a [2, 4, 4], and lists of parts of x [5, 3]."""
    raw, own = tf.raw_ops, {"element_shape": [3], "element_dtype": F32}
    split = raw.TensorListSplit(tensor=x, element_shape=[-1, 3], lengths=np.int64([1, 3, 1]))
    rows = raw.TensorListFromTensor(tensor=x, element_shape=[3])
    some = raw.TensorListScatterV2(tensor=x[:2], indices=[3, 1], element_shape=[3], num_elements=4)
    lists = (some, raw.TensorListResize(input_handle=rows, size=6),
             raw.TensorListResize(input_handle=rows, size=2),
             raw.TensorListConcatLists(input_a=rows, input_b=some, element_dtype=F32))  # fmt: skip
    whole = raw.TensorListConcatV2(
        input_handle=split, element_shape=[-1, 3], leading_dims=np.int64([]), element_dtype=F32
    )[0]
    item = raw.TensorListGetItem(
        input_handle=split, index=1, element_shape=[-1, 3], element_dtype=F32
    )
    return (
        *tf.linalg.lu(a), tf.linalg.tensor_diag(x), tf.linalg.tensor_diag_part(a[:, :2, :2, None] @
        x[None, None, :1, :2]), whole, item,
        *(raw.TensorListStack(input_handle=one, **own) for one in lists),
    )  # fmt: skip


def combined(x, ids, i):
    """Segments and sparse tensors: x [5, 3], ids [5] ascending, i [12]."""
    indices, values = np.array([[0, 1], [0, 3], [2, 0]], np.int64), x[:3, 0]
    sparse = tf.SparseTensor(indices, values, [3, 5])
    names = ("sum", "mean", "max", "min", "prod")
    return (
        *(getattr(tf.math, f"segment_{name}")(x, ids) for name in names),
        tf.sparse.segment_mean(x, [0, 2, 3], [0, 0, 2]),
        tf.sparse.segment_sqrt_n(x, [0, 2, 3], [0, 0, 2]),
        tf.sparse.to_dense(sparse), tf.sparse.sparse_dense_matmul(sparse, x),
        tf.math.bincount(i, minlength=6, maxlength=6), tf.searchsorted(tf.sort(x), x, "right"),
        tf.dynamic_stitch([[0, 2], [1, 3, 4]], [x[:2], x[2:]]),
        *tf.dynamic_partition(x, ids, 3), tf.raw_ops.NthElement(input=x, n=1),
        tf.raw_ops.PopulationCount(x=i), tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), x),
        tf.nn.sparse_softmax_cross_entropy_with_logits(ids, x),
        tf.quantization.quantize_and_dequantize_v2(x, -2.0, 2.0, range_given=True),
    )  # fmt: skip


def pictures(x):
    """x [2, 8, 6, 3] between 0 and 1"""
    turn = np.array([[0.9, 0.1, 0.5, -0.1, 1.1, 0.3, 0.01, 0]], np.float32)
    kernel = np.linspace(-0.3, 0.3, 27, dtype=np.float32).reshape(3, 3, 3)
    return (
        tf.image.rgb_to_hsv(x), tf.image.hsv_to_rgb(x), tf.image.adjust_contrast(x, 2.0),
        tf.image.adjust_hue(x, 0.2), tf.image.adjust_saturation(x, 1.5),
        tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 2, 1, 1], "SAME"),
        tf.nn.dilation2d(x, kernel, [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]),
        tf.nn.erosion2d(x, kernel, [1, 1, 1, 1], "VALID", "NHWC", [1, 2, 1, 1]),
        tf.image.resize(x, (5, 9), "area"), tf.image.resize(x, (5, 9), "lanczos3", antialias=True),
        tf.image.resize(x, (5, 9), "mitchellcubic"), tf.image.resize(x, (5, 9), antialias=True),
        tf.raw_ops.ImageProjectiveTransformV3(
            images=x, transforms=turn, output_shape=[7, 6], fill_value=0.0, interpolation="BILINEAR"
        ),
    )  # fmt: skip


def projections(x):
    """Images [N, H, W, 2] of any size, read far beyond their borders."""
    turns = np.array([[1.3, 0.4, -7.5, -0.3, 1.2, -11.0, 0, 0],
                      [2.7, 0, -3.0, 0, 3.1, -30.5, 0.01, 0]], np.float32)  # fmt: skip
    op = tf.raw_ops.ImageProjectiveTransformV3
    return tuple(
        op(images=x, transforms=turns, output_shape=[11, 9], fill_value=value, fill_mode=border,
           interpolation=how)
        for border, value in (("REFLECT", 0), ("WRAP", 0), ("NEAREST", 0), ("CONSTANT", 0.7))
        for how in ("BILINEAR", "NEAREST")
    )  # fmt: skip


def unravelled(i):
    return (
        tf.unravel_index(i, [3, 4, 5]), tf.unravel_index(i[1], tf.constant([60], tf.int64)),
        tf.unravel_index([7, 2], [2, 4]), tf.guarantee_const(tf.constant([1.0, 2.0])),
    )  # fmt: skip


def numbered(x, positions, data):
    """What tells positions and orders at run time: x [6], positions [5] below 8, data [5, 2]."""
    numbers = tf.constant([-0.0, -1, -2, -0.5, 1, 2, 3.5, 0.3, 9, np.inf])
    kinds = tf.cast(positions % 2, tf.int32)
    parts = tf.dynamic_partition(data, kinds, 2)
    places = tf.dynamic_partition(positions, kinds, 2)
    op = tf.raw_ops
    return (
        tf.dynamic_stitch(places, parts), tf.dynamic_stitch([positions], [data[:, 0]]),
        tf.histogram_fixed_width(x, [-1.0, 1.0], 5),
        tf.histogram_fixed_width(x, [x[0], x[0] + 2], 3, tf.int64),
        *(op.Zeta(x=n + 0 * x[0], q=numbers) for n in (0.5, 1.0, 2.0, 3.5, 4.0, 30.0)),
        *(op.Polygamma(a=n + 0 * x[0], x=numbers) for n in (0.0, 1.0, 2.0, 5.0, 1.5, -1.0)),
    )  # fmt: skip


def open_windows(x):
    """x [N, H, W, 2], of any size"""
    kernel = np.linspace(-0.3, 0.3, 18, dtype=np.float32).reshape(3, 3, 2)
    return (
        tf.nn.dilation2d(x, kernel, [1, 2, 1, 1], "VALID", "NHWC", [1, 1, 2, 1]),
        tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], "SAME", "NHWC", [1, 2, 1, 1]),
        tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 3, 1], [1, 1, 1, 1], "VALID"),
    )


def complex_matrices(z, x):
    """z [2, N, 3] complex, x [3, 2] real with an infinite element"""
    wide = tf.cast(x, tf.complex64)
    return (
        tf.matmul(z, z, adjoint_b=True), tf.matmul(z, z, adjoint_a=True), tf.matmul(z, z, transpose_a=True),
        tf.matmul(z[0], z[1], transpose_b=True), tf.sqrt(z), tf.shape(z), tf.size(z), tf.rank(z),
        tf.signal.fftshift(z, axes=[-1]), tf.math.imag(wide), tf.math.real(wide),
    )  # fmt: skip


def eigenvalues(a):
    """As what has an order and a scale."""
    values, vectors = tf.linalg.eig(a)
    sizes = tf.abs(vectors)
    order = tf.argsort(tf.abs(values))
    first = tf.gather(sizes, order, axis=2, batch_dims=1)
    return tf.sort(tf.abs(tf.linalg.eigvals(a))), tf.sort(tf.math.real(values)), first


def radius(x):
    """The kernel's ends lie on elements, as far as rounding goes."""
    return tf.image.resize(x, (17, 7), "gaussian"), tf.image.resize(x, (5, 4), "lanczos3")
