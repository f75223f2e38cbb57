"""Objects of PyTorch in this process, as they are handed over; eager PyTorch is the oracle."""

import nnc
import numpy as np
import pytest
from nnc import NncError

pytestmark = pytest.mark.slow


@pytest.fixture
def linear(torch):
    torch.manual_seed(0)
    return torch.nn.Linear(4, 3).eval()


def test_a_module_with_example_inputs(torch, linear):
    x = torch.randn(2, 4)
    for given in ((x,), x, {"input": x}, x.numpy()):
        model = nnc.compile(linear, given, cache=False)
        np.testing.assert_allclose(model(x), linear(x).detach(), rtol=1e-5, atol=1e-6)
    linear.train()
    nnc.load(linear, (x,))
    assert linear.training


def test_a_function_with_example_tensors(torch):
    x = torch.randn(2, 4)
    found = nnc.compile(lambda x, y: x @ y.T + 1, (x, x), cache=False)(x, x)
    np.testing.assert_allclose(found, x @ x.T + 1, rtol=1e-5)


def test_outputs_in_containers(torch, linear):
    class Model(torch.nn.Module):
        def forward(self, x, pair):
            return {"sum": x + pair[0], "parts": [x * pair[1], (x - 1,)]}

    x = torch.randn(3)
    model = nnc.compile(Model(), (x, (x, x)), cache=False)
    assert model.input_names == ["x", "pair_0", "pair_1"]
    for one, other in zip(model(x, x, x), (x + x, x * x, x - 1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_program_that_pytorch_cannot_take_apart_is_refused(torch):
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.func.grad(lambda y: (y.tanh() ** 2).sum())(x)

    with torch.no_grad():
        program = torch.export.export(Model(), (torch.randn(3),))
    with pytest.raises(NncError, match="cannot take the program apart"):
        nnc.load(program)


def test_a_buffer_that_is_given_to_itself_is_no_state(torch):
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.randn(3))

        def forward(self, x):
            self.table = self.table.to(x.device)
            return x + self.table

    net = Model()
    program = torch.export.export(net, (torch.ones(3),))
    model = nnc.compile(program, cache=False)
    assert model.input_names == ["x"]
    np.testing.assert_allclose(model(torch.ones(3)), 1 + net.table, rtol=1e-6)


def test_what_is_read_by_strides_lies_in_the_order_of_memory(torch):
    def function(x):
        turned = x.transpose(0, 1)
        return turned.as_strided((3, 2, 4), (4, 8, 1)), turned[None].as_strided((5, 3), (2, 3))

    x = torch.randn(6, 4)
    found = nnc.compile(function, (x,), cache=False)(x)
    for one, other in zip(found, function(x), strict=True):
        np.testing.assert_array_equal(one, other)
    gaps = torch.nn.Module()
    gaps.forward = lambda x: x[:, :3].as_strided((3, 3), (4, 1))
    with pytest.raises(NncError, match="reads a tensor with gaps by strides"):
        nnc.load(gaps, (x,))


def test_operators_that_pytorch_takes_apart(torch):
    from torch._higher_order_ops import associative_scan

    def function(x, classes):
        products = associative_scan(lambda a, b: a * b, x, 0, combine_mode="generic")
        return products, torch.nn.functional.multi_margin_loss(x, classes)

    given = torch.randn(3, 4), torch.tensor([1, 2, 0])
    found = nnc.compile(function, given, cache=False)(*given)
    for one, other in zip(found, function(*given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_functions_and_programs_of_all_kinds(torch, linear):
    x = torch.randn(2, 4)
    program = torch.export.export(linear, (x,))
    for given in (program.module(), torch.export.unflatten(program), torch.compile(linear)):
        found = nnc.compile(given, (x,), cache=False)(x)
        np.testing.assert_allclose(found, linear(x).detach(), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(nnc.compile(torch.relu, (x,), cache=False)(x), x.relu())


def test_matrices_of_a_batch_that_is_mapped(torch):
    matrices = torch.eye(3) * 2 + torch.rand(2, 3, 3)
    function = lambda x: torch.vmap(torch.linalg.inv)(x)  # noqa: E731
    found = nnc.compile(function, (matrices,), cache=False)(matrices)
    np.testing.assert_allclose(found, torch.linalg.inv(matrices), rtol=1e-4, atol=1e-5)


def test_what_is_no_model_is_one_error(torch, linear):
    x = torch.randn(2, 4)
    meta = torch.nn.Linear(4, 3, device="meta")
    for given, inputs, message in (
        (linear, None, r"needs example inputs: nnc.compile\(model, inputs=\(x,\)\)"),
        (linear.state_dict(), None, "weights without a model"),
        (torch.jit.trace(linear, x), (x,), "a TorchScript module"),
        (meta, (x.to("meta"),), "on the device 'meta'"),
        (linear, (torch.randn(2, 5),), "torch.export cannot export it"),
    ):
        with pytest.raises(NncError, match=message):
            nnc.load(given, inputs)


@pytest.mark.parametrize("enabled", [0, 1])
def test_fake_quantization_that_a_tensor_turns_on(torch, enabled):
    def quantized(x, scale, zero, on):
        rounded = torch.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams
        return rounded(x, scale, zero, on, -8, 7)

    x, scale = torch.linspace(-3, 3, 13), torch.tensor([0.25])
    given = (x, scale, torch.tensor([1], dtype=torch.int32), torch.tensor([enabled]))
    found = nnc.compile(quantized, given, cache=False)(*given)
    for one, other in zip(found, quantized(*given), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_inputs_of_types_that_numpy_lacks(torch, name):
    x = torch.randn(4, 3).to(getattr(torch, name)).T
    model = nnc.compile(lambda v: v.float() * 2, (x,), cache=False)
    np.testing.assert_array_equal(model(x), x.float() * 2)
    with pytest.raises(NncError, match="gradient"):
        model(torch.randn(3, 4, requires_grad=True).to(x.dtype))


def test_norms_of_halves_whose_powers_are_beyond_them(torch):
    x = torch.tensor([6.0, -8.0, 3.0, 0.5], dtype=torch.float16)
    for order in (5, 6.0, 3):
        found = nnc.compile(lambda v, p=order: torch.linalg.vector_norm(v, p), (x,), cache=False)(x)
        np.testing.assert_allclose(
            float(found), float(torch.linalg.vector_norm(x, order)), rtol=0.01
        )


def test_positions_of_a_lone_element_with_corners_aligned(torch):
    def positions(theta):
        return torch.nn.functional.affine_grid(theta, [1, 2, 1, 3], align_corners=True)

    theta = torch.randn(1, 2, 3)
    found = nnc.compile(positions, (theta,), cache=False)(theta)
    np.testing.assert_allclose(found, positions(theta), rtol=1e-5, atol=1e-6)


def test_extents_by_rounding_in_a_file(torch, tmp_path):
    """Their operators name their operands otherwise than those of tensors."""

    class Scaled(torch.nn.Module):
        def forward(self, x):
            scaled = torch.nn.functional.interpolate
            return scaled(x, scale_factor=1.3, mode="bilinear", recompute_scale_factor=True)

    x = torch.sin(torch.arange(2 * 7 * 9.0)).reshape(1, 2, 7, 9)
    sizes = {2: torch.export.Dim.AUTO, 3: torch.export.Dim.AUTO}
    path = tmp_path / "scaled.pt2"
    program = torch.export.export(Scaled(), (torch.zeros(1, 2, 12, 10),), dynamic_shapes=(sizes,))
    torch.export.save(program, path)
    found = nnc.compile(path, cache=False)(x.numpy())
    np.testing.assert_allclose(found, Scaled()(x).numpy(), atol=1e-5)


def test_identity_matrices_of_open_extents(torch):
    class Eyes(torch.nn.Module):
        def forward(self, x):
            rows, columns = x.shape
            square = torch.eye(rows, dtype=torch.complex64).real
            return torch.eye(rows, columns) + x, torch.eye(columns, dtype=torch.int64), square

    sizes = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    program = torch.export.export(Eyes(), (torch.zeros(3, 5),), dynamic_shapes=(sizes,))
    x = torch.sin(torch.arange(24.0)).reshape(6, 4)
    for one, expected in zip(nnc.compile(program, cache=False)(x), Eyes()(x), strict=True):
        np.testing.assert_array_equal(one, expected)


def test_a_branch_that_gives_its_operand_back(torch):
    """PyTorch cannot take such a program apart, and need not."""

    class Model(torch.nn.Module):
        def forward(self, x):
            branches = (lambda v: (v, v + 1)), (lambda v: (v * 3, v - 1))
            return torch.cond(x.sum() > 0, *branches, (x,))

    x = torch.randn(3, 4).abs()
    with torch.no_grad():
        program = torch.export.export(Model(), (x,))
    model = nnc.compile(program, cache=False)
    np.testing.assert_allclose(model(x), (x, x + 1), rtol=1e-6)
    np.testing.assert_allclose(model(-x), (-x * 3, -x - 1), rtol=1e-6)


def test_element_types_that_a_program_asks_for(torch, tmp_path):
    """`torch.export` leaves the questions in the program, though the answers are known."""

    class Model(torch.nn.Module):
        def forward(self, x, y):
            kind = torch.promote_types(x.dtype, torch.float16)
            narrow = x if torch.can_cast(x.dtype, y.dtype) else y
            return x.to(kind) + 1, y.to(torch.result_type(x, y)) * 2, narrow

    path = tmp_path / "types.pt2"
    for given in ((torch.randn(3), torch.arange(3)), (torch.arange(3), torch.randn(2).double())):
        torch.export.save(torch.export.export(Model(), given), path)
        expected = Model()(*given)
        for one, other in zip(nnc.compile(path, cache=False)(*given), expected, strict=True):
            np.testing.assert_array_equal(one, other.numpy(), strict=True)


def test_guards_of_an_exported_program_are_checked(torch):
    class Model(torch.nn.Module):
        def forward(self, x, *, more):
            y = more[1]["u"]
            return x * 2 + y[0] if x.shape[0] > 4 and y.shape[0] % 3 == 0 else x

    def inputs(rows, count):
        return torch.ones(rows, 3), torch.ones(count)

    x, y = inputs(6, 6)
    auto = {0: torch.export.Dim.AUTO}
    dynamic = {"x": {0: torch.export.Dim("rows", min=5, max=20)}, "more": [None, {"u": auto}]}
    program = torch.export.export(Model(), (x,), {"more": [None, {"u": y}]}, dynamic_shapes=dynamic)
    model = nnc.compile(program, cache=False)
    for sizes in ((6, 6), (20, 9), (4, 6), (21, 6), (6, 7)):
        x, y = inputs(*sizes)
        try:
            expected = program.module()(x, more=[None, {"u": y}])
        except AssertionError:
            with pytest.raises(NncError, match="was exported for inputs"):
                model(x.numpy(), y.numpy())
        else:
            np.testing.assert_array_equal(model(x.numpy(), y.numpy()), expected.numpy())


def test_extents_by_a_symbol_that_no_input_shows_are_checked(torch):
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return x.sum() + y

    d = torch.export.Dim("d", min=2, max=9)
    x, y = torch.ones(8), torch.ones(13)
    program = torch.export.export(Model(), (x, y), dynamic_shapes=({0: 2 * d}, {0: 3 * d + 1}))
    model, taken = nnc.compile(program, cache=False), 0
    for sizes in ((8, 13), (8, 16), (10, 16), (9, 13), (2, 4), (20, 31)):
        x, y = map(torch.ones, sizes)
        try:
            expected = program.module()(x, y)
        except AssertionError:
            with pytest.raises(NncError, match="was exported for inputs"):
                model(x.numpy(), y.numpy())
        else:
            taken += 1
            np.testing.assert_array_equal(model(x.numpy(), y.numpy()), expected.numpy())
    assert taken == 2


def test_complex_systems_of_open_size(torch):
    class Model(torch.nn.Module):
        def forward(self, x):
            a = torch.complex(x, x.T * 0.5)
            found = torch.linalg.inv(a), torch.linalg.solve(a, a.mT)
            return tuple(map(torch.view_as_real, found))

    torch.manual_seed(0)
    axes = dict.fromkeys((0, 1), torch.export.Dim.AUTO)
    program = torch.export.export(Model(), (torch.randn(4, 4),), dynamic_shapes=(axes,))
    compiled = nnc.compile(program, cache=False)
    for count in (4, 6, 2):
        x = torch.randn(count, count) + 3 * torch.eye(count)
        for one, expected in zip(compiled(x), Model()(x), strict=True):
            np.testing.assert_allclose(one, expected, rtol=1e-3, atol=1e-3)


def test_open_heads_of_queries_and_of_keys(torch):
    class Model(torch.nn.Module):
        def forward(self, q, k):
            attend = torch.nn.functional.scaled_dot_product_attention
            return attend(q, k, k * 2, enable_gqa=True)

    def inputs(heads, groups):
        return torch.randn(2, heads, 3, 4), torch.randn(2, groups, 3, 4)

    torch.manual_seed(0)
    axes = {1: torch.export.Dim.AUTO}
    program = torch.export.export(Model(), inputs(6, 3), dynamic_shapes=(axes, axes))
    compiled = nnc.compile(program, cache=False)
    for counts in ((6, 3), (4, 2), (8, 2)):
        given = inputs(*counts)
        np.testing.assert_allclose(compiled(*given), Model()(*given), rtol=1e-4, atol=1e-5)


WRITES = {
    "of every window": lambda y: y.unfold(0, 2, 1)[:, :, 1].add_(1),
    "by a sum": lambda y: y.unfold(0, 2, 1)[:, :, 1].__iadd__(1),
    "of windows apart": lambda y: y.unfold(1, 4, 1)[:, ::4].mul_(-1),
    "of a row of strides": lambda y: y.as_strided((3, 4), (2, 1))[1].fill_(9),
    "of no numbers": lambda y: y.unfold(1, 3, 2)[:, :, 2].fill_(float("nan")),
    "of windows of windows": lambda y: y.unfold(0, 2, 1).unfold(1, 3, 1)[:, 0, 1].fill_(5),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_through_parts_of_overlapping_windows(torch, name):
    """The same element is in other windows too, as it was before."""

    class Model(torch.nn.Module):
        def forward(self, x):
            y = x.clone()
            windows = y.unfold(1, 3, 1)
            WRITES[name](y)
            return y, windows + 1

    axes = dict.fromkeys((0, 1), torch.export.Dim.DYNAMIC)
    given = (torch.randn(5, 9),)
    for shapes in (None, (axes,)):
        program = torch.export.export(Model(), given, dynamic_shapes=shapes, strict=False)
        compiled = nnc.compile(program, cache=False)
        for shape in [(5, 9), (6, 11)][: 1 if shapes is None else 2]:
            x = torch.randn(*shape)
            for one, other in zip(compiled(x), Model()(x), strict=True):
                np.testing.assert_array_equal(one, other)


def test_repeats_computed_at_run_time(torch):
    class Model(torch.nn.Module):
        def forward(self, x, counts):
            count = counts[0].item()
            torch._check(count >= 0)
            return x.repeat_interleave(count, 1), x.repeat_interleave(counts[1:], 0)

    axes = {0: torch.export.Dim.DYNAMIC}
    given = torch.randn(3, 4), torch.tensor([2, 1])
    program = torch.export.export(Model(), given, dynamic_shapes=(axes, None))
    compiled = nnc.compile(program, cache=False)
    for rows, counts in ((3, [2, 3]), (4, [0, 1]), (2, [5, 0])):
        x, numbers = torch.randn(rows, 4), torch.tensor(counts)
        for one, other in zip(compiled(x, numbers), Model()(x, numbers), strict=True):
            np.testing.assert_array_equal(one, other)
