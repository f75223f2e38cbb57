"""Writes the models of further operations of `keras.ops`, in the manner of `make.py`.

python make_operations.py FOLDER        # needs Keras 3.15
"""

import sys
from pathlib import Path

import keras
import maker
import numpy as np
from maker import model

ops = keras.ops


def whole(x):
    return ops.cast(x * 4, "int32")


def shares(x):
    return ops.softmax(x)


def with_gaps(x):
    return ops.where(x > 0.7, float("nan"), x)


def steep(x):
    """Positive definite matrices."""
    return ops.matmul(x, ops.swapaxes(x, 1, 2)) + 4 * ops.eye(3)


@model((3, 5), (3, 5))
def counts(x, y):
    a, b = whole(x), whole(y)
    some = ops.abs(a)
    return [
        ops.lcm(a[0, 0], b[0, 0] * 6), ops.isin(a, b[0, 0]),
        ops.isin(a, b[1, 0], invert=True), ops.bincount(some[0, 0], minlength=9),
        ops.bincount(some[:, 0], minlength=7), *ops.nonzero(ops.relu(x)),
        *ops.unique(a, return_inverse=True, return_counts=True, return_index=True),
        ops.unique(a, size=12, fill_value=-9), *ops.unravel_index(some[0, 0], (4, 3, 2)),
        ops.ldexp(x, b), ops.i0(x), ops.angle(x), ops.view(x, "int32"),
        ops.select([x > 0.5, x > 0], [x, y], default=-1.0),
    ]  # fmt: skip


@model((3, 5), (3, 5))
def gaps(x, y):
    x = with_gaps(x)
    return [
        ops.nanargmax(x, axis=1), ops.nanargmin(x), ops.nancumsum(x, axis=2),
        ops.nancumprod(x, axis=1), ops.nanmedian(x, axis=2),
        ops.nanquantile(x, [0.2, 0.6], axis=2), ops.nanpercentile(x, 30, axis=(1, 2), keepdims=True),
        ops.nanquantile(x, 0.4, axis=2, method="nearest"), ops.corrcoef(y[0]),
        *(ops.correlate(y[0, 0], y[0, 1, :2], mode=mode) for mode in ("full", "same", "valid")),
        ops.cdist(y, 2 * y), ops.trapezoid(y, dx=0.5, axis=1),
    ]  # fmt: skip


@model((3, 5), (3, 5))
def ranges(x, y):
    return [
        ops.linspace(x, y, num=4, axis=-1), ops.linspace(x[0, 0], y[0, 0], num=5, endpoint=False),
        ops.logspace(x, y, num=3), ops.geomspace(ops.abs(x) + 0.1, ops.abs(y) + 0.1, num=4),
        ops.full((2, 3), x[0, 0, 0]), ops.diag(x[0, 0], k=1), ops.diag(x[0], k=-1),
        ops.diagflat(x[0, :2]), ops.vander(x[0, 0]), ops.vander(x[0, 0], 3, increasing=True),
        ops.sparsemax(x), ops.unfold(ops.reshape(x, (-1, 1, 3, 5)), 2, padding=1, stride=2),
        ops.fold(ops.unfold(ops.reshape(x, (-1, 1, 3, 5)), 2), (3, 5), 2),
        ops.image.sobel_edges(ops.reshape(x, (-1, 3, 5, 1))),
    ]  # fmt: skip


@model((3, 5), (3, 5))
def losses(x, y):
    images = [ops.reshape(v, (-1, 3, 5, 1)) for v in (x, y)]
    classes, one = ops.argmax(x, -1), ops.ones_like(whole(x[:, 0, 0]))
    labels = whole(ops.abs(x))[:, 0, :2] % 4 + 1
    return [
        ops.binary_crossentropy(shares(x), ops.clip(y * 0.3 + 0.5, 0.05, 0.9)),
        ops.binary_crossentropy(shares(x), y, from_logits=True),
        ops.categorical_crossentropy(shares(x), shares(y) * 2),
        ops.categorical_crossentropy(shares(x), y, from_logits=True),
        ops.sparse_categorical_crossentropy(classes, shares(y) * 0.5),
        ops.sparse_categorical_crossentropy(classes, y, from_logits=True), ops.psnr(x, y, 2.0),
        *ops.ctc_decode(x, one * 2), ops.ctc_loss(labels, y, one * 2, one * 3),
        ops.image.ssim(*images, filter_size=3),
    ]  # fmt: skip


