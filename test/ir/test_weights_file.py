"""Modules in files: what is written, shared, copied and refused."""

import json
import os

import numpy as np
import pytest
from nnc.dialects import func, nn
from nnc.dialects.builtin import ModuleOp
from nnc.ir.attributes import ArrayAttr, DenseElements, DenseResource, StringAttr
from nnc.ir.diagnostics import NncError
from nnc.ir.numpy_types import numpy_to_type
from nnc.ir.resources import MemoryBlob
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import TensorType
from nnc.ir.weights_file import module_text, write_module
from safetensors.numpy import load_file


def module_of(**arrays):
    """A module with a function that holds these constants."""
    main = func.FuncOp.of("main", [])
    for key, array in arrays.items():
        type = TensorType(array.shape, numpy_to_type(array.dtype))
        main.body_block.append(nn.Constant(DenseResource(key, type, MemoryBlob(array))))
    main.body_block.append(func.Return([]))
    return ModuleOp.of([main])


def read(path):
    return parse_module(path.read_text(), str(path), resources=path.parent)


def arrays_of(module):
    return {
        op.value.key: op.value.to_numpy() for op in module.walk() if isinstance(op, nn.Constant)
    }


A = np.arange(12, dtype=np.float32).reshape(3, 4)
B = np.arange(5, dtype=np.int64)


def test_text_and_weights_read_back(tmp_path):
    write_module(module_of(a=A, b=B), tmp_path / "m.mlir")
    assert sorted(os.listdir(tmp_path)) == ["m.mlir", "m.safetensors"]
    found = arrays_of(read(tmp_path / "m.mlir"))
    np.testing.assert_array_equal(found["a"], A)
    np.testing.assert_array_equal(found["b"], B)
    assert "0x" not in (tmp_path / "m.mlir").read_text()


def test_the_file_is_what_safetensors_reads(tmp_path):
    import ml_dtypes

    arrays = {
        "f16": A.astype(np.float16),
        "bf16": A.astype(ml_dtypes.bfloat16),
        "u8": A.astype(np.uint8),
        "bool": A > 3,
        "scalar": np.array(3.0),
        "empty": np.zeros((0, 2), np.float32),
        "b": B,
    }
    write_module(module_of(**arrays), tmp_path / "m.mlir")
    found = load_file(tmp_path / "m.safetensors")
    assert found.keys() == arrays.keys()
    for key, array in arrays.items():
        assert found[key].dtype == array.dtype and found[key].shape == array.shape
        np.testing.assert_array_equal(found[key], array)


def test_types_that_the_format_lacks_are_bytes(tmp_path):
    import ml_dtypes

    array = np.array([1.0, 0.5], ml_dtypes.float8_e4m3b11fnuz)
    write_module(module_of(x=array), tmp_path / "m.mlir")
    found = arrays_of(read(tmp_path / "m.mlir"))["x"]
    assert found.dtype == array.dtype and (found == array).all()


