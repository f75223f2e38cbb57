"""Attention by functions of positions, which files cannot hold; eager PyTorch is the oracle."""

import warnings

import nnc
import numpy as np
import pytest

pytestmark = pytest.mark.slow


def network(torch):
    """A score with a bias of each head, a mask that hides the first key's row, grouped heads."""
    flex = pytest.importorskip("torch.nn.attention.flex_attention")

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("bias", torch.randn(4))
            hides = lambda b, h, i, j: (i > j) & (i - j < 6)  # noqa: E731
            self.mask = flex.create_block_mask(hides, None, None, 12, 12, device="cpu")

        def forward(self, q, k, v):
            def biased(score, b, h, i, j):
                return torch.where(i >= j, score + self.bias[h] * (i - j), -float("inf"))

            capped = lambda score, b, h, i, j: 5 * torch.tanh(score / 5)  # noqa: E731
            pairs = {"score_mod": capped, "enable_gqa": True, "scale": 0.3}
            return (
                flex.flex_attention(q, k, v, score_mod=biased),
                flex.flex_attention(q, k, v, block_mask=self.mask),
                *flex.flex_attention(q, k[:, :2], v[:, :2], return_lse=True, **pairs),
            )

    torch.manual_seed(0)
    return Network(), [torch.randn(2, 4, 12, 8) for _ in range(3)]


def check(found, expected):
    assert len(found) == len(expected) == 4
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_a_module_is_compiled(torch):
    model, given = network(torch)
    check(nnc.compile(model, given, cache=False)(*given), model(*given))


def test_torch_compile_leaves_nothing(torch):
    from nnc.driver.torch_backend import backend

    model, given = network(torch)
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        check(torch.compile(model, backend=backend)(*given), model(*given))