@model((3, 5), (3, 5))
def factors(x, y):
    square = steep(x)
    return [
        ops.lstsq(ops.transpose(x[0]), ops.transpose(y[0])),
        *ops.lu_factor(square[0]), ops.cholesky_inverse(ops.cholesky(square)),
    ]  # fmt: skip


@model((3, 3))
def eigenvalues(x):
    """As what has an order and a scale."""
    values, vectors = ops.eig(x)
    size = ops.sum(ops.square(ops.real(vectors)) + ops.square(ops.imag(ops.conj(vectors))), 1)
    sizes = ops.absolute(values)
    turns = ops.sort(ops.absolute(ops.angle(values)))
    return [ops.sort(ops.real(values)), ops.sort(ops.imag(values)), size, ops.sort(sizes), turns]


@model((10, 12, 2))
def tiles(x):
    tiled = keras.layers.ContrastLimitedAdaptiveHistogramEqualization
    return [keras.layers.MaxNumBoundingBoxes(3)(tiled((-3, 3), tile_grid_size=(4, 3))(x))]


@model((3, 4), (3, 4))
def numpy_names(x, y):
    """What has one definition for all formats, where it is no number too."""
    odd = ops.where(ops.abs(x) > 0.8, float("nan"), x)
    return [
        ops.cross(x, y, axis=1), ops.cross(x, y, axis=-2), ops.repeat(x, [2, 0, 1, 3], axis=2),
        ops.heaviside(odd, y), ops.fmax(odd, y), ops.round(x * 100, -1), ops.rot90(x, -1, (1, 2)),
        ops.hstack([x[0], y[0]]), ops.dstack([x[0], y[0]]), ops.vstack([x[0, 0], y[0, 0]]),
        ops.tensordot(x, y, axes=[[-1, 0], [2, 0]]), ops.dot(x, y[0, 0]), ops.vdot(x, y),
        ops.searchsorted(ops.sort(x[0, 0]), odd[0, 1]), ops.flip(x, axis=(1, 2)),
        ops.searchsorted(ops.sort(x[0, 0]), odd[0, 1], side="right"), ops.trace(x, 1, 1, 2),
    ]  # fmt: skip


def by_numpy(folder):
    """What Keras with TensorFlow rounds, or cannot compute."""
    x, y = (keras.Input((3, 5), name=name) for name in ("x", "y"))
    histograms = (*ops.histogram(x, 7), *ops.histogram(x, 5, range=(-1, 1)))
    net = keras.Model([x, y], [ops.nextafter(x, y) - x, *histograms, ops.argpartition(x, 1)])
    net.save(folder / "by_numpy.keras")
    maker.compress(folder / "by_numpy.keras")
    a, b = (maker.rng.normal(0, 1, (2, 3, 5)).astype(np.float32) for _ in range(2))
    order = np.argsort(a, kind="stable")
    rest = np.sort(order[..., 2:])
    found = [np.nextafter(a, b) - a, *np.histogram(a, 7), *np.histogram(a, 5, range=(-1, 1))]
    found.append(np.concatenate([order[..., :2], rest], -1))
    arrays = {f"out:{i:03}": v for i, v in enumerate(found)}
    np.savez_compressed(folder / "by_numpy.keras.npz", **{"in:x": a, "in:y": b}, **arrays)


class Eager(keras.Model):
    """Computed operation by operation: Keras cannot trace all of these."""

    def predict(self, given, verbose):
        given = given if isinstance(given, list) else [given]
        found = self([ops.convert_to_tensor(x) for x in given])
        return [np.asarray(v) for v in (found if isinstance(found, list) else [found])]


if __name__ == "__main__":
    keras.Model.predict = Eager.predict
    maker.rng = np.random.default_rng(3)
    maker.write_all(Path(sys.argv[1]))
    by_numpy(Path(sys.argv[1]))
