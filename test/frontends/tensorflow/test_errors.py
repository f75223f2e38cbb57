"""What is wrong with a file is one error that says so."""

import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from nnc import compile
from nnc.frontends.common.source import Source
from nnc.frontends.formats import find_format, import_model, model_files
from nnc.ir.diagnostics import NncError

from ..mutate import mutated
from ..protobuf_writer import varint

FILES = Path(__file__).parent / "files"
INDEX, DATA = "variables/variables.index", "variables/variables.data-00000-of-00001"


@pytest.fixture
def network(tmp_path):
    """A copy of a SavedModel, which may be broken."""
    return Path(shutil.copytree(FILES / "network", tmp_path / "network"))


def message(path) -> str:
    with pytest.raises(NncError) as caught:
        import_model(path)
    return str(caught.value)


def field(number: int, data: bytes | str | int) -> bytes:
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(key: str, value: bytes) -> bytes:
    return field(5, field(1, key) + field(2, value))


def node(name: str, kind: str, *inputs: str, attributes: bytes = b"") -> bytes:
    given = b"".join(field(3, one) for one in inputs)
    return field(1, field(1, name) + field(2, kind) + given + attributes)


def placeholder(name: str = "x") -> bytes:
    shape = field(7, field(2, field(1, 4)))
    return node(name, "Placeholder", attributes=attribute("dtype", field(6, 1))
                + attribute("shape", shape))  # fmt: skip


def function(name: str, *nodes: bytes, result: str) -> bytes:
    """A function of one tensor."""
    signature = field(1, name) + field(2, field(1, "x") + field(3, 1))
    signature += field(3, field(1, "y") + field(3, 1))
    body = b"".join(field(3, one[2:] if one[1] < 128 else one[3:]) for one in nodes)
    return field(
        2, field(1, field(1, signature) + body + field(4, field(1, "y") + field(2, result)))
    )


def test_formats():
    assert find_format(Source(FILES / "network")).name == "TensorFlow"
    assert find_format(Source(FILES / "network/saved_model.pb")).name == "TensorFlow"
    assert find_format(Source(FILES / "slices.pb")).name == "TensorFlow"
    assert find_format(Source((FILES / "slices.pb").read_bytes())).name == "TensorFlow"
    names = {path.name for path in model_files(FILES / "network")}
    assert names == {"saved_model.pb", Path(INDEX).name, Path(DATA).name}


GRAPH = """
# of a tool
node { name: "x" op: "Placeholder"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } } }
node {
  name: "c"
  op: "Const"
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 3 } } }
}
node { name: "f" op: "g" input: "x" }
node { name: "y" op: "AddV2" input: "f" input: "c" }
library { function {
  signature { name: "g" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT } }
  node_def { name: "n" op: "Neg" input: "a" }
  ret { key: "b" value: "n:y:0" }
} }
"""


def test_text():
    source = Source(GRAPH.encode())
    assert find_format(source).name == "TensorFlow"
    model = compile(GRAPH.encode())
    x = np.array([1, -2], np.float32)
    np.testing.assert_array_equal(model.run({"x": x})["y"], 3 - x)


def test_bits_are_of_more_or_fewer_elements():
    graph = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 3 } } } } }
