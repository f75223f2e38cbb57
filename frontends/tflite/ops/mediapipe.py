"""MediaPipe's own operators: transposed convolutions, pooling with positions, and crops of images
around landmarks.

Source: mediapipe/util/tflite/operations.
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import TfliteLayer
from ..rows import ROWS
from .convolution import ranked, transposed_image

_PADDINGS = {1: "SAME_UPPER", 2: "VALID"}


def _struct(n: TfliteLayer, count: int) -> list[int]:
    """The options of operators that keep them as 32-bit numbers."""
    raw = n.attributes.custom
    if raw.size < 4 * count:
        raise n.error(f"{raw.size} bytes of options, expected {4 * count}")
    found = raw[: 4 * count].view(np.int32).tolist()
    if found[0] not in _PADDINGS or min(found[1:]) < 1:
        raise n.error(f"its options are {found}")
    return found


def _extents(n: TfliteLayer, x: Value) -> tuple[int, int]:
    """The height and the width of an image with channels last."""
    ranked(n, x, 4, "the input")
    height, width = x.type.shape[1:3]
    if height is None or width is None:
        raise n.error("the extents of the image must be known")
    return height, width


@ROWS("Convolution2DTransposeBias")
def transpose_conv_bias(n: TfliteLayer, x: Value, weight: Value, bias: Value) -> Value:
    pads, *strides = _struct(n, 3)
    strides.reverse()
    ranked(n, weight, 4, "the weight")
    extents = []
    for extent, kernel, stride in zip(_extents(n, x), weight.type.shape[1:3], strides, strict=True):
        cut = max(0, kernel - (extent - 1) % stride - 1) if pads == 1 else 0
        extents.append(stride * (extent - 1) + kernel - cut)
    steps = strides[0], strides[1]
    return transposed_image(n, x, weight, bias, steps, _PADDINGS[pads], tuple(extents))


@ROWS("MaxPoolingWithArgmax2D")
def max_pool_with_argmax(n: TfliteLayer, x: Value) -> list[Value]:
    """Max pooling, and the maxima's positions in their windows as floats, plus 0.1."""
    pads, stride_w, stride_h, kernel_w, kernel_h = _struct(n, 5)
    height, width = _extents(n, x)
    windows = Windows((kernel_h, kernel_w), (stride_h, stride_w), _PADDINGS[pads])
    out, places = max_pooled_with_indices(n, channels_first(n, x), windows)
    begins = windows.on(n, channels_first(n, x))[1]["pads"][:2]
    position = Term(n, places) % (height * width)
    rows, columns = out.type.shape[2:]
    top = constant(n, np.arange(rows)[:, None] * stride_h - begins[0])
    left = constant(n, np.arange(columns) * stride_w - begins[1])
    inside = (position / width - top) * kernel_w + (position % width - left)
    return [channels_last(n, out), channels_last(n, (inside.cast(f32) + 0.1).value)]


@ROWS("MaxUnpooling2D")
def max_unpool(n: TfliteLayer, x: Value, indices: Value) -> Value:
    """The inverse: each element at its position of the window, zeros elsewhere."""
    _, stride_w, stride_h, kernel_w, kernel_h = _struct(n, 5)
    rows, columns = _extents(n, x)
    height, width = rows * kernel_h, columns * kernel_w
    before = [
        max(0, (count - 1) * stride + kernel - whole) // 2
        for count, stride, kernel, whole in (
            (rows, stride_h, kernel_h, height),
            (columns, stride_w, kernel_w, width),
        )
    ]
    data, inside = channels_first(n, x), Term(n, as_i64(n, channels_first(n, indices)))
    batch, channels = data.type.shape[:2]
    if batch is None or channels is None:
        raise n.error("the extents of the input must be known")
    top = constant(n, np.arange(rows)[:, None] * stride_h - before[0]) + inside / kernel_w
    left = constant(n, np.arange(columns) * stride_w - before[1]) + inside % kernel_w
    planes = np.arange(batch * channels).reshape(batch, channels, 1, 1) * (height * width)
    places = constant(n, planes) + top * width + left
    shape = n.constant(np.array([batch, channels, height, width], np.int64))
    return channels_last(n, unpooled(n, data, places.value, shape, shape))


# -- landmarks -------------------------------------------------------------------------------------


