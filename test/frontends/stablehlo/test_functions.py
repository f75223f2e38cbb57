"""Functions of jnp and lax: compiled, they give what JAX computed."""

import nnc
import numpy as np
import pytest

from .cases import LOOSE, arrays, names, text

ONE_IN = 9
"""Of so many cases, one is not slow."""
CASES = [
    pytest.param(name, marks=[pytest.mark.slow] * bool(number % ONE_IN))
    for number, name in enumerate(names())
]


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    check(name)


CALLBACK = """module {{ func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  {} stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {{has_side_effect = true}}
    : (tensor<2xf32>) -> {}
  return %{} : tensor<2xf32>
}} }}"""


def test_what_is_printed_is_left_out():
    x = np.float32([1, 2])
    printed = CALLBACK.format("", "()", "x").encode()
    np.testing.assert_array_equal(nnc.compile(printed, cache=False)(x), x)


def test_results_of_python_are_an_error():
    module = CALLBACK.format("%y =", "tensor<2xf32>", "y")
    with pytest.raises(nnc.NncError, match="calls a function of Python"):
        nnc.load(module.encode())


ZETAS = b"""module { func.func @main(%s: tensor<15xf32>, %x: tensor<15xf32>) -> tensor<15xf32> {
  %y = chlo.zeta %s, %x : tensor<15xf32>, tensor<15xf32> -> tensor<15xf32>
  return %y : tensor<15xf32>
} }"""


def test_zeta_of_all_kinds_of_numbers():
    """As JAX gives it, but below -8, where its sum goes astray: there the sum of the terms."""
    nan, inf = np.nan, np.inf
    cases = [(1, -2, inf), (0.5, 3, nan), (2, -1, inf), (3, -1, nan), (2.5, -0.5, nan),
             (2, -inf, inf), (3, -inf, nan), (inf, 3, nan), (2, inf, nan), (1, inf, inf),
             (-1, 3, nan), (3, 0, nan), (2, -3.3, 14.817741), (2, 0.5, np.pi**2 / 2),
             (2, -20.5, np.pi**2 / 2 + sum((k + 0.5) ** -2 for k in range(21)))]  # fmt: skip
    order, x, wanted = np.array(cases, np.float32).T.copy()
    np.testing.assert_allclose(nnc.compile(ZETAS, cache=False)(order, x), wanted, rtol=1e-5)


NEXT = """module {{ func.func @main(%x: tensor<81x{0}>, %y: tensor<81x{0}>) -> tensor<81x{0}> {{
  %z = chlo.next_after %x, %y : tensor<81x{0}>, tensor<81x{0}> -> tensor<81x{0}>
  return %z : tensor<81x{0}>
}} }}"""


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_the_next_of_all_kinds_of_floats(kind):
    most, bits = np.finfo(kind).max, np.dtype(kind).itemsize * 8
    kinds = [0.0, -0.0, np.finfo(kind).smallest_subnormal, -1, 3, most, np.inf, -np.inf, np.nan]
    x, y = (a.reshape(-1).copy() for a in np.meshgrid(*[np.array(kinds, kind)] * 2))
    found = nnc.compile(NEXT.format(f"f{bits}").encode(), cache=False)(x, y)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, np.nextafter(x, y))


def check(name: str) -> None:
    inputs, wanted = arrays(name)
    found = nnc.compile(text(name).encode(), cache=False)(*inputs)
    found = list(found) if isinstance(found, tuple) else [found]
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted, strict=True):
        assert got.shape == want.shape and (got.dtype.kind == "c") == (want.dtype.kind == "c")
        if want.dtype.kind in "iu":
            np.testing.assert_array_equal(got, want)
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        got, want = got.astype(wide), want.astype(wide)
        finite = np.isfinite(want)
        np.testing.assert_array_equal(got[~finite], want[~finite])
        scale = np.abs(want[finite]).max(initial=1e-6)
        np.testing.assert_allclose(
            got[finite], want[finite], rtol=0, atol=LOOSE.get(name, 1e-4) * scale
        )
