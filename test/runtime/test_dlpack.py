"""Tensors of other frameworks as inputs, by DLPack, and results handed on by it."""

import numpy as np
import pytest
from nnc import NncError
from nnc.driver.compile import compile_model
from nnc.ir.syntax.parser import parse_module

TEXT = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = nn.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}"""


class Tensor:
    """Another framework's: it has nothing but DLPack."""

    def __init__(self, array, kind=1, copies=True):
        self.array, self.kind, self.copies = array, kind, copies
        self.asked = []

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **asked):
        self.asked.append(asked)
        elsewhere = self.kind not in (1, 3, 11, 13)
        if elsewhere and (asked.get("dl_device") != (1, 0) or not self.copies):
            raise BufferError("it is on a GPU\nand stays there")
        return self.array.__dlpack__()


@pytest.fixture(scope="module")
def model():
    return compile_model(parse_module(TEXT), target="host", cache=False)


X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("kind", [1, 2, 3, 10, 11, 13])
def test_a_tensor_wherever_it_is(model, kind):
    """What is here is read where it lies; what is elsewhere is asked for a copy here."""
    given = Tensor(X, kind)
    np.testing.assert_array_equal(model(given), -X)
    assert (given.asked[-1].get("dl_device") == (1, 0)) == (kind in (2, 10))


def test_strides_are_kept(model):
    np.testing.assert_array_equal(model(Tensor(X.reshape(3, 2).T)), -X.reshape(3, 2).T)


def test_results_are_handed_on(model):
    """Without a copy: what is written by way of the one is in the other."""
    made = model(Tensor(X))
    taken = np.from_dlpack(made)
    assert np.shares_memory(taken, made)
    np.testing.assert_array_equal(model(Tensor(taken)), X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            Tensor(X, 2, copies=False),
            "input 'input0': the tensor cannot be read here: it is on a GPU",
        ),
        (
            Tensor(X.astype(np.float64)),
            "input 'input0': expected tensor<2x3xf32>, got float64 (2, 3)",
        ),
        (Tensor(X[:1]), "input 'input0': expected tensor<2x3xf32>, got float32 (1, 3)"),
    ],
    ids=["elsewhere", "type", "shape"],
)
def test_what_is_refused(model, given, message):
    with pytest.raises(NncError) as caught:
        model(given)
    assert caught.value.message == message


@pytest.mark.slow
def test_what_pytorch_negates_on_reading(model):
    """A view with the negative bit, whose capsule has the elements without the sign."""
    torch = pytest.importorskip("torch", reason="the `models` extra is not installed")
    given = torch.complex(torch.zeros(2, 3), torch.tensor(X)).conj().imag
    assert given.is_neg()
    np.testing.assert_array_equal(model(given), X)
