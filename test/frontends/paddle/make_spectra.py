"""Writes the groups `spectra` and `whole` of `files/`, as `make.py` does the others: complex
numbers, Fourier transforms, frames of signals, factors with pivots, fractional pooling; integers.

Run as `make.py`, with PaddlePaddle 3, whose old form lacks most of them.
"""

import paddle
import paddle.nn.functional as fn
from make import Group, write
from paddle import fft, signal
from paddle.vision import ops


class Spectra(Group):
    inputs = (
        ("x", [2, 3, 6], "float32"), ("y", [2, 3, 6], "float32"), ("sound", [2, 40], "float32"),
        ("image", [2, 3, 7, 9], "float32"), ("volume", [1, 2, 5, 6, 7], "float32"),
        ("matrix", [2, 4, 4], "float32"),
    )  # fmt: skip

    def forward(self, x, y, sound, image, volume, matrix):
        a, b = paddle.complex(x, y), paddle.complex(y, x * 2.0)
        parts = [
            a * b, a / b, a + b, a - b, paddle.exp(a), paddle.log(a), paddle.sqrt(a), a * x, a * 2.0,
            paddle.matmul(a, b, transpose_y=True), paddle.square(a), paddle.reciprocal(a),
            paddle.concat([a, b], 1)[:, 1:, ::2], paddle.stack([a, b]).transpose([1, 0, 3, 2]),
            fft.fft(x), fft.ifft(x, 5, norm="ortho"), fft.fft(a, axis=1), fft.ifft(a, norm="forward"),
            fft.rfft(x, 8), fft.ihfft(x), fft.fft2(x), fft.ifftn(a), fft.rfftn(x, axes=[0, 2]),
            fft.fftshift(a), paddle.as_complex(image[..., :2]),
        ]  # fmt: skip
        real = [
            paddle.abs(a), paddle.angle(a), paddle.conj(x), paddle.real(paddle.conj(a)),
            paddle.imag(paddle.conj(a)), a == b, fft.irfft(fft.rfft(x), 5), fft.hfft(a),
            fft.irfft2(fft.rfft2(x, norm="forward"), norm="ortho"), fft.hfft(a, 7, norm="forward"),
            signal.frame(sound, 8, 3), signal.frame(sound[0], 8, 3, axis=0),
            signal.overlap_add(x, 2), signal.overlap_add(x[0], 2, axis=0),
            paddle.abs(signal.stft(sound, 16, 5)), signal.istft(signal.stft(sound, 16), 16),
        ]  # fmt: skip
        pooled = [
            *fn.fractional_max_pool2d(image, [3, 4], random_u=0.3, return_mask=True),
            *fn.fractional_max_pool2d(image, [4, 5], [2, 3], random_u=0.7, return_mask=True),
            *fn.fractional_max_pool3d(volume, [2, 3, 4], random_u=0.6, return_mask=True),
        ]
        factors = paddle.linalg.lu(matrix, get_infos=True)
        found = [
            *factors,
            *paddle.linalg.lu_unpack(*factors[:2]),
            paddle.linalg.matrix_rank(matrix),
        ]
        found += [paddle.gammaincc(paddle.abs(x) + 0.1, paddle.abs(y))]
        return [a, *map(paddle.as_real, parts), *real, *pooled, *found]


class Whole(Group):
    """Integers that wrap, statistics of them and of missing numbers, boxes by category."""

    inputs = (
        ("x", [4, 5], "float32"), ("i", [4, 6], "int64"), ("corners", [6, 2], "float32"),
        ("scores", [6], "float32"),
    )  # fmt: skip

    def forward(self, x, i, corners, scores):
        small, some = paddle.cast(i, "uint8"), paddle.log(x)  # NaN below 0
        least = paddle.cast(i, "int32")
        boxes = paddle.concat([corners, corners + 1.0], 1)
        kept = ops.nms(boxes, 0.1, scores, i[0] % 3, [0, 1, 2], top_k=4)
        return [
            -small, small * 3 - 1, paddle.prod(least, 1), paddle.sum(least), paddle.mean(x > 2),
            paddle.mean(x > 0), paddle.nanmedian(some, 1), paddle.nanmedian(some),
            paddle.nanmedian(some, 0, keepdim=True, mode="min")[0], paddle.median(x, 0),
            paddle.median(some, 1), paddle.logspace(0, 2, 5) * x[0, 0], kept,
        ]  # fmt: skip


if __name__ == "__main__":
    write(Whole)
    write(Spectra)
