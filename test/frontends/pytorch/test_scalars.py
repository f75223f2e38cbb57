"""Numbers beside 16-bit floats, for all finite floats of 16 bits; eager PyTorch is the oracle.

It takes some numbers in f32 and rounds others to 16 bits first, which its rows have to tell apart.
"""

import nnc
import numpy as np
import pytest

pytestmark = pytest.mark.slow

NUMBERS = (0.3, 41.0, -1.7, 1e-3, 3, -7, 1 / 3, 257)
EXACT = {
    "product": lambda t, x, s: x * s,
    "product_in_place": lambda t, x, s: x.clone().mul_(s),
    "product_with_float": lambda t, x, s: x * t.tensor(float(s)),
    "product_from_float": lambda t, x, s: t.tensor(float(s)) * x,
    "product_with_half": lambda t, x, s: x * t.tensor(s, dtype=x.dtype),
    "quotient": lambda t, x, s: x / s,
    "quotient_with_double": lambda t, x, s: x / t.tensor(float(s), dtype=t.float64),
    "quotient_rounded_down": lambda t, x, s: x // s,
    "quotient_without_fraction": lambda t, x, s: t.div(x, s, rounding_mode="trunc"),
    "sum": lambda t, x, s: x + s,
    "difference": lambda t, x, s: s - x,
    "sum_with_factor": lambda t, x, s: t.add(x, x.flip(0), alpha=s),
    "sum_with_number_and_factor": lambda t, x, s: t.add(x, 1.3, alpha=s),
    "difference_with_factor": lambda t, x, s: t.rsub(x, 2.0, alpha=s),
    "rows_added_with_factor": lambda t, x, s: x.view(8, -1).index_add(
        0, t.tensor([1, 5]), x.view(8, -1)[2:4].flip(1), alpha=s
    ),
    "comparisons": lambda t, x, s: (x < s) ^ (x >= s / 3) ^ (x == s),
    "bounds": lambda t, x, s: x.clamp(s - 2, s),
    "slope": lambda t, x, s: t.nn.functional.leaky_relu(x, s),
    "threshold": lambda t, x, s: t.nn.functional.threshold(x, s, 0.7 * s),
    "shrunk": lambda t, x, s: t.nn.functional.softshrink(x, abs(s)),
    "shrunk_hard": lambda t, x, s: t.nn.functional.hardshrink(x, s),
    "degrees": lambda t, x, s: t.rad2deg(x) + s * 0,
}
NEAR = {
    "power": lambda t, x, s: x**s,
    "elu": lambda t, x, s: t.nn.functional.elu(x, s),
    "celu": lambda t, x, s: t.nn.functional.celu(x, s),
    "softplus": lambda t, x, s: t.nn.functional.softplus(x, abs(s)).clamp(max=80),
    "logarithms": lambda t, x, s: t.log2(x.abs()) + t.log10(x.abs()) * 0,
    "rounded": lambda t, x, s: t.round(x.clamp(-200, 200), decimals=2),
    "interpolated": lambda t, x, s: t.lerp(x / 8, x.flip(0) / 8, 1 / (1 + abs(s))),
    "scaled_product": lambda t, x, s: t.addcmul(x, x.flip(0), x.roll(1000), value=s),
}


def by_turns():
    """Each operator on both kinds; one of them, by turns, is left to `.ci/run combinations`."""
    for number, name in enumerate([*EXACT, *NEAR]):
        for other, kind in enumerate(["bfloat16", "float16"]):
            rare = number % 2 != other
            yield pytest.param(name, kind, marks=[pytest.mark.exhaustive] * rare)


@pytest.mark.parametrize(("name", "kind"), list(by_turns()))
def test_numbers_beside_halves(torch, name: str, kind: str):
    """To the last bit where one step is rounded, else to two units in the last place."""
    x = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(getattr(torch, kind))
    x = x[x.isfinite()]
    operator = (EXACT | NEAR)[name]

    def function(v):
        return torch.stack([operator(torch, v, number) for number in NUMBERS]).to(v.dtype)

    found = np.asarray(nnc.compile(function, (x,), cache=False, fast_math=False)(x))
    expected = function(x)
    np.testing.assert_array_equal(np.isnan(found), expected.isnan())
    apart = np.abs(_place(found.view(np.int16)) - _place(expected.view(torch.int16).numpy()))
    assert apart[~np.isnan(found)].max() <= (0 if name in EXACT else 2)


@pytest.mark.parametrize("weight", [-1.7, -0.4, 2.6, 5.0])
def test_interpolations_beyond_an_end_overflow_where_they_are_too_large(torch, weight: float):
    """-1.7 of the way from 0 to -1.6e38 is 2.7e38, though 2.7 times 1.6e38 is too large for f32."""
    x = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    y = x[torch.randperm(len(x), generator=torch.Generator().manual_seed(0))]

    def function(a, b):
        return torch.lerp(a, b, weight)

    found = np.asarray(nnc.compile(function, (x, y), cache=False)(x, y)).astype(np.float32)
    np.testing.assert_array_equal(np.isfinite(found), function(x, y).isfinite())


def _place(bits: np.ndarray) -> np.ndarray:
    """The place of each number in the order of all; +0 and -0 share theirs."""
    bits = bits.astype(int)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)
