"""Eigenvalues and eigenvectors of matrices that are not symmetric, as JAX asks LAPACK for them."""

import nnc
import numpy as np
import pytest
from nnc.frontends.formats import import_model
from nnc.numerics.interpreter import Interpreter

rng = np.random.default_rng(0)
COUNT = 6
SIMILAR = rng.standard_normal((COUNT, COUNT))
ROTATION = np.array([[0.0, 1], [-1, 0]])
REAL = {
    "random": SIMILAR,
    "no eigenvalues": np.zeros((COUNT, COUNT)),
    "equal eigenvalues": 3 * np.eye(COUNT),
    "rank 1": np.ones((COUNT, COUNT)),
    "defective, above": 2 * np.eye(COUNT) + np.eye(COUNT, k=1),
    "defective, below": 2 * np.eye(COUNT) + np.eye(COUNT, k=-1),
    "nilpotent": np.eye(COUNT, k=1),
    "a cycle, which has no shift": np.roll(np.eye(COUNT), 1, 0),
    "two cycles": np.kron(np.eye(2), np.roll(np.eye(3), 1, 0)),
    "rotations": np.kron(np.eye(3), ROTATION),
    "exchanges": np.kron(np.eye(3), np.abs(ROTATION)),
    "a turn in twice as many dimensions": np.kron(ROTATION, np.eye(3)),
    "upper triangular": np.triu(SIMILAR),
    "lower triangular": np.tril(SIMILAR),
    "symmetric": SIMILAR + SIMILAR.T,
    "antisymmetric": SIMILAR - SIMILAR.T,
    "repeated": SIMILAR @ np.diag([1, 1, 2, 2, 2, 0]) @ np.linalg.inv(SIMILAR),
    "of all sizes": np.diag(10.0 ** np.arange(-COUNT, 0)) @ SIMILAR,
    "large": SIMILAR * 1e200,
    "small": SIMILAR * 1e-200,
    "Hilbert": 1 / (np.arange(COUNT)[:, None] + np.arange(COUNT) + 1),
    "companion": np.eye(COUNT, k=-1) + np.outer(np.arange(COUNT), np.eye(COUNT)[-1]),
}
TEXT = """
module {
  func.func public @main(%a: tensor<IN>) -> (OUTS) {
    RESULTS = stablehlo.custom_call @lapack_LETTERgeev_ffi(%a)
      {mhlo.backend_config = {compute_left = LEFT : ui8, compute_right = 86 : ui8}}
      : (tensor<IN>) -> (OUTS)
    return RESULTS : OUTS
  }
}
"""
LETTERS = {"f32": "s", "f64": "d", "complex<f32>": "c", "complex<f64>": "z"}


def program(shape, element="f64", left=True):
    """A program that gives values, both parts of which are results where A is real, and vectors."""
    is_complex = element.startswith("complex")
    whole = element if is_complex else f"complex<{element}>"
    given, values = ("x".join(map(str, s)) for s in (shape, shape[:-1]))
    done = "".join(f"{d}x" for d in shape[:-2])
    outs = [f"{values}x{element}"] * (1 if is_complex else 2)
    outs += [f"{given}x{whole}"] * 2 + [f"{done}i32"]
    text = TEXT.replace("IN", f"{given}x{element}").replace("LETTER", LETTERS[element])
    text = text.replace("OUTS", ", ".join(f"tensor<{out}>" for out in outs))
    text = text.replace("RESULTS", ", ".join(f"%{i}" for i in range(len(outs))))
    return text.replace("LEFT", "86" if left else "78").encode()


def interpreted(a, element="f64"):
    """Values, left and right vectors as complex numbers."""
    parts = np.stack([a.real, a.imag], -1) if np.iscomplexobj(a) else a
    found = Interpreter(import_model(program(a.shape, element))).call("main", [parts])[:-1]
    *values, left, right = found
    values = (
        values[0] + 1j * values[1]
        if len(values) == 2
        else values[0][..., 0] + 1j * values[0][..., 1]
    )
    return values, left[..., 0] + 1j * left[..., 1], right[..., 0] + 1j * right[..., 1]


