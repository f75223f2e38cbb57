"""Extents that differ from call to call, under torch.compile; eager PyTorch is the oracle."""

import warnings

import pytest

from .agreement import agree, network

pytestmark = pytest.mark.slow


def test_open_shapes_are_compiled_once(torch, compiled, monkeypatch):
    from nnc.driver import compile as driver

    counts = []
    original = driver.compile_model
    monkeypatch.setattr(
        driver, "compile_model", lambda *a, **k: counts.append(1) or original(*a, **k)
    )
    model = network(torch)
    run = torch.compile(model, backend=compiled.backend, dynamic=True)
    with torch.inference_mode():
        for batch, size in ((2, 8), (3, 11), (5, 14)):
            x = torch.randn(batch, 3, size, size)
            agree(torch, run(x), model(x))
    assert len(counts) == 1


def test_parts_of_an_open_extent(torch, compiled):
    function = lambda x: [part * 2 for part in x.split(3)]  # noqa: E731
    run = torch.compile(
        function, backend=compiled.backend, dynamic=True, options={"fallback": False}
    )
    with torch.inference_mode():
        for count in (4, 5, 6, 8):
            x = torch.randn(count, 2)
            for one, other in zip(run(x), x.split(3), strict=True):
                torch.testing.assert_close(one, other * 2)


def test_heads_of_keys_that_serve_several_of_queries(torch, compiled):
    attend = torch.nn.functional.scaled_dot_product_attention

    def function(q, k):
        return attend(q, k, k, is_causal=True, enable_gqa=True)

    given = torch.randn(1, 4, 5, 8), torch.randn(1, 2, 5, 8)
    with torch.inference_mode():
        found = compiled(function, fallback=False)(*given)
    torch.testing.assert_close(found, function(*given), rtol=1e-4, atol=1e-5)


def test_sums_of_extents(torch, compiled):
    def function(x, y, z):
        return x.new_ones(x.shape[0] + y.shape[0] + z.shape[0] + 1), x.shape[0] + y.shape[0] << 1

    made = compiled(function, fallback=False)
    for sizes in ((2, 3, 4), (5, 7, 6), (3, 9, 8)):
        given = [torch.zeros(size) for size in sizes]
        with torch.inference_mode():
            found, number = made(*given)
        assert (found.shape, number) == (function(*given)[0].shape, function(*given)[1])


def test_an_extent_as_a_result(torch, compiled):
    """A result that is an argument of the graph, and no tensor."""

    def function(x):
        return {"double": x * 2, "count": x.shape[0]}

    made = compiled(function, fallback=False)
    for size in (2, 5, 3):
        given = torch.ones(size, 4)
        with torch.inference_mode():
            found = made(given)
        assert found["count"] == size
        torch.testing.assert_close(found["double"], given * 2)


def test_own_extents_beside_computed_ones(torch, compiled):
    def function(x, y):
        return x[:, None].expand(-1, y.shape[0] + 1, -1) * 2

    run = torch.compile(function, backend=compiled.backend, dynamic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for rows, others in ((2, 3), (4, 6)):
            x, y = torch.randn(rows, 5), torch.randn(others)
            torch.testing.assert_close(run(x, y), function(x, y))


def test_checks_that_have_an_order(torch, compiled):
    """PyTorch hands tokens through a graph in which it checks that matrices are not singular."""

    def function(a, b):
        return torch.linalg.solve(a, b), torch.linalg.inv(a) + torch.linalg.cholesky(a @ a.T)

    torch.manual_seed(0)
    a, b = torch.randn(3, 3), torch.randn(3, 2)
    for one, other in zip(compiled(function, fallback=False)(a, b), function(a, b), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_open_extents_shared_out_to_windows(torch, compiled):
    run = torch.compile(
        lambda x: torch.nn.functional.adaptive_avg_pool2d(x, (7, 3)),
        backend=compiled.backend,
        options={"fallback": False},
        dynamic=True,
    )
    for height, width in ((9, 11), (5, 4), (14, 3)):
        x = torch.rand(2, 3, height, width)
        wanted = torch.nn.functional.adaptive_avg_pool2d(x, (7, 3))
        torch.testing.assert_close(run(x), wanted, rtol=1e-5, atol=1e-6)


def test_complex_numbers_of_open_shapes(torch, compiled):
    def function(x):
        return x * 2, x.abs(), x.conj() * x

    run = compiled(function, fallback=False)
    for x in (torch.randn(3, dtype=torch.complex64), torch.randn(9, dtype=torch.complex64)[::2]):
        for given in (x, x.conj()):
            for one, other in zip(run(given), function(given), strict=True):
                torch.testing.assert_close(one, other)


def test_extents_that_values_tell(torch, compiled):
    def function(x):
        return x[x > 0], x.nonzero()

    config = torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    )
    with config:
        run = torch.compile(function, backend=compiled.backend, fullgraph=True)
        for x in (torch.randn(9), torch.randn(5), -torch.ones(3)):
            for one, other in zip(run(x), function(x), strict=True):
                torch.testing.assert_close(one, other)


def _diagonal_filled(x):
    return x.t().clone().fill_diagonal_(3.0)


def _written_by_strides(x):
    y = x.t().clone()
    y.as_strided((2, 3), (1, 2), 1).add_(5.0)
    return y


def _scattered_by_strides(x):
    return x.t().as_strided_scatter(x[:2, :2] + 1, (2, 2), (1, 2), 1)


def test_views_of_open_extents(torch, compiled):
    """Views lie where PyTorch has them, and what is read by strides is read where it lies."""
    functions = [
        lambda x: x[:, : x.shape[1] // 2],
        lambda x: x[:, :1].expand(-1, x.shape[1] + 1),
        lambda x: (x[:, x.shape[1] // 2 :], x[: x.shape[0] // 2] * 2, x.view(-1)[1:], x.t()),
        lambda x: x.hsplit(2),
        lambda x: x.t().as_strided((3, 2), (2, 1), 1) * 2,
        _diagonal_filled,
        _written_by_strides,
        _scattered_by_strides,
    ]
    for function in functions:
        torch.compiler.reset()
        run = torch.compile(
            function, backend=compiled.backend, dynamic=True, options={"fallback": False}
        )
        for shape in ((3, 6), (5, 8), (4, 4)):
            x = torch.randn(shape)
            with torch.no_grad():
                found, wanted = run(x.clone()), function(x.clone())
            torch.testing.assert_close(found, wanted)
            if function is functions[0]:
                assert found.stride() == wanted.stride()


def test_operators_of_open_extents(torch, compiled):
    from nnc.test.frontends.pytorch.opened import opened

    run = torch.compile(opened, backend=compiled.backend, dynamic=True, options={"fallback": False})
    for shape in ((6, 8), (9, 12)):
        x = torch.randn(shape)
        with torch.no_grad():
            for found, wanted in zip(run(x), opened(x), strict=True):
                assert found.stride() == wanted.stride()
                # Sums of a spectrum that cancel out are off by roundings of its largest elements.
                largest = float(wanted.abs().max()) if wanted.dtype == torch.float32 else 1.0
                near = 1e-6 * max(largest, 1.0)
                torch.testing.assert_close(found, wanted, rtol=1e-5, atol=near)