@ROWS("Landmarks2TransformMatrix")
def landmarks_to_matrix(n: TfliteLayer, landmarks: Value) -> Value:
    """The matrix that maps the pixels of a square to the box around some landmarks.

    The box is rotated, so that two of the landmarks are at a given angle in it.
    """
    chosen = n.custom_options.get("subset_idxs")
    if not isinstance(chosen, list) or not all(isinstance(i, int) for i in chosen):
        raise n.error("only the second version of this operator is supported")
    points = Term(n, landmarks).reshape(_count(n, landmarks, 3), 3)
    ends = [_row(points, int(n.option(f"{side}_rotation_idx"))) for side in ("left", "right")]
    across, down = (ends[1].column(i) - ends[0].column(i) for i in (0, 1))
    length = (across * across + down * down).function(nn.Sqrt)
    nowhere = length.equals(0.0)
    cosine = nowhere.choose(1.0, across / length)
    sine = nowhere.choose(0.0, down / length)
    angle = n.option("target_rotation_radians", 0.0)
    c = cosine * math.cos(angle) + sine * math.sin(angle)
    s = cosine * math.sin(angle) - sine * math.cos(angle)
    box = points.gather(constant(n, np.asarray(chosen, np.int64)))
    x, y = box.column(0), box.column(1)
    turned = [x * c - y * s, x * s + y * c]
    most = [t.largest(0) for t in turned]
    least = [-((-t).largest(0)) for t in turned]
    middle = [(a + b) * 0.5 for a, b in zip(most, least, strict=True)]
    center = middle[0] * c + middle[1] * s, middle[1] * c - middle[0] * s
    width, height = (_size(n, f"output_{side}") for side in ("width", "height"))
    across = (most[0] - least[0]) * (n.option("scale_x") / width)
    down = (most[1] - least[1]) * (n.option("scale_y") / height)
    a, b, d, e = c * across, s * down, -(s * across), c * down
    shift = (
        center[0] - a * (width / 2) - b * (height / 2),
        center[1] - d * (width / 2) - e * (height / 2),
    )
    zero, one = (constant(n, np.float32(v)) for v in (0, 1))
    rows = [a, b, zero, shift[0], d, e, zero, shift[1], zero, zero, one, zero]
    elements = [t.reshape(1) for t in (*rows, zero, zero, zero, one)]
    return joined(elements, 0).reshape(1, 4, 4).value


@ROWS("TransformLandmarks")
def transform_landmarks(n: TfliteLayer, landmarks: Value, matrix: Value) -> Value:
    """Landmarks whose first two coordinates are transformed by a matrix; the third is unchanged."""
    size = int(n.option("dimensions", landmarks.type.shape[-1]))
    if size not in (2, 3):
        raise n.error(f"landmarks of {size} coordinates")
    points = Term(n, landmarks).reshape(_count(n, landmarks, size), size)
    rows = Term(n, matrix).reshape(4, 4)
    x, y = points.column(0), points.column(1)
    new = [_product(rows, i, x, y).spread(0, 1) for i in (0, 1)]
    rest = [points.column(2).spread(0, 1)] if size == 3 else []
    return (
        joined([*new, *rest], 1)
        .reshape(*((landmarks, i) for i in range(landmarks.type.rank)))
        .value
    )


@ROWS("TransformTensorBilinear")
def transform_tensor(n: TfliteLayer, x: Value, matrix: Value) -> Value:
    """x sampled at the position to which the matrix takes each pixel of the result.

    Interpolates bilinearly between four pixels of x; 0 outside of it.
    """
    rows, columns = (_size(n, f"output_{side}") for side in ("height", "width"))
    height, width = _extents(n, x)
    if x.type.shape[0] != 1:
        raise n.error(f"a batch of {x.type.shape[0]}, expected 1")
    turn = Term(n, matrix).reshape(4, 4)
    down, across = (
        constant(n, v.reshape(-1).astype(np.float32) + np.float32(0.5))
        for v in np.indices((rows, columns))
    )
    left, top = (_product(turn, i, across, down) - 0.5 for i in (0, 1))
    inside = (left >= 0.0) & (left <= width - 1.0) & (top >= 0.0) & (top <= height - 1.0)
    pixels = Term(n, x).reshape(height * width, (x, 3))
    total: Any = None
    for step_y in (0, 1):
        for step_x in (0, 1):
            weight: Any = 1.0
            place: Any = None
            for at, step, extent in ((top, step_y, height), (left, step_x, width)):
                whole = at.function(nn.Floor)
                part = at - whole
                weight = (part if step else 1.0 - part) * weight
                index = (whole.cast(i64) + step).max(0).min(extent - 1)
                place = index if place is None else place * width + index
            value = pixels.gather(place) * weight.spread(0, 1)
            total = value if total is None else total + value
    out = inside.spread(0, 1).choose(total, 0.0)
    shape = (1, rows, columns, x.type.shape[3])
    return n(nn.Reshape(out.value, out=TensorType(shape, x.type.element_type)))


def _product(rows: Term, i: int, x: Term, y: Term) -> Term:
    """A row of a 4 by 4 matrix times (x, y, 0, 1)."""
    row = _row(rows, i)
    return x * row.column(0) + y * row.column(1) + row.column(3)


def _row(matrix: Term, i: int) -> Term:
    return matrix.column(i, 0)


def _size(n: TfliteLayer, name: str) -> int:
    found = int(n.option(name))
    if not 0 < found < 1 << 14:
        raise n.error(f"option '{name}' is {found}")
    return found


def _count(n: TfliteLayer, x: Value, size: int) -> int:
    elements = x.type.num_elements if x.type.has_static_shape else 0
    if not elements or elements % size:
        raise n.error(f"landmarks '{x.type}' of {size} coordinates")
    return elements // size