def check(a, values, left, right, name=""):
    """Of one matrix: what defines eigenvalues and vectors, to some roundings of A's size."""
    near = 8 * len(a) * np.finfo(values.dtype).eps
    size = np.abs(a).max(initial=1e-300)
    a, values = a / size, values / size
    np.testing.assert_allclose(a @ right, right * values, rtol=0, atol=near, err_msg=name)
    turned = left.conj().T
    np.testing.assert_allclose(
        turned @ a, values[:, None] * turned, rtol=0, atol=near, err_msg=name
    )
    for vectors in (left, right) if len(a) else ():
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1, rtol=near, err_msg=name)
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(0)[None], 0)
        np.testing.assert_allclose(np.abs(np.imag(largest)), 0, atol=near, err_msg=name)


def apart(found, expected):
    """How far the farthest value is from one that no other has been found near to."""
    rest, farthest = list(expected), 0.0
    for one in found:
        at = int(np.argmin(np.abs(np.array(rest) - one)))
        farthest = max(farthest, abs(rest.pop(at) - one))
    return farthest


def test_all_kinds_of_matrices():
    a = np.stack(list(REAL.values()))
    found = zip(REAL, a, *interpreted(a), strict=True)
    for name, one, values, left, right in found:
        check(one, values, left, right, name)


def test_eigenvalues_are_those_of_numpy():
    a = np.stack([REAL[name] for name in ("random", "upper triangular", "antisymmetric")])
    for one, values in zip(a, interpreted(a)[0], strict=True):
        expected = np.linalg.eigvals(one)
        assert apart(values, expected) < 1e-13 * np.abs(expected).max()


def test_a_real_eigenvalue_is_real():
    values, left, right = interpreted(REAL["symmetric"])
    assert not values.imag.any() and not left.imag.any() and not right.imag.any()


@pytest.mark.parametrize(
    "shape, element",
    [
        ((0, 0), "f32"),
        ((3, 0, 0), "complex<f64>"),
        ((0, 2, 2), "f64"),
        ((2, 1, 1), "complex<f32>"),
        ((3, 2, 2), "f32"),
        ((2, 2, 5, 5), "complex<f64>"),
        ((4, 4), "complex<f32>"),
    ],
)
def test_shapes(shape, element):
    wide = np.float64 if "64" in element else np.float32
    a = rng.standard_normal(shape).astype(wide)
    if element.startswith("complex"):
        a = a + 1j * rng.standard_normal(shape).astype(wide)
    values, left, right = interpreted(a, element)
    assert values.shape == shape[:-1] and left.shape == right.shape == shape
    for at in np.ndindex(shape[:-2]):
        check(a[at], values[at], left[at], right[at])


def test_what_is_not_finite_spoils_its_own_matrix_only():
    a = np.stack([SIMILAR] * 3)
    a[0, 1, 2], a[2, 3, 3] = np.nan, np.inf
    values, left, right = interpreted(a)
    check(a[1], values[1], left[1], right[1])
    for found in (values, left, right):
        assert np.isnan(found[[0, 2]]).all()


def test_machine_code():
    a = np.stack([*REAL.values(), np.full((COUNT, COUNT), np.nan)])
    re, im, _, right, info = nnc.compile(program(a.shape, left=False), cache=False)(a)
    for name, one, values, vectors in zip(REAL, a, re + 1j * im, right, strict=False):
        size = np.abs(one).max(initial=1e-300)
        rest = (one / size) @ vectors - vectors * (values / size)
        np.testing.assert_allclose(rest, 0, atol=1e-14 * COUNT, err_msg=name)
    assert np.isnan(re[-1]).all() and np.isnan(right[-1]).all() and not info.any()
