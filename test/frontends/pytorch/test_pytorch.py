"""Programs of torch.export, whose files and PyTorch's own outputs are stored beside."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc import NncError
from nnc.frontends.pytorch.ignored import unread
from nnc.runtime.model import in_parts

from ..interpreted import interpreted
from ..mutate import mutated

FILES = Path(__file__).parent / "files"
OWN_TESTS = ("own", "states", "drawn", "autocast", "trained")
STEMS = sorted(path.stem for path in FILES.glob("*.pt2"))
NAMES = [s for s in STEMS if s not in OWN_TESTS and not s.startswith("guards_")]


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_pytorch(name):
    check_outputs(name, interpreted(FILES / f"{name}.pt2"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_outputs_of_machine_code(name):
    check_outputs(name, nnc.compile(FILES / f"{name}.pt2", cache=False))


def check_outputs(name, model):
    arrays = np.load(FILES / f"{name}.npz")
    prefixes = ("", "other_") if "other_in0" in arrays else ("",)
    for prefix in prefixes:
        found = model(*_numbered(arrays, prefix + "in"))
        found = found if isinstance(found, tuple | list) else (found,)
        expected = _numbered(arrays, prefix + "out")
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            one = in_parts(one) if np.iscomplexobj(one) else one  # as they are stored
            assert one.dtype == other.dtype and one.shape == other.shape
            finite = other[np.isfinite(other)] if other.dtype.kind == "f" else np.zeros(1)
            scale = np.abs(finite).max(initial=0)
            one, other = one.astype(np.float64), other.astype(np.float64)
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-5 * float(scale))


def _numbered(arrays, prefix):
    count = sum(key.startswith(prefix) for key in arrays.files)
    return [arrays[f"{prefix}{i}"] for i in range(count)]


def test_complex_arrays_are_taken_and_given_as_they_are():
    arrays = np.load(FILES / "spectra.npz")
    model = nnc.compile(FILES / "spectra.pt2", cache=False)
    x, parts = _numbered(arrays, "in")
    whole = parts[..., 0] + 1j * parts[..., 1]
    found = model(x, whole.astype(np.complex64))
    assert {a.dtype.name for a in found} == {"complex64", "float32"}
    for one, other in zip(found, model(x, parts), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(NncError, match="expected tensor<2x3x5x2xf32>, got float64"):
        model(x, whole.astype(np.complex128))


def test_integers_divided_by_zero_are_an_error():
    arrays = np.load(FILES / "extreme_quotients.npz")
    model = nnc.compile(FILES / "extreme_quotients.pt2", cache=False)
    small, wide, divisors = _numbered(arrays, "in")
    for given in (divisors * 0, np.where(divisors == 5, 0, divisors)):
        with pytest.raises(NncError, match="an integer is divided by 0"):
            model(small, wide, given)


def test_assertions_of_a_model_that_fail_are_an_error():
    """As in PyTorch, whose programs hold for the numbers alone that they assert."""
    x = np.load(FILES / "checked.npz")["in0"]
    model = nnc.compile(FILES / "checked.pt2", cache=False)
    for count, message in ((1, ">= 2"), (5, "<= 4"), (7, "<= 4")):
        with pytest.raises(NncError, match=message):
            model(x, np.array(count))
    with pytest.raises(NncError, match="x is too small"):
        model(x - 20, np.array(3))


def test_buffers_that_a_run_changes_are_states():
    model = nnc.compile(FILES / "states.pt2", cache=False)
    x, total = np.array([1.0, -2.0], np.float32), np.array([0.5, 0.5], np.float32)
    assert model.input_names == ["x", "total", "count", "window"]
    given, window = {"x": x, "total": total}, np.full((3, 2), -1, np.float32)
    for run in (1, 2, 3):
        found = model.run(given)
        window = np.concatenate([window[1:], x[None]])
        first, *states = found.values()
        np.testing.assert_allclose(first, window.sum(0) * run, rtol=1e-6)
        assert list(found)[1:] == ["count", "window", "total"]
        assert states[0] == run and states[0].shape == ()
        np.testing.assert_array_equal(states[1], window)
        np.testing.assert_allclose(states[2], total + x * run)
        given = {"x": x, **dict(list(found.items())[1:])}


def test_running_statistics_are_states_that_start_as_the_file_has_them():
    arrays = np.load(FILES / "trained.npz")
    model = nnc.compile(FILES / "trained.pt2", cache=False)
    assert model.input_names == ["x", "mean", "var", "table"]
    found = list(model.run({"x": arrays["in0"]}).values())
    expected = _numbered(arrays, "out")
    for one, other in zip(found, [*expected, *expected[2:]], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_random_numbers_are_the_same_in_each_run():
    model = nnc.compile(FILES / "drawn.pt2", cache=False)
    x = np.load(FILES / "drawn.npz")["in0"]
    found = model(x)
    for one, other in zip(found, model(x), strict=True):
        np.testing.assert_array_equal(one, other)
    even, normal, numbers, hit, order, classes, kept = found
    assert even.min() >= 0 and even.max() < 1 and abs(even.mean() - 0.5) < 0.05
    assert abs(normal.mean()) < 0.15 and abs(normal.std() - 1) < 0.1
    assert set(numbers) == {3, 4, 5, 6, 7, 8}
    assert set(hit) == {0, 1} and np.corrcoef(hit, x)[0, 1] > 0.4
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    chances = np.bincount(classes, minlength=5) / 1000
    np.testing.assert_allclose(chances, x[:5] / x[:5].sum(), atol=0.06)
    np.testing.assert_array_equal(kept, x)


def test_parts_under_autocast():
    """Within a step of bf16, f32 where autocast is off; `z` shows that the product was in bf16."""
    arrays = np.load(FILES / "autocast.npz")
    found = nnc.compile(FILES / "autocast.pt2", cache=False)(*_numbered(arrays, "in"))
    expected = _numbered(arrays, "out")
    x, w = _numbered(arrays, "in")
    assert not np.allclose(expected[0], x @ w, atol=1e-5)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=2**-7, atol=2**-8)
    np.testing.assert_array_equal(found[0], expected[0])


OWN = """
import nnc
from nnc.dialects.nn import UnaryOp
from nnc.ir.declare import F32, attribute

