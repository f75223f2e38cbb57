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

    compile.backend = backend
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
        return torch.hash_tensor(x), x + 1

    x = torch.rand(4)
    with pytest.warns(
        RuntimeWarning, match=r"(?s)leaves a graph of 2 operators to PyTorch.*hash_tensor"
    ):
        torch.testing.assert_close(compiled(function)(x), function(x))
    torch.compiler.reset()
    with pytest.raises(Exception, match=r"(?s)hash_tensor.*not supported"):
        compiled(function, fallback=False)(x)


def test_training_is_excluded(torch, compiled):
    model = torch.nn.Linear(3, 2)
    with pytest.raises(Exception, match="nnc compiles for inference"):
        compiled(model)(torch.randn(1, 3))


def test_options_are_checked(torch, compiled):
    with pytest.raises(Exception, match="backend nnc has no option 'thread', only threads"):
        compiled(torch.relu, thread=2)(torch.ones(2))
    with pytest.raises(Exception, match="option 'tune' is -1, expected seconds, or 0 for none"):
        compiled(torch.relu, tune=-1)(torch.ones(2))


def test_a_graph_is_compiled_with_the_schedules_that_tuning_found(
    torch, compiled, monkeypatch, tmp_path
):
    from nnc.driver.tuning import kept
    from nnc.kernels import tuned

    asked, read = [], []

    def kept_schedules(module, seconds, threads):
        asked.append((seconds, threads))
        return tuned.TunedFolder(tmp_path)

    files = tuned.TunedFolder.files
    monkeypatch.setattr(kept, "kept_schedules", kept_schedules)
    monkeypatch.setattr(tuned.TunedFolder, "files", lambda self: read.append(1) or files(self))
    x = torch.randn(3, 5)
    with torch.inference_mode():
        found = compiled(torch.relu, tune=30, threads=1, cache=False)(x)
    torch.testing.assert_close(found, x.relu())
    assert asked == [(30, 1)] and read


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


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_are_captured(torch, compiled, kind):
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(6, 8, 2, batch_first=True, bidirectional=True).eval()
    run = torch.compile(layer, backend=compiled.backend, fullgraph=True)
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for batch, steps in ((1, 3), (2, 5), (3, 4)):
            x = torch.randn(batch, steps, 6)
            torch.testing.assert_close(run(x), layer(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layers_of_one_operator(torch, compiled, norm_first):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(
        8,
        2,
        16,
        batch_first=True,
        norm_first=norm_first,
        activation="gelu" if norm_first else "relu",
    ).eval()
    x = torch.randn(2, 5, 8)
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    causal = torch.ones(5, 5, dtype=torch.bool).triu(1)
    run = compiled(layer, fallback=False)
    with torch.inference_mode():
        for masks in (
            {},
            {"src_mask": causal},
            {"src_key_padding_mask": padding},
            {"src_mask": causal, "src_key_padding_mask": padding},
        ):
            found, wanted = run(x, **masks), layer(x, **masks)
            torch.testing.assert_close(found[:, :3], wanted[:, :3], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_autocast(torch, compiled, name):
    model, element = network(torch), getattr(torch, name)

    def function(x):
        with torch.autocast("cpu", dtype=element):
            return model(x)[0]

    x = torch.randn(2, 3, 8, 8)
    with torch.inference_mode():
        found, wanted = compiled(function, fallback=False)(x), function(x)
        exact = model(x)[0]
    assert found.dtype is element
    bound = 2 * (wanted.float() - exact).abs().max() + 1e-3
    assert (found.float() - exact).abs().max() <= bound


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


def test_numbers_that_change(torch, compiled):
    """A number of Python is an argument of the graph once it has changed."""

    def function(x, *, scale):
        return {"y": x * scale, "n": (x.double() + scale).to(torch.float16)}

    run = compiled(function, fallback=False)
    x = torch.randn(3)
    for scale in (1.0, 2.0, 3.5):
        torch.testing.assert_close(run(x, scale=scale), function(x, scale=scale))


def test_operators_that_pytorch_takes_apart(torch, compiled):
    from torch.nn import functional

    weight = torch.randn(2, 4, 4)

    def function(x, classes):
        added = x.clone().addcmul_(x, x, value=0.3)
        made = added, functional.rrelu(x), torch.polar(x, x).conj().imag
        product = functional.bilinear(x, x + 1, weight)
        return functional.multi_margin_loss(x, classes) + x.sum(), product, *made

    x, classes = torch.randn(3, 4), torch.tensor([1, 2, 0])
    with torch.no_grad():
        found = compiled(function, fallback=False)(x, classes)
        torch.testing.assert_close(found, function(x, classes))


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


def test_options_have_types(torch, compiled):
    for given, message in (
        ({"threads": -1}, "expected a number, or 0"),
        ({"threads": "2"}, "expected a number, or 0"),
        ({"fast_math": 3}, "expected a bool"),
    ):
        torch.compiler.reset()
        with pytest.raises(Exception, match=message):
            compiled(torch.relu, **given)(torch.ones(2))


def test_modes_are_checked(torch, compiled):
    x = torch.rand(3)
    for mode in ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"):
        torch.compiler.reset()
        run = torch.compile(lambda x: x + 1, backend=compiled.backend, mode=mode)
        torch.testing.assert_close(run(x), x + 1)
    torch.compiler.reset()
    with pytest.raises(Exception, match="there is no mode 'fastest', only default"):
        torch.compile(lambda x: x + 1, backend=compiled.backend, mode="fastest")(x)


def test_nested_tensors_are_left_to_pytorch(torch, compiled):
    rows = [torch.rand(2, 3), torch.rand(4, 3)]
    x = torch.nested.nested_tensor(rows, layout=torch.jagged)
    with pytest.warns(RuntimeWarning, match="to PyTorch: .* is an extent of nested tensors"):
        found = compiled(lambda x: (x * 2).relu())(x)
    torch.testing.assert_close(found.values(), torch.cat(rows) * 2)


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


def test_random_numbers_are_those_of_pytorch(torch, compiled):
    def function(x):
        return x + torch.rand(3), torch.randn_like(x * 2), torch.randint(0, 9, (4,))

    run, x = compiled(function, fallback=False), torch.zeros(3)
    torch.manual_seed(1)
    found = [run(x) for _ in range(2)]
    torch.manual_seed(1)
    wanted = [function(x) for _ in range(2)]
    for ones, others in zip(found, wanted, strict=True):
        for one, other in zip(ones, others, strict=True):
            torch.testing.assert_close(one, other)


def test_dropout_in_training_mode(torch, compiled):
    run, x = compiled(torch.nn.Dropout(0.25).train(), fallback=False), torch.ones(4000)
    with torch.no_grad():
        first, second = run(x), run(x)
    assert set(first.tolist()) == {0.0, float(torch.tensor(1 / 0.75))}
    assert abs(float(first.mean()) - 1) < 0.05 and not torch.equal(first, second)


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


def test_results_of_mixed_types(torch, compiled):
    """The type of half floats with integers is that of the floats, also where neither is one."""
    half, number = torch.randn(64).bfloat16(), torch.randint(-3, 4, (64,))
    with torch.no_grad():
        for function in (torch.hypot, torch.atan2, torch.copysign, torch.xlogy):
            for a in (half, half.half()):
                for b in (number, number > 0, number.to(torch.uint8)):
                    for x, y in ((a, b), (b, a)):
                        torch.testing.assert_close(
                            compiled(function, fallback=False)(x, y), function(x, y), equal_nan=True
                        )


def test_what_is_compiled_is_what_pytorch_declares(torch, compiled, monkeypatch):
    """A result of another type or shape is no result: nothing is written through it."""
    from nnc.dialects import nn
    from nnc.frontends.pytorch.rows import ROWS
    from nnc.ir.types import i32

    def longer(n, self, other):
        return n(nn.Concat([self, other], axis=0))

    def whole(n, self, other):
        return n.cast(n(nn.Add(self, other)), i32)

    ROWS.find("aten.hypot")  # loads the table
    x = torch.rand(8)
    for row, message in ((longer, r"tensor<16xf32> in compiled code"), (whole, "gives elements")):
        monkeypatch.setitem(ROWS._table, "aten.hypot", row)
        torch.compiler.reset()
        with pytest.raises(Exception, match=message):
            compiled(torch.hypot, fallback=False, cache=False)(x, x)


def test_tensors_that_nothing_guards(torch, compiled):
    """A tensor of another shape or type than the code's is an error; one that lies otherwise not."""
    x = torch.rand(8, 3)
    with torch.no_grad():
        run = compiled.backend(torch.fx.symbolic_trace(lambda x: (x + 1,)), [x])
        for other in (x, torch.rand(16, 3)[::2], torch.rand(3, 8).t()):
            torch.testing.assert_close(run(other), (other + 1,))
        for other in (x[:4], x.half(), x.double(), x[0]):
            with pytest.raises(Exception, match=r"an input is .*, but the code is for"):
                run(other)


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