node { name: "b" op: "Bitcast" input: "x" attr { key: "type" value { type: DT_UINT8 } } }
node { name: "y" op: "Bitcast" input: "b" attr { key: "type" value { type: DT_INT32 } } }
"""
    x = np.float32([1.5, -2, np.pi])
    np.testing.assert_array_equal(compile(graph.encode()).run({"x": x})["y"], x.view(np.int32))
    (apart,) = compile(graph.rpartition("node")[0].encode()).run({"x": x}).values()
    np.testing.assert_array_equal(apart, x.view(np.uint8).reshape(3, 4))


@pytest.mark.parametrize("scaled", [False, True])
def test_normalizations_of_the_first_graphs(scaled):
    """(x - m) / sqrt(v + epsilon), times gamma where asked for, plus beta."""
    parts = ['node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }']
    for name, values in {"m": (1, 2), "v": (3, 0.75), "b": (5, 6), "g": (7, 8)}.items():
        floats = " ".join(f"float_val: {v}" for v in values)
        parts.append(
            f'node {{ name: "{name}" op: "Const" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} '
            'attr { key: "value" value { tensor { dtype: DT_FLOAT '
            f"tensor_shape {{ dim {{ size: 2 }} }} {floats} }} }} }} }}"
        )
    parts.append(
        'node { name: "y" op: "BatchNormWithGlobalNormalization" input: "x" input: "m" input: "v" '
        'input: "b" input: "g" attr { key: "variance_epsilon" value { f: 0.25 } } '
        f'attr {{ key: "scale_after_normalization" value {{ b: {str(scaled).lower()} }} }} }}'
    )
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    wanted = (x - [1, 2]) / np.sqrt([3.25, 1]) * ([7, 8] if scaled else 1) + [5, 6]
    found = compile("\n".join(parts).encode(), shapes={"x": x.shape}).run({"x": x})["y"]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_broken_text():
    assert "line 4, column" in message(GRAPH.replace('key: "dtype"', 'key; "dtype"').encode())


def test_operators_that_are_missing_are_listed():
    text = message(placeholder() + node("a", "Fancy", "x") + node("b", "Fancier", "a", "x"))
    assert "2 layers are not supported" in text
    assert "layer 'a' (Fancy)" in text and "layer 'b' (Fancier)" in text


def test_a_value_that_is_not_there():
    text = message(placeholder() + node("a", "Relu", "nowhere"))
    assert "'nowhere:0' is not defined" in text


def test_an_attribute_that_is_missing():
    assert "attribute 'DstT' is missing" in message(placeholder() + node("a", "Cast", "x"))


def test_a_function_that_is_missing():
    called = attribute("f", field(10, field(1, "g")))
    text = message(placeholder() + node("a", "PartitionedCall", "x", attributes=called))
    assert "function 'g' is called, but not defined" in text


def test_a_function_without_a_signature():
    graph = placeholder() + node("n", "Neg", "x") + field(2, field(1, b""))
    assert "a function without a signature" in message(graph)


def test_a_function_that_calls_itself():
    called = attribute("f", field(10, field(1, "g")))
    inner = node("a", "PartitionedCall", "x", attributes=called)
    text = message(
        placeholder()
        + node("b", "PartitionedCall", "x", attributes=called)
        + function("g", inner, result="a:output:0")
    )
    assert "function 'g' calls itself" in text


def test_functions():
    """Names of a function are its own: `x` is its argument."""
    called = attribute("f", field(10, field(1, "g")))
    module = import_model(
        placeholder()
        + node("n", "Neg", "x")
        + node("b", "PartitionedCall", "n", attributes=called)
        + function("g", node("a", "Relu", "x"), result="a:activations:0")
    )
    assert [op.name for op in module.walk() if op.name.startswith("nn.")] == ["nn.neg", "nn.relu"]


def test_a_constant_of_an_absurd_size():
    shape = field(2, field(2, field(1, 1 << 40)))
    tensor = attribute("value", field(8, field(1, 1) + shape + field(5, np.float32(1).tobytes())))
    text = message(
        placeholder() + node("c", "Const", attributes=tensor) + node("a", "Add", "x", "c")
    )
    assert "layer 'c' (Const)" in text


def test_a_constant_of_many_dimensions():
    shape = field(2, field(2, field(1, 1)) * 65)
    tensor = attribute("value", field(8, field(1, 1) + shape + field(5, np.float32(1).tobytes())))
    text = message(placeholder() + node("c", "Const", attributes=tensor) + node("a", "Neg", "c"))
    assert "layer 'c' (Const): it has 65 dimensions" in text


def test_a_list_is_no_result():
    """One of tensors that a loop fills."""
    shape = attribute("value", field(8, field(1, 3) + field(2, b"") + field(7, 2)))
    kinds = attribute("element_dtype", field(6, 1)) + attribute("shape_type", field(6, 3))
    made = node("l", "TensorListReserve", "c", "c", attributes=kinds)
    text = message(placeholder() + node("c", "Const", attributes=shape) + made)
    assert "output 'l': it is not a tensor outside of the graph" in text


def test_a_handle_is_no_tensor(network):
    data = (network / "saved_model.pb").read_bytes()
    (network / "saved_model.pb").write_bytes(data.replace(b"ReadVariableOp", b"StopGradient\0\0"))
    assert "not supported" in message(network)


def test_a_checkpoint_without_data(network):
    (network / DATA).unlink()
    assert f"the file '{DATA}' is missing" in message(network)


def test_a_checkpoint_that_is_cut_off(network):
    (network / DATA).write_bytes((network / DATA).read_bytes()[:100])
    assert "is it truncated?" in message(network)


def test_variables_without_a_checkpoint(network):
    shutil.rmtree(network / "variables")
    assert "has no value in the checkpoint" in message(network)


def test_an_index_that_is_none(network):
    (network / INDEX).write_bytes(b"no table")
    assert "not a checkpoint's index" in message(network)


def test_gates_that_do_not_fit():
    text = message(placeholder() + node("m", "Merge", "x", "x"))
    assert "'m' merges values of no gate" in text


@pytest.mark.parametrize("kind, given", [("Switch", "x"), ("NextIteration", ""), ("Merge", "")])
def test_gates_without_inputs(kind, given):
    text = message(placeholder() + node("g", kind, *([given] if given else [])))
    assert f"'g' ({kind}) lacks an input" in text


@pytest.mark.parametrize("name", ["rows_v1", "movement", "branches"])
def test_broken_graphs(name):
    for data in mutated((FILES / f"{name}.pb").read_bytes(), 60, 3):
        try_to_import(data)


@pytest.mark.parametrize("part", ["saved_model.pb", INDEX, DATA])
def test_broken_folders(network, part):
    for data in mutated((FILES / "network" / part).read_bytes(), 15, 4):
        (network / part).write_bytes(data)
        try_to_import(network)


def test_table_whose_shape_is_missing(tmp_path):
    """Of the words that a checkpoint holds; the field becomes one that nobody knows."""
    folder = Path(shutil.copytree(FILES / "tables", tmp_path / "tables"))
    index = (folder / INDEX).read_bytes()
    shape = field(2, field(2, field(1, 2)))
    assert shape in index
    (folder / INDEX).write_bytes(index.replace(shape, field(15, shape[2:])))
    assert "keys are" in message(folder)


def try_to_import(given) -> None:
    """Nothing but an NncError comes out."""
    with suppress(NncError):
        import_model(given).verify()
