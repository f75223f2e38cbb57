"""Files that are no valid models: one error that names the file, never anything else."""

import random
import struct
from pathlib import Path
from types import SimpleNamespace

import nnc
import numpy as np
import pytest
from nnc.frontends.common.builder import Builder
from nnc.frontends.common.layer import Layer
from nnc.frontends.common.source import Source
from nnc.frontends.common.windows import padded
from nnc.frontends.formats import examine_model, find_format, import_model
from nnc.frontends.tflite.tensors import _dense, _descended
from nnc.frontends.wire import flexbuffers
from nnc.frontends.wire.flatbuffers import FlatbufferError, Schema
from nnc.ir.types import TensorType, f32

FILES = Path(__file__).parent / "files"
SMALL = sorted(path for path in FILES.glob("*.tflite") if path.stat().st_size < 7000)


def mutated(data, rng):
    found = bytearray(data)
    if rng.random() < 0.1:
        return bytes(found[: rng.randrange(8, len(found))])
    for _ in range(rng.choice([1, 2, 8])):
        at = rng.randrange(8, len(found) - 4)
        words = [rng.randbytes(1), b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80"]
        word = rng.choice(words)
        found[at : at + len(word)] = word
    return bytes(found)


def test_mutated_files_are_errors_or_models():
    rng = random.Random(11)
    data = [path.read_bytes() for path in SMALL]
    outcomes = [0, 0]
    for _ in range(150):
        try:
            examine_model(mutated(rng.choice(data), rng))
            outcomes[0] += 1
        except nnc.NncError:
            outcomes[1] += 1
    assert min(outcomes) > 10, outcomes


@pytest.mark.parametrize(
    ("size", "zeros", "message"),
    [
        (24, -1, "of shape .6, 64. has blocks of 24 elements with scales of shape .6, 2."),
        (16, -1, "has blocks of 16 elements with scales of shape"),
        (32, 0, "'t[0-9]+': blocks with zero points"),
    ],
)
def test_blocks_of_other_sizes_or_kinds(size, zeros, message):
    data = (FILES / "hybrid" / "dense_blocks.tflite").read_bytes()
    known = struct.pack("<ii", 32, -1)
    assert data.count(known) == 1
    with pytest.raises(nnc.NncError, match=message):
        import_model(data.replace(known, struct.pack("<ii", size, zeros)))


def test_found_by_content(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes((FILES / "sparse.tflite").read_bytes())
    assert find_format(Source(path)).name == "TensorFlow Lite"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d[:40], "not a valid TensorFlow Lite model"),
        (lambda d: b"\xff\xff\xff\x7f" + d[4:], "not a valid TensorFlow Lite model"),
    ],
)
def test_truncated(tmp_path, change, message):
    path = tmp_path / "broken.tflite"
    path.write_bytes(change((FILES / "sparse.tflite").read_bytes()))
    with pytest.raises(nnc.NncError, match=message) as caught:
        import_model(path)
    assert "broken.tflite" in str(caught.value)


def test_missing_operators_are_listed_with_their_layers():
    data = (FILES / "detections.tflite").read_bytes()
    with pytest.raises(
        nnc.NncError,
        match=r"a layer is not supported:\n  layer 't3' \(TFLite_Detection_PostProceed\)",
    ):
        import_model(data.replace(b"TFLite_Detection_PostProcess", b"TFLite_Detection_PostProceed"))


def test_an_option_that_is_missing():
    data = (FILES / "detections.tflite").read_bytes()
    with pytest.raises(
        nnc.NncError, match=r"layer 't3' .*: option 'num_classes' is None, expected a number"
    ):
        import_model(data.replace(b"num_classes", b"num_glasses"))


@pytest.mark.parametrize("scale", [np.inf, np.nan])
def test_scales_that_are_not_finite(scale):
    """As the converter writes for recurrent weights that meet a state of zeros alone."""
    data = (FILES / "edges" / "mean_i8.tflite").read_bytes()
    found = struct.pack("<f", 0.037)
    assert data.count(found) == 1
    with pytest.raises(nnc.NncError, match=r"\(MEAN\): tensor 't0' has scales that are not finite"):
        import_model(data.replace(found, struct.pack("<f", scale)))