def test_data_is_aligned_to_its_elements(tmp_path):
    write_module(module_of(odd=np.ones(3, np.int8), a=A, b=B), tmp_path / "m.mlir")
    raw = (tmp_path / "m.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    assert (8 + length) % 64 == 0
    for key, size in (("a", 4), ("b", 8)):
        assert header[key]["data_offsets"][0] % size == 0


def test_no_weights_no_file(tmp_path):
    module = module_of()
    write_module(module, tmp_path / "m.mlir")
    assert os.listdir(tmp_path) == ["m.mlir"]
    assert "weights_file" not in (tmp_path / "m.mlir").read_text()


def test_later_stages_share_the_first_file(tmp_path):
    module = module_of(a=A)
    write_module(module, tmp_path / "0.mlir")
    write_module(module, tmp_path / "1.mlir")
    again = read(tmp_path / "1.mlir")
    write_module(again, tmp_path / "2.mlir")
    assert sorted(os.listdir(tmp_path)) == ["0.mlir", "0.safetensors", "1.mlir", "2.mlir"]
    assert 'nn.weights_file = "0.safetensors"' in (tmp_path / "2.mlir").read_text()


def test_new_weights_go_into_a_second_file(tmp_path):
    write_module(module_of(a=A), tmp_path / "0.mlir")
    module = read(tmp_path / "0.mlir")
    attribute = DenseResource("packed", TensorType(B.shape, numpy_to_type(B.dtype)), MemoryBlob(B))
    block = next(iter(module.body_block)).body_block
    block.prepend(nn.Constant(attribute))
    write_module(module, tmp_path / "1.mlir")
    assert load_file(tmp_path / "1.safetensors").keys() == {"packed"}
    text = (tmp_path / "1.mlir").read_text()
    assert 'nn.weights_file = ["0.safetensors", "1.safetensors"]' in text
    found = arrays_of(read(tmp_path / "1.mlir"))
    np.testing.assert_array_equal(found["a"], A)
    np.testing.assert_array_equal(found["packed"], B)


def test_the_later_file_wins(tmp_path):
    write_module(module_of(a=A), tmp_path / "old.mlir")
    write_module(module_of(a=A + 1), tmp_path / "new.mlir")
    text = module_text(read(tmp_path / "old.mlir")).replace(
        'nn.weights_file = "old.safetensors"',
        'nn.weights_file = ["old.safetensors", "new.safetensors"]',
    )
    (tmp_path / "m.mlir").write_text(text)
    np.testing.assert_array_equal(arrays_of(read(tmp_path / "m.mlir"))["a"], A + 1)


def test_another_folder_gets_a_copy(tmp_path):
    (tmp_path / "sub").mkdir()
    write_module(module_of(a=A), tmp_path / "m.mlir")
    write_module(read(tmp_path / "m.mlir"), tmp_path / "sub" / "n.mlir")
    np.testing.assert_array_equal(load_file(tmp_path / "sub" / "n.safetensors")["a"], A)


def test_a_module_may_be_written_over_itself(tmp_path):
    path = tmp_path / "m.mlir"
    write_module(module_of(a=A), path)
    module = read(path)
    attribute = DenseResource("b", TensorType(B.shape, numpy_to_type(B.dtype)), MemoryBlob(B))
    next(iter(module.body_block)).body_block.prepend(nn.Constant(attribute))
    write_module(module, path)
    found = arrays_of(read(path))
    np.testing.assert_array_equal(found["a"], A)
    np.testing.assert_array_equal(found["b"], B)
    assert sorted(os.listdir(tmp_path)) == ["m.mlir", "m.safetensors"]


def test_a_changed_file_is_not_referenced(tmp_path):
    module = module_of(a=A)
    write_module(module, tmp_path / "0.mlir")
    write_module(module_of(other=B), tmp_path / "0.mlir")
    write_module(module, tmp_path / "1.mlir")
    np.testing.assert_array_equal(arrays_of(read(tmp_path / "1.mlir"))["a"], A)


def test_the_module_stays_as_it_was(tmp_path):
    module = module_of(a=A)
    write_module(module, tmp_path / "m.mlir")
    assert not module.attributes


def test_two_resources_of_one_name_must_agree(tmp_path):
    module = module_of(a=A)
    block = next(iter(module.body_block)).body_block
    same = DenseResource("a", TensorType(A.shape, numpy_to_type(A.dtype)), MemoryBlob(A.copy()))
    block.prepend(nn.Constant(same))
    write_module(module, tmp_path / "m.mlir")
    other = DenseResource("a", TensorType(A.shape, numpy_to_type(A.dtype)), MemoryBlob(A + 1))
    block.prepend(nn.Constant(other))
    with pytest.raises(NncError, match=r"two resources named 'a' differ"):
        write_module(module, tmp_path / "n.mlir")
    assert not (tmp_path / "n.mlir").exists()


def test_missing_weights_stay_named(tmp_path):
    write_module(module_of(a=A), tmp_path / "m.mlir")
    (tmp_path / "m.safetensors").unlink()
    module = read(tmp_path / "m.mlir")
    write_module(module, tmp_path / "n.mlir")
    assert 'nn.weights_file = "m.safetensors"' in (tmp_path / "n.mlir").read_text()
    with pytest.raises(NncError, match=r"no data for dense_resource<a>"):
        arrays_of(module)


def test_resources_in_a_dictionary_are_found(tmp_path):
    from nnc.ir.attributes import DictAttr

    module = module_of()
    resource = DenseResource("a", TensorType(A.shape, numpy_to_type(A.dtype)), MemoryBlob(A))
    module.attributes["nn.weights"] = DictAttr((("w", ArrayAttr((resource,))),))
    write_module(module, tmp_path / "m.mlir")
    np.testing.assert_array_equal(load_file(tmp_path / "m.safetensors")["a"], A)


def test_small_constants_are_text(tmp_path):
    module = module_of()
    block = next(iter(module.body_block)).body_block
    block.prepend(nn.Constant(DenseElements.from_numpy(B)))
    write_module(module, tmp_path / "m.mlir")
    assert "dense<[0, 1, 2, 3, 4]>" in (tmp_path / "m.mlir").read_text()


# -- what goes wrong -----------------------------------------------------------------------------


def test_an_unwritable_folder(tmp_path):
    with pytest.raises(NncError, match=r"cannot write .*No such file or directory"):
        write_module(module_of(a=A), tmp_path / "none" / "m.mlir")


def test_a_folder_in_the_way(tmp_path):
    (tmp_path / "m.mlir").mkdir()
    with pytest.raises(NncError, match=r"cannot write .*m.mlir"):
        write_module(module_of(a=A), tmp_path / "m.mlir")
    (tmp_path / "n.safetensors").mkdir()
    with pytest.raises(NncError, match=r"cannot write .*n.safetensors"):
        write_module(module_of(a=A), tmp_path / "n.mlir")
    assert sorted(os.listdir(tmp_path)) == ["m.mlir", "n.safetensors"]


def test_the_weights_suffix_is_taken(tmp_path):
    with pytest.raises(NncError, match=r"needs another suffix"):
        write_module(module_of(a=A), tmp_path / "m.safetensors")


def test_a_device_gets_the_text_alone():
    write_module(module_of(a=A), "/dev/null")


@pytest.mark.parametrize("failing", [1, 2])
def test_both_files_or_neither(tmp_path, monkeypatch, failing):
    """An error when the files get their names leaves those that were there."""
    write_module(module_of(a=A), tmp_path / "m.mlir")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    replace, calls = os.replace, []

    def broken(source, target):
        calls.append(target)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")
        return replace(source, target)

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(NncError, match=r"No space left on device"):
        write_module(module_of(a=A + 1, b=B), tmp_path / "m.mlir")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_wrong_length_is_refused(tmp_path):
    module = module_of()
    resource = DenseResource("a", TensorType((4,), numpy_to_type(A.dtype)), MemoryBlob(A))
    next(iter(module.body_block)).body_block.prepend(nn.Constant(resource))
    with pytest.raises(NncError, match=r"resource 'a' of .* has 48 bytes, not 16"):
        write_module(module, tmp_path / "m.mlir")
    assert not os.listdir(tmp_path)


def test_the_name_that_safetensors_keeps(tmp_path):
    with pytest.raises(NncError, match=r"cannot be named '__metadata__'"):
        write_module(module_of(__metadata__=A), tmp_path / "m.mlir")


@pytest.mark.parametrize(
    "key", ['a"b', "line\nbreak", "back\\slash", "1.weight", "x y", "%5", "a:b", "ü"], ids=repr
)
def test_any_other_name(tmp_path, key):
    write_module(module_of(**{key: A}), tmp_path / "m.mlir")
    np.testing.assert_array_equal(arrays_of(read(tmp_path / "m.mlir"))[key], A)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cannot read weights"),
        (b"\xff" * 20, "header of .* bytes in a file of 20"),
        (b"\x02" + b"\0" * 7 + b"[]", "not a JSON object"),
        (b"\x02" + b"\0" * 7 + b"{]", "cannot read weights"),
        (b"\x08" + b"\0" * 7 + b'{"a":{}}', "no valid data_offsets"),
    ],
)
def test_a_broken_weights_file(tmp_path, data, message):
    write_module(module_of(a=A), tmp_path / "m.mlir")
    (tmp_path / "m.safetensors").write_bytes(data)
    with pytest.raises(NncError, match=message):
        arrays_of(read(tmp_path / "m.mlir"))


def test_weights_file_must_be_strings(tmp_path):
    module = module_of(a=A)
    module.attributes["nn.weights_file"] = ArrayAttr((StringAttr("a"), ArrayAttr(())))
    (tmp_path / "m.mlir").write_text(module_text(module))
    with pytest.raises(NncError, match=r"must be a string or an array of strings"):
        read(tmp_path / "m.mlir")