@nnc.operator("com_example.squareplus")
class Squareplus(UnaryOp, name="com_example.squareplus"):
    \"\"\"A smooth rectifier.\"\"\"

    b: float = attribute(F32, default=4.0)
    body = "out[i..] = (x[i..] + sqrt(x[i..] * x[i..] + b)) / 2"
    example = "%y = com_example.squareplus %x {b = 4.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>"
"""


def test_an_operator_of_ones_own(tmp_path):
    with pytest.raises(NncError, match=r"\(com_example.squareplus.default\): not supported"):
        nnc.load(FILES / "own.pt2")
    (tmp_path / "ops.py").write_text(OWN)
    arrays = np.load(FILES / "own.npz")
    found = nnc.compile(FILES / "own.pt2", ops=tmp_path / "ops.py", cache=False)(arrays["in0"])
    np.testing.assert_allclose(found, arrays["out0"], rtol=1e-6)


def test_the_framework_is_not_imported():
    code = (
        "import sys, nnc; from nnc.frontends.formats import examine_model; "
        f"print(examine_model({str(FILES / 'net.pt2')!r}).producer); "
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PyTorch, torch 2.")


def test_open_extents_have_their_symbols_and_can_be_fixed():
    module = nnc.load(FILES / "shapes.pt2")
    assert "tensor<?x?x4xf32>" in str(module)
    fixed = nnc.load(FILES / "shapes.pt2", shapes={"args_0": (4, 5, 4)})
    assert "tensor<4x5x4xf32>" in str(fixed) and "?" not in str(fixed)


def test_locations_lead_to_the_modules_of_the_source():
    from nnc.frontends.formats import import_model

    text = "".join(str(op.loc) for op in import_model(FILES / "net.pt2").walk())
    assert "layer.self_attn" in text and "conv.conv2d" in text


def test_weights_stay_where_they_lie():
    from nnc.frontends.common.source import Source
    from nnc.frontends.pytorch.model import read

    source = Source(FILES / "net.pt2")
    weights = read(source).constants["p_conv_weight"]
    begin, end = np.lib.array_utils.byte_bounds(source.data)
    own = np.lib.array_utils.byte_bounds(weights)
    assert begin <= own[0] and own[1] <= end


# -- what is refused -------------------------------------------------------------------------------


def _with(name, **members):
    """A stored file with members changed, or left out where they are None."""
    out = io.BytesIO()
    with zipfile.ZipFile(FILES / f"{name}.pt2") as whole, zipfile.ZipFile(out, "w") as made:
        for one in whole.namelist():
            change = next((m for key, m in members.items() if one.endswith(key)), one)
            if change is not None:
                made.writestr(one, whole.read(one) if change is one else change(whole.read(one)))
    return out.getvalue()


def _changed(function):
    def change(data):
        program = json.loads(data)
        function(program)
        return json.dumps(program)

    return change


def test_operators_that_are_missing_are_listed_all_at_once():
    def rename(program):
        for node in program["graph_module"]["graph"]["nodes"]:
            node["target"] = node["target"].replace("relu", "rilu").replace("conv2d", "konv")

    with pytest.raises(NncError) as error:
        nnc.load(_with("net", **{"models/model.json": _changed(rename)}))
    assert "3 layers are not supported" in str(error.value)
    assert "layer 'conv.conv2d' (aten.konv.default)" in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p["schema_version"].update(major=9), "schema 9"),
        (lambda p: p.pop("graph_module"), "the program is broken"),
        (lambda p: p["graph_module"]["graph"]["nodes"].clear(), "is not defined"),
    ],
)
def test_broken_programs_are_one_error(change, message):
    with pytest.raises(NncError, match=message):
        nnc.load(_with("writes", **{"models/model.json": _changed(change)}))


@pytest.mark.parametrize("size", [0, -1, 5])
def test_blocks_that_do_not_divide_a_tensor(size):
    def change(program):
        for node in program["graph_module"]["graph"]["nodes"]:
            for given in node["inputs"]:
                if given["name"] == "block_size" and given["arg"].get("as_ints") == [1, 4]:
                    given["arg"]["as_ints"] = [1, size]

    with pytest.raises(NncError, match=f"blocks of {size} do not divide 8 elements"):
        nnc.load(_with("quantized_blocks", **{"models/model.json": _changed(change)}))


def test_a_package_of_native_code(tmp_path):
    path = tmp_path / "model.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/archive_format", "pt2")
        archive.writestr("model/data/aotinductor/model/code.wrapper.so", b"ELF")
    with pytest.raises(NncError, match=r"a package of AOTInductor.*torch.export.save"):
        nnc.load(path)


def test_tensors_of_subclasses_are_one_error():
    def pickled(weights):
        weights["config"]["conv.weight"]["use_pickle"] = True

    with pytest.raises(NncError, match=r"'conv.weight' are .*unwrap_tensor_subclass"):
        nnc.load(_with("net", **{"weights_config.json": _changed(pickled)}))


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_pickle_is_not_executed(protocol, tmp_path):
    data = pickle.dumps({"weight": [1.0]}, protocol)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("model/data.pkl", data)
    for given in (data, out.getvalue()):
        with pytest.raises(NncError, match=r"torch\.export\.save"):
            nnc.load(given)


class Called:
    """What a pickle would call."""

    def __reduce__(self):
        return print, ("it was called",)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"norm.weight": Called()}, "names '.* print', which is not executed"),
        ([1, 2], "weights are not a dictionary"),
        ({"turned": 3}, "weights 'turned' are not a tensor"),
        ({}, "no weights 'turned'"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_pickles_of_older_archives_are_not_executed(weights, message, protocol, capsys):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as made:
        made.writestr("archive/data.pkl", pickle.dumps(weights, protocol))
    with pytest.raises(NncError, match=message):
        nnc.load(_with("older", **{"state_dict.pt": lambda _: inner.getvalue()}))
    assert not capsys.readouterr().out


def test_mutated_pickles_are_one_error_or_a_model():
    with zipfile.ZipFile(FILES / "older.pt2") as whole:
        data = whole.read("serialized_state_dict.pt")
    with zipfile.ZipFile(io.BytesIO(data)) as inner:
        members = {name: inner.read(name) for name in inner.namelist()}
    pickled = next(name for name in members if name.endswith("data.pkl"))
    for changed in mutated(members[pickled], 60, seed=3):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as made:
            for name, content in members.items():
                made.writestr(name, changed if name == pickled else content)
        _load(_with("older", **{"state_dict.pt": lambda _, out=out: out.getvalue()}))


@pytest.mark.parametrize("name", ["../escape", "/root", "a/../../b", "C:/x"])
def test_members_outside_of_the_archive_are_refused(name):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("model/archive_format", "pt2")
        made.writestr(name, b"x")
    from nnc.frontends.common.source import Source
    from nnc.frontends.wire.archive import Archive

    with pytest.raises(NncError, match="lies outside"):
        Archive(Source(out.getvalue()))


def test_a_member_that_inflates_to_more_than_it_says_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("zeros", bytes(1 << 20))
    data = bytearray(out.getvalue())
    at = data.rindex(b"PK\x01\x02") + 24  # the size in the directory
    data[at : at + 4] = (1000).to_bytes(4, "little")
    from nnc.frontends.common.source import Source
    from nnc.frontends.wire.archive import Archive

    with pytest.raises(NncError, match="is broken"):
        Archive(Source(bytes(data))).read("zeros")


@pytest.mark.parametrize("name", ["writes", "shapes"])
def test_mutated_files_are_one_error_or_a_model(name):
    for data in mutated((FILES / f"{name}.pt2").read_bytes(), 60, seed=1):
        _load(data)
    with zipfile.ZipFile(FILES / f"{name}.pt2") as whole:
        (member,) = [one for one in whole.namelist() if one.endswith("models/model.json")]
        texts = list(mutated(whole.read(member), 60, seed=2))
    for text in texts:
        _load(_with(name, **{"models/model.json": lambda data, text=text: text}))


def _load(data):
    try:
        nnc.load(data)
    except NncError as error:
        assert "\n  File " not in str(error)


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("dropout_p", {"as_float": 0.5}, r"attention.*: argument 'dropout_p' is 0.5, which is not"),
        ("dropout_q", {"as_float": 0.0}, r"attention.*: argument 'dropout_q' is 0.0, which is not"),
    ],
)
def test_arguments_that_no_row_reads_are_refused(argument, value, message):
    def change(program):
        for node in program["graph_module"]["graph"]["nodes"]:
            for one in node["inputs"]:
                if one["name"] == "dropout_p":
                    one.update(name=argument, arg=value)

    with pytest.raises(NncError, match=message):
        nnc.load(_with("attention", **{"models/model.json": _changed(change)}))


def test_what_a_row_never_loads():
    """Of what is given: not what the signature has anyway, and the names in `**rest` too."""

    def row(n, self, scale=1.0, train=False, **rest):
        return lambda: self + scale

    def open_row(n, self, **rest):
        return self, rest

    given = {"self": 1, "scale": 2.0, "train": True, "seed": 3}
    assert unread(row, given) == {"train": True, "seed": 3}
    assert unread(row, {"train": False, "scale": 0}) == {}
    assert unread(open_row, given) == {}
