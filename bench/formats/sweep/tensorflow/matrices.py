"""Linear algebra, complex numbers, transforms, audio, and seeded random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Given, Room, numbers, raw, tf

room = Room()
REAL = ["float32", "float64"]
SQUARE = [[3, 3], [2, 4, 4], [1, 1], [0, 2, 2]]


def _regular(rng: Any, shape: list[int], type: str) -> np.ndarray:
    x = numbers(rng, shape, type)
    return (x + 4 * np.eye(shape[-2], shape[-1])).astype(x.dtype)


def _symmetric(rng: Any, shape: list[int], type: str) -> np.ndarray:
    x = numbers(rng, shape, type)
    return (x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])).astype(x.dtype)


@room("Cholesky", type=REAL, shape=SQUARE)
def cholesky(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    return op, [_symmetric(rng, shape, type)]


@room("MatrixInverse", type=REAL, shape=SQUARE, adjoint=[False, True])
def inverse(rng: Any, op: Any, type: str, shape: list[int], adjoint: bool) -> Given:
    return (lambda x: op(x, adjoint=adjoint)), [_regular(rng, shape, type)]


@room("MatrixDeterminant LogMatrixDeterminant", type=REAL, shape=SQUARE)
def determinant(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    return op, [numbers(rng, shape, type)]


@room("MatrixSolve", type=REAL, shape=SQUARE, columns=[2, 1, 0], adjoint=[False, True])
def solve(rng: Any, op: Any, type: str, shape: list[int], columns: int, adjoint: bool) -> Given:
    b = numbers(rng, [*shape[:-1], columns], type)
    return (lambda a, b: op(a, b, adjoint=adjoint)), [_regular(rng, shape, type), b]


@room("MatrixTriangularSolve", type=REAL, shape=SQUARE, columns=[2, 1], lower=[True, False],
      adjoint=[False, True])  # fmt: skip
def solve_triangular(
    rng: Any, op: Any, type: str, shape: list[int], columns: int, lower: bool, adjoint: bool
) -> Given:
    b = numbers(rng, [*shape[:-1], columns], type)
    return (lambda a, b: op(a, b, lower=lower, adjoint=adjoint)), [_regular(rng, shape, type), b]


@room("Qr", type=REAL, shape=[[3, 3], [4, 2], [2, 4], [2, 3, 2]], full=[False, True])
def qr(rng: Any, op: Any, type: str, shape: list[int], full: bool) -> Given:
    """A QR decomposition, compared by its product and by |R|, whose rows may have either sign."""

    def run(x: Any) -> Any:
        q, r = op(x, full_matrices=full)
        return q @ r, tf.abs(r[..., : min(shape[-2:]), :])

    return run, [numbers(rng, shape, type)]


@room("SelfAdjointEigV2", type=REAL, shape=SQUARE)
def eigenvalues(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    def run(x: Any) -> Any:
        values, vectors = op(x, compute_v=True)
        return values, vectors @ (values[..., None] * tf.linalg.matrix_transpose(vectors))

    return run, [_symmetric(rng, shape, type)]


@room("Svd", type=REAL, shape=[[3, 3], [4, 2], [2, 4], [2, 3, 2]], full=[False, True])
def svd(rng: Any, op: Any, type: str, shape: list[int], full: bool) -> Given:
    def run(x: Any) -> Any:
        values, u, v = op(x, compute_uv=True, full_matrices=full)
        k = min(shape[-2:])
        product = (u[..., :k] * values[..., None, :]) @ tf.linalg.matrix_transpose(v[..., :k])
        return values, product

    return run, [numbers(rng, shape, type)]


# -- complex numbers -------------------------------------------------------------------------------


def _complex(x: Any, y: Any) -> Any:
    return raw.Complex(
        real=x, imag=y, Tout=tf.complex64 if x.dtype == tf.float32 else tf.complex128
    )


def _parts(z: Any) -> Any:
    return [tf.math.real(z), tf.math.imag(z)]


COMPLEX = {
    "abs": lambda z, w: tf.abs(z),
    "angle": lambda z, w: tf.math.angle(z),
    "conj": lambda z, w: _parts(tf.math.conj(z)),
    "add": lambda z, w: _parts(z + w),
    "sub": lambda z, w: _parts(z - w),
    "mul": lambda z, w: _parts(z * w),
    "exp": lambda z, w: _parts(tf.exp(z)),
    "neg": lambda z, w: _parts(-z),
    "transpose": lambda z, w: _parts(tf.transpose(z)),
    "div": lambda z, w: _parts(z / w),
    "matmul": lambda z, w: _parts(tf.matmul(z, w, transpose_b=True)),
    "sum": lambda z, w: _parts(tf.reduce_sum(z, -1)),
    "concat": lambda z, w: _parts(tf.concat([z, w], 0)),
    "square": lambda z, w: _parts(tf.square(z)),
    "reshape": lambda z, w: _parts(tf.reshape(z, [-1])),
    "gather": lambda z, w: _parts(tf.gather(z, [1, 0, 1])),
    "slice": lambda z, w: _parts(z[1:, ::2]),
    "equal": lambda z, w: tf.equal(z, w),
    "sqrt": lambda z, w: _parts(tf.sqrt(z)),
    "where": lambda z, w: _parts(tf.where(tf.math.real(z) > 0, z, w)),
    "stack": lambda z, w: _parts(tf.stack([z, w])),
    "pad": lambda z, w: _parts(tf.pad(z, [[1, 0], [0, 2]])),
}


@room("complex_numbers", function=list(COMPLEX), type=REAL, values=["plain", "odd"])
def complex_numbers(rng: Any, op: Any, function: str, type: str, values: str) -> Given:
    xs = [numbers(rng, [2, 3], type, values if i < 2 else "plain") for i in range(4)]
    return (lambda a, b, c, d: COMPLEX[function](_complex(a, b), _complex(c, d))), xs


@room(
    "FFT IFFT FFT2D IFFT2D FFT3D IFFT3D",
    type=REAL,
    shape=[[2, 4, 3], [1, 2, 5], [0, 2, 4], [3, 1, 8]],
)
def transformed(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    xs = [numbers(rng, shape, type) for _ in range(2)]
    return (lambda a, b: _parts(getattr(raw, op.name)(input=_complex(a, b)))), xs


@room(
    "RFFT RFFT2D RFFT3D",
    type=REAL,
    shape=[[2, 4, 3], [1, 2, 5], [3, 1, 8]],
    size=["own", "less", "more"],
)
def real_transform(rng: Any, op: Any, type: str, shape: list[int], size: str) -> Given:
    count = int(op.name[-2]) if op.name[-1] == "D" else 1
    add = {"own": 0, "less": -1, "more": 2}[size]
    lengths = [max(d + add, 1) for d in shape[-count:]]
    to = tf.complex64 if type == "float32" else tf.complex128
    return (lambda x: _parts(getattr(raw, op.name)(input=x, fft_length=lengths, Tcomplex=to))), [
        numbers(rng, shape, type)]  # fmt: skip


@room(
    "IRFFT IRFFT2D IRFFT3D",
    type=REAL,
    shape=[[2, 4, 3], [1, 2, 5], [3, 1, 4]],
    size=["even", "odd", "more"],
)
def back(rng: Any, op: Any, type: str, shape: list[int], size: str) -> Given:
    count = int(op.name[-2]) if op.name[-1] == "D" else 1
    last = 2 * (shape[-1] - 1) + {"even": 0, "odd": 1, "more": 4}[size]
    lengths = [*shape[-count:-1], last][-count:]
    xs = [numbers(rng, shape, type) for _ in range(2)]
    to = tf.float32 if type == "float32" else tf.float64
    return (
        lambda a, b: getattr(raw, op.name)(input=_complex(a, b), fft_length=lengths, Treal=to)
    ), xs


@room(
    "AudioSpectrogram",
    samples=[40, 8],
    channels=[2, 1],
    window=[8, 5],
    stride=[4, 3],
    squared=[False, True],
)
def spectrogram(
    rng: Any, op: Any, samples: int, channels: int, window: int, stride: int, squared: bool
) -> Given:
    how = {"window_size": window, "stride": stride, "magnitude_squared": squared}
    return (lambda x: op(x, **how)), [numbers(rng, [samples, channels], "float32")]


@room("Mfcc", upper=[4000.0, 1000.0], lower=[20.0, 200.0], channels=[40, 10], coefficients=[13, 4])
def mfcc(rng: Any, op: Any, upper: float, lower: float, channels: int, coefficients: int) -> Given:
    how = {"upper_frequency_limit": upper, "lower_frequency_limit": lower,
           "filterbank_channel_count": channels, "dct_coefficient_count": coefficients}  # fmt: skip
    return (lambda x: op(x, 16000, **how)), [numbers(rng, [2, 5, 257], "float32", "positive")]


# -- random numbers --------------------------------------------------------------------------------

SEEDS = [[3, 5], [0, 0], [-7, 2**31 - 1]]


@room(
    "StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal",
    type=["float32", "float64", "float16", "bfloat16"],
    shape=[[2, 5], [], [0, 3], [300]],
    seed=SEEDS,
    given=[False, True],
)
def random(rng: Any, op: Any, type: str, shape: list[int], seed: list[int], given: bool) -> Given:
    how, key = {"dtype": tf.as_dtype(type)}, np.array(seed, np.int64)
    if given:
        return (lambda s, k: op(s, k, **how)), [np.array(shape, np.int32), key]
    return (lambda k: op(np.array(shape, np.int32), k, **how)), [key]


@room(
    "StatelessRandomUniformV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2",
    type=["float32", "float64", "float16", "bfloat16"],
    shape=[[2, 5], [], [0, 3], [300]],
    seed=SEEDS,
)
def random_by_key(rng: Any, op: Any, type: str, shape: list[int], seed: list[int]) -> Given:
    def run(s: Any) -> Any:
        key, counter = raw.StatelessRandomGetKeyCounter(seed=s)
        size = np.array(shape, np.int32)
        return getattr(raw, op.name)(
            shape=size, key=key, counter=counter, alg=1, dtype=tf.as_dtype(type)
        )

    return run, [np.array(seed, np.int64)]


@room("StatelessRandomUniformInt", type=["int32", "int64"], shape=[[2, 5], [], [0, 3]], seed=SEEDS,
      limits=[[0, 10], [-5, 6], [3, 4], [-100, 2**31 - 1]])  # fmt: skip
def random_integers(
    rng: Any, op: Any, type: str, shape: list[int], seed: list[int], limits: list[int]
) -> Given:
    low, high = (np.array(v, type) for v in limits)
    size = np.array(shape, np.int32)
    return (lambda k, a, b: op(size, k, a, b)), [np.array(seed, np.int64), low, high]


@room(
    "StatelessRandomUniformFullInt", type=["int32", "int64"], shape=[[2, 5], [], [0, 3]], seed=SEEDS
)
def random_full(rng: Any, op: Any, type: str, shape: list[int], seed: list[int]) -> Given:
    size = np.array(shape, np.int32)
    return (lambda k: op(size, k, dtype=tf.as_dtype(type))), [np.array(seed, np.int64)]


@room("StatelessMultinomial", type=["float32", "float64"], rows=[2, 1], count=[20, 0], seed=SEEDS,
      out=["int64", "int32"])  # fmt: skip
def random_classes(
    rng: Any, op: Any, type: str, rows: int, count: int, seed: list[int], out: str
) -> Given:
    x, how = numbers(rng, [rows, 4], type), {"output_dtype": tf.as_dtype(out)}
    return (lambda x, k: op(x, count, k, **how)), [x, np.array(seed, np.int64)]


subjects = room.subjects
