"""Functions of jnp and lax: compiled, they give what JAX computed."""

import nnc
import numpy as np
import pytest

from .cases import LOOSE, UNSUPPORTED, arrays, names, text

SAMPLE = 9
"""Of so many cases, one runs by default."""

SUPPORTED = [name for name in names() if name not in UNSUPPORTED]


@pytest.mark.parametrize("name", SUPPORTED[::SAMPLE])
def test_a_sample_agrees_with_jax(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SUPPORTED)
def test_all_agree_with_jax(name):
    check(name)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_missing_is_an_error(name):
    with pytest.raises(nnc.NncError, match=r"not supported:|combines elements otherwise"):
        nnc.load(text(name).encode())


def check(name: str) -> None:
    inputs, wanted = arrays(name)
    found = nnc.compile(text(name).encode(), cache=False)(*inputs)
    found = list(found) if isinstance(found, tuple) else [found]
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted, strict=True):
        assert got.shape == want.shape
        got, want = got.astype(np.float64), want.astype(np.float64)
        finite = np.isfinite(want)
        np.testing.assert_array_equal(got[~finite], want[~finite])
        scale = np.abs(want[finite]).max(initial=1e-6)
        np.testing.assert_allclose(
            got[finite], want[finite], rtol=0, atol=LOOSE.get(name, 1e-4) * scale
        )