def test_states_are_inputs_and_outputs():
    found = examine_model(FILES / "streaming.tflite")
    assert found.notes["state line"] == "starts as 0.5"
    model = nnc.compile(FILES / "streaming.tflite")
    assert model.input_names == ["x", "line"] and model.output_names == ["output_0", "line"]
    x = np.ones((1, 1, 3), np.float32)
    np.testing.assert_array_equal(
        model.run({"x": x})["output_0"],
        model.run({"x": x, "line": np.full((1, 4, 3), 0.5, np.float32)})["output_0"],
    )


def test_without_a_signature_tensors_name_outputs():
    model = nnc.compile(FILES / "open_shapes.tflite")
    assert model.input_names == ["x"]
    assert model.output_names == ["Identity", *(f"Identity_{i}" for i in range(1, 5))]


SCHEMA = Schema("""
Root
  0 count i32 =5
  1 name string
  2 next Root
  3 items u16*
""")


def root(*, fields, tail=b""):
    """A buffer of one table with these offsets of fields, and bytes behind it."""
    slots = struct.pack(f"<{len(fields) + 2}H", 4 + 2 * len(fields), 4 + 4 * len(fields), *fields)
    table = struct.pack("<i", len(slots))
    return struct.pack("<I", 4 + len(slots)) + slots + table + tail


def test_flatbuffers_that_are_left_out_have_defaults():
    found = SCHEMA.read("Root", root(fields=[0, 0, 0, 0]))
    assert (found.count, found.name, found.next, found.items.tolist()) == (5, "", None, [])
    assert not found.has("count")


@pytest.mark.parametrize("field", [1, 2, 3])
def test_flatbuffers_that_lead_outside(field):
    fields = [0] * 4
    fields[field] = 4
    with pytest.raises(FlatbufferError):
        SCHEMA.read("Root", root(fields=fields, tail=struct.pack("<I", 1 << 30)))


def test_flatbuffers_have_no_end():
    """A table that is its own child is one object, read once."""
    buffer = root(fields=[0, 0, 4, 0], tail=struct.pack("<I", (1 << 32) - 4))
    with pytest.raises(FlatbufferError):
        SCHEMA.read("Root", buffer)


@pytest.mark.parametrize(
    "data", [b"", b"\x28", bytes([0, 0, 36, 1]), bytes([255, 255, 40, 1]), bytes(range(200))]
)
def test_flexbuffers_that_are_broken(data):
    try:
        flexbuffers.read(data)
    except FlatbufferError:
        return
    assert len(data) > 3


def test_a_dense_dimension_of_a_sparse_tensor_has_no_more_places_than_data():
    none, begin = np.zeros((1, 0), np.int64), np.zeros(1, np.int64)
    with pytest.raises(nnc.NncError, match=r"more positions than the tensor has elements \(10\)"):
        _descended(none, begin, SimpleNamespace(is_sparse=0), 1 << 40, 10)


def test_blocks_of_a_sparse_tensor_of_negative_size():
    block = SimpleNamespace(is_sparse=0, size=-2)
    order, blocks = np.array([0, 1]), np.array([0])
    sparsity = SimpleNamespace(order=order, block_map=blocks, dims=[block, block])
    with pytest.raises(nnc.NncError, match="its blocks do not divide its shape"):
        _dense(sparsity, np.zeros(16, np.uint8), np.dtype("f4"), (4,))


def test_a_stride_of_0_is_an_error():
    loc = Source(b"x").loc
    builder = Builder(loc)
    x = builder.argument("x", TensorType((1, 1, 4), f32))
    with pytest.raises(nnc.NncError, match="layer 'a': strides"):
        padded(Layer(builder, "layer 'a'", loc), x, (2,), (0,), (1,), "SAME_UPPER")
