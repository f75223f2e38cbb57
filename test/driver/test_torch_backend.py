"""nnc as a backend of torch.compile; eager PyTorch is the oracle."""

import warnings

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def torch():
    import torch

    return torch


@pytest.fixture
def compiled(torch):
    """Compile by nnc, without what was compiled before."""
    from nnc.driver.torch_backend import backend

    torch.compiler.reset()

    def compile(model, **options):
        return torch.compile(model, backend=backend, options=options)

    return compile


def network(torch):
    """A small network with what weights, buffers and a write in place need."""
    nn = torch.nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
            self.last = nn.Linear(8, 4)
            self.register_buffer("scale", torch.rand(8, 1, 1) + 0.5)

        def forward(self, x):
            y = torch.relu(self.norm(self.conv(x)) * self.scale).clone()
            y += 1
            return self.last(y.mean((2, 3))), x.shape[0] * 2, y.transpose(2, 3)

    torch.manual_seed(0)
    return Network().eval()


def agree(torch, found, wanted):
    torch.testing.assert_close(found[0], wanted[0], rtol=1e-4, atol=1e-5)
    assert found[1] == wanted[1]
    torch.testing.assert_close(found[2], wanted[2], rtol=1e-4, atol=1e-5)
    assert found[2].stride() == wanted[2].stride()


def test_shapes_that_change(torch, compiled):
    model = network(torch)
    run = compiled(model)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for batch, size in ((1, 8), (2, 9), (3, 11), (3, 14)):
            x = torch.randn(batch, 3, size, size)
            agree(torch, run(x), model(x))


def test_weights_that_change(torch, compiled):
    model = network(torch)
    run = compiled(model)
    x = torch.randn(1, 3, 8, 8)
    with torch.inference_mode():
        agree(torch, run(x), model(x))
    with torch.no_grad():
        model.last.weight.mul_(2)
    with torch.inference_mode():
        agree(torch, run(x), model(x))


def test_two_models_of_one_class(torch, compiled):
    first, second = network(torch), network(torch)
    with torch.no_grad():
        second.last.bias.add_(1)
        x = torch.randn(1, 3, 8, 8)
        for model in (first, second):
            agree(torch, compiled(model)(x), model(x))


def test_graph_breaks(torch, compiled):
    def function(x):
        if x.sum() > 0:
            return torch.relu(x) + 1
        return torch.exp(x).to(torch.bfloat16)

    run = compiled(function)
    for x in (torch.ones(3, 2), -torch.ones(3, 2)):
        torch.testing.assert_close(run(x), function(x))


def test_operators_that_are_left_to_pytorch(torch, compiled):
    def function(x):
        return torch.special.bessel_j0(x) + 1

    x = torch.rand(4)
    with pytest.warns(
        RuntimeWarning, match=r"(?s)leaves a graph of 2 operators to PyTorch.*bessel"
    ):
        torch.testing.assert_close(compiled(function)(x), function(x))
    torch.compiler.reset()
    with pytest.raises(Exception, match=r"(?s)special_bessel_j0.*not supported"):
        compiled(function, fallback=False)(x)


def test_training_is_excluded(torch, compiled):
    model = torch.nn.Linear(3, 2)
    with pytest.raises(Exception, match="nnc compiles for inference"):
        compiled(model)(torch.randn(1, 3))


def test_options_are_checked(torch, compiled):
    with pytest.raises(Exception, match="backend nnc has no option 'thread', only threads"):
        compiled(torch.relu, thread=2)(torch.ones(2))
