"""nnc as a backend of torch.compile; eager PyTorch is the oracle."""

import warnings

import pytest

from .agreement import agree, network

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("chance", [0.0, 0.3, 1.0])
def test_dropout_draws_as_pytorch_does(torch, compiled, chance):
    """Also in the order in which a transposed operand lies in memory, and for halves."""

    def function(x):
        drop = torch.nn.functional.dropout
        return drop(x.t() * 2, chance, True), drop(x.half(), chance, True)

    run, x = compiled(function, fallback=False), torch.randn(5, 7)
    with torch.no_grad():
        torch.manual_seed(3)
        wanted = function(x)
        torch.manual_seed(3)
        for one, other in zip(run(x), wanted, strict=True):
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
