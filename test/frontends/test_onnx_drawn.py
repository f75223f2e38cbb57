"""What nodes with all attributes drawn at once found, against ONNX Runtime and NumPy."""

import nnc
import numpy as np
import pytest

from .models import run
from .test_onnx_swept import check, model


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def test_elements_by_a_common_scale_are_those_of_single_precision():
    """(1 + 0.5) / 0.6 - 0.5 is 2 in f32, and a little less with 0.6 as f32 in f64."""
    text = 'coordinate_transformation_mode="half_pixel", mode="nearest", nearest_mode="floor"'
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    for shape in ("4,5", "a,b"):
        check(
            f"(float[{shape}] x) => (float[c,d] y) <int64[2] s = {{7, 3}}>"
            f'{{ y = Resize<keep_aspect_ratio_policy="not_larger", {text}>(x, , , s) }}',
            x,
        )


def test_corners_of_regions_are_rounded_away_from_zero(rng):
    """-0.5 is -1, so that the first bin of three has elements outside of the image only; the
    largest number below 0.5 is 0.
    """
    below = np.nextafter(np.float32(1), np.float32(0))
    rois = np.array([[0, -1, -1, 5, 7], [0, 1, 3, 9, 9], [0, below, below, 3, 4]], np.float32)
    check(
        "(float[1,2,5,6] x, float[3,5] r) => (float[3,2,3,2] y)"
        "{ y = MaxRoiPool<pooled_shape=[3, 2], spatial_scale=0.5>(x, r) }",
        rng.standard_normal((1, 2, 5, 6)).astype(np.float32),
        rois,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("parts", [1, 2])
def test_a_signal_may_turn_out_to_be_complex(rng, parts):
    signal = rng.standard_normal((1, 15, parts)).astype(np.float32)
    window = rng.standard_normal(5).astype(np.float32)
    made = model(
        "(float[a,b,c] x, float[5] w) => (float[d,e,f,2] y) <int64 s = {3}>"
        "{ y = STFT<onesided=0>(x, s, w) }"
    )
    whole = (signal if parts == 2 else np.pad(signal, ((0, 0), (0, 0), (0, 1)))) @ [1, 1j]
    frames = np.stack([whole[:, i : i + 5] * window for i in range(0, 11, 3)], 1)
    wanted = np.fft.fft(frames)
    for found in (run(made, signal, window)[0], nnc.compile(made, cache=False)(signal, window)):
        np.testing.assert_allclose(found @ [1, 1j], wanted, atol=2e-5)


def test_a_state_tells_the_batch_of_an_open_sequence(rng):
    def given(*shape):
        return rng.uniform(-1, 1, shape).astype(np.float32)

    check(
        "(float[s,b,i] x, float[1,8,3] w, float[1,8,2] r, float[1,2,h] c)"
        "=> (float[s,1,b,2] y) { y = LSTM<hidden_size=2>(x, w, r, , , c) }",
        given(4, 2, 3),
        given(1, 8, 3),
        given(1, 8, 2),
        given(1, 2, 2),
        rtol=1e-5,
    )


def test_a_reduction_of_axes_may_say_what_it_does_of_none(rng):
    for axes in ("1", "-2", "0, 1"):
        text = f"<int64[{len(axes.split(','))}] a = {{{axes}}}>"
        made = model(
            f"(float[3,4] x) => (float[c,d] y) {text}"
            "{ y = ReduceSum<noop_with_empty_axes=1, keepdims=1>(x, a) }",
            18,
        )
        x = rng.standard_normal((3, 4)).astype(np.float32)
        along = tuple(int(a) for a in axes.split(","))
        np.testing.assert_allclose(run(made, x)[0], x.sum(along, keepdims=True), rtol=1e-5)


def test_positions_in_double_are_computed_in_double(rng):
    check(
        "(double[1,2,4,5] x, double[1,3,2,2] g) => (double[1,2,3,2] y)"
        '{ y = GridSample<mode="linear", padding_mode="border">(x, g) }',
        rng.standard_normal((1, 2, 4, 5)),
        rng.uniform(-1.2, 1.2, (1, 3, 2, 2)),
        opset=20,
        rtol=1e-11,
    )


@pytest.mark.parametrize("given", ["constants", "inputs", "all inputs"])
def test_a_slice_backward_from_before_the_first_element_has_the_first(given):
    """ONNX clamps a start to the first element, where NumPy's slice is empty."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    last = -(2**63)
    bounds = {"s": (-9, 2), "e": (last, 9), "a": (1, 0), "t": (-1, 1)}
    fed = {"constants": "", "inputs": "se", "all inputs": "seat"}[given]
    length = "n" if given == "all inputs" else "2"
    inputs = "".join(f", int64[{length}] {k}" for k in fed)
    kept = ", ".join(
        f"int64[2] {k} = {{{v[0]}, {v[1]}}}" for k, v in bounds.items() if k not in fed
    )
    check(
        f"(float[p,q] x{inputs}) => (float[u,v] y) {f'<{kept}>' if kept else ''}"
        "{ y = Slice(x, s, e, a, t) }",
        x,
        *(np.array(bounds[k], np.int64) for k in fed),
    )


def test_steps_of_a_slice_may_be_a_vector_of_open_length():
    check(
        "(float[p,q] x, int64[n] t) => (float[u,v] y)"
        "<int64[2] s = {3, 0}, int64[2] e = {-9, 9}, int64[2] a = {1, 0}>"
        "{ y = Slice(x, s, e, a, t) }",
        np.arange(12, dtype=np.float32).reshape(3, 4),
        np.array([-2, 2], np.int64),
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "computed",
    [
        "s = Shape<end=1>(x) t = Concat<axis=0>(one, s, rest)",
        "s = Shape<start=1>(x) t = Concat<axis=0>(s, rest)",
        "s = Shape<end=1>(x) t = Concat<axis=0>(rest, s)",
    ],
)
def test_a_computed_extent_of_0_beside_a_rest_is_that_of_the_input(computed):
    """As a 0 that is written; so ONNX Runtime makes [1, 4, 0] of no boxes reshaped to [1, 0, -1]."""
    ones = "one = Constant<value_ints=[1]>() rest = Constant<value_ints=[-1]>()"
    out = "p,q,r" if "one," in computed else "p,q"
    for shape in ((0, 4), (2, 0), (2, 3)):
        x = np.zeros(shape, np.float32)
        body = f"{ones} {computed} z = Reshape(x, t)"
        check(f"(float[a,b] x) => (float[{out}] z) {{ {body} }}", x)
