"""Writes, views and other orders in memory, under torch.compile; eager PyTorch is the oracle."""

import pytest

pytestmark = pytest.mark.slow


def test_memory_in_another_order(torch, compiled):
    """Inputs and outputs that are not contiguous are read and written where they lie."""
    conv = torch.nn.Conv2d(3, 5, 3).eval()
    images = torch.randn(2, 3, 9, 8).to(memory_format=torch.channels_last)

    def function(x, y):
        return conv(x).relu(), y.t() + 1, y[:, 1:] * 2, None

    y = torch.randn(4, 6)
    for given in ((images, y), (images.contiguous(), y.t()[1:5, :3])):
        with torch.inference_mode():
            found, wanted = compiled(function)(*given), function(*given)
        for one, other in zip(found[:3], wanted[:3], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
        assert found[1].stride() == wanted[1].stride()


def test_statistics_that_are_updated(torch, compiled):
    """BatchNorm in training mode without gradients: what runs along is updated, too."""
    import copy

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    own = copy.deepcopy(model)
    run = compiled(own, fallback=False)
    with torch.no_grad():
        for _ in range(2):
            x = torch.randn(4, 3, 8, 8)
            torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-5)
            for one, other in zip(own.buffers(), model.buffers(), strict=True):
                torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_writes_that_pytorch_does_not_count(torch, compiled):
    model = torch.nn.Linear(3, 2)
    run, x = compiled(model, fallback=False), torch.randn(4, 3)

    def through_numpy():
        model.weight.detach().numpy()[:] = 3

    with torch.inference_mode():
        kept = torch.nn.Parameter(torch.randn(2, 3))
    changes = [
        lambda: model.weight.data.fill_(2),
        lambda: model.bias.data.copy_(torch.ones(2)),
        through_numpy,
        lambda: setattr(model, "weight", kept),
        lambda: kept.mul_(2),
    ]
    for change in [lambda: None, *changes]:
        with torch.inference_mode():
            change()
            torch.testing.assert_close(run(x), model(x))


def cached(torch, apart):
    """A module that writes to a buffer in each call, and reads it in a graph of its own."""

    class Cache(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(9, 3))

        def forward(self, x, place):
            self.keys[place] = x
            if apart:
                torch._dynamo.graph_break()
            return self.keys.sum(0)

    return Cache().eval()


@pytest.mark.parametrize(("apart", "most"), [(False, 1), (True, 5)])
def test_buffers_that_are_written_are_inputs(torch, compiled, monkeypatch, apart, most):
    from nnc.driver import compile as driver

    counts, original = [], driver.compile_model
    monkeypatch.setattr(
        driver, "compile_model", lambda *a, **k: counts.append(1) or original(*a, **k)
    )
    own, model = cached(torch, apart), cached(torch, apart)
    run = compiled(own, fallback=False)
    for i in range(9):
        x, place = torch.randn(3), torch.tensor(i)
        torch.testing.assert_close(run(x, place), model(x, place))
        torch.testing.assert_close(own.keys, model.keys)
    assert len(counts) <= most


def test_results_that_share_memory(torch, compiled):
    def function(x):
        y = (x + 1).t()
        return y, y[0], y.t(), y, None, y[:, 1:], y.contiguous(), x

    x = torch.randn(3, 4)
    found, wanted = compiled(function, fallback=False)(x), function(x)
    for one, other in zip(found, wanted, strict=True):
        if other is not None:
            torch.testing.assert_close(one, other)
            assert one.stride() == other.stride()
            assert one.storage_offset() == other.storage_offset()
            shares = one.untyped_storage()._cdata == found[0].untyped_storage()._cdata
            assert shares == (other.untyped_storage()._cdata == wanted[0].untyped_storage()._cdata)
    assert found[3] is found[0] and found[-1] is x


def test_views_of_arguments_share_their_memory(torch, compiled):
    run = torch.compile(
        lambda x: (x[:, : x.shape[1] // 2], x + 1), backend=compiled.backend, dynamic=True
    )
    whole = torch.zeros(4, 5, 6)
    with torch.no_grad():
        run(torch.zeros(3, 4))
        part, _ = run(whole[2])  # begins inside its memory
        part.fill_(1)
    assert whole.sum() == whole[2, :, :3].sum() == 15


def test_written_arguments_and_their_views(torch, compiled):
    """A view of what is written lies in the caller's tensor."""

    def function(x):
        x.add_(1)
        return x[:, 1 : x.shape[1] // 2]

    run = torch.compile(function, backend=compiled.backend, dynamic=True)
    for shape in ((3, 6), (5, 9)):
        x = torch.randn(shape)
        y = x.clone()
        with torch.no_grad():
            torch.testing.assert_close(run(x), function(y))
        torch.testing.assert_close(x, y)
