"""The container and its blocks of packed numbers, and what may be wrong with a file."""

import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from nnc.frontends.common.source import Source
from nnc.frontends.formats import examine_model, find_format, import_model
from nnc.frontends.gguf.blocks import KINDS
from nnc.frontends.gguf.file import read_file
from nnc.ir.diagnostics import NncError

from .random_models import container as random_container
from .random_models import file as random_file
from .random_models import parts

FILES = Path(__file__).parent / "files"
BLOCKS = dict(np.load(FILES / "blocks.npz"))


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def container(pairs=(), tensors=(), data=b"", version=3) -> bytes:
    """A file of pairs (key, type, value's bytes) and tensors (name, extents, kind, offset)."""
    found = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), len(pairs))
    for key, type, value in pairs:
        found += text(key) + struct.pack("<I", type) + value
    for name, shape, kind, offset in tensors:
        found += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
    return found + bytes(-len(found) % 32) + data


# -- blocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.dtype is None])
def test_numbers_of_blocks(kind):
    blocks = kind.read(BLOCKS[f"{kind.name}/bytes"].reshape(-1, kind.bytes))
    places = np.arange(0, 8, blocks.bits, dtype=np.uint8)
    numbers = ((blocks.bytes[..., None] >> places) & ((1 << blocks.bits) - 1)).astype(np.float32)
    scale = blocks.scale.astype(np.float32)[..., None, None]
    got = (numbers - blocks.middle) * scale
    if blocks.offset is not None:
        got += blocks.offset.astype(np.float32)[..., None, None]
    np.testing.assert_array_equal(got.ravel(), BLOCKS[f"{kind.name}/numbers"].ravel())


# -- container -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_metadata_of_all_types(version):
    values = [
        ("a", 0, b"\xff", 255), ("b", 1, b"\xff", -1), ("c", 4, struct.pack("<I", 7), 7),
        ("d", 6, struct.pack("<f", 0.5), 0.5), ("e", 7, b"\1", True), ("f", 8, text("ü"), "ü"),
        ("g", 9, struct.pack("<IQ2h", 3, 2, 5, -6), [5, -6]), ("h", 11, bytes(8), 0),
        ("i", 9, struct.pack("<IQ", 8, 2) + text("x") + text(""), ["x", ""]),
    ]  # fmt: skip
    file = read_file(Source(container([v[:3] for v in values], version=version)))
    assert file.version == version
    assert dict(file.metadata) == {key: value for key, _, _, value in values}


def test_tensors_stay_in_the_file():
    numbers = np.arange(6, dtype="<f4")
    pairs = [("general.alignment", 4, struct.pack("<I", 64))]
    data = container(pairs, [("t", (3, 2), 0, 64)])
    data += bytes(-len(data) % 64) + bytes(64) + numbers.tobytes()
    source = Source(data)
    tensor = read_file(source).tensors["t"]
    assert tensor.shape == (2, 3)
    assert np.shares_memory(tensor.data, source.data)
    np.testing.assert_array_equal(tensor.data.view(tensor.kind.dtype), numbers.reshape(2, 3))


def test_what_a_file_says_of_itself():
    path = FILES / "llama.gguf"
    assert find_format(Source(path)).name == "GGUF"
    examination = examine_model(path)
    assert examination.producer == "GGUF, version 3, llama"
    assert examination.notes["llama.block_count"] == "2"
    assert examination.notes["tokenizer.ggml.tokens"] == "64 entries"
    assert {"Linear", "Attention"} <= {use.name for use in examination.operators}


# -- errors ----------------------------------------------------------------------------------------


LLAMA = ("general.architecture", 8, text("llama"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGUF", "within its metadata"),
        (container(version=1), "version 1 of GGUF: not supported"),
        (struct.pack(">4sIQQ", b"GGUF", 3, 0, 0), "big-endian"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 0, 1 << 60), "more than the file can hold"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 1 << 60, 0), "more than the file can hold"),
        (container([("a", 13, b"")]), "unknown type 13"),
        (container([("a", 9, struct.pack("<IQ", 9, 1))]), "unknown type 9"),
        (container([("a", 9, struct.pack("<IQ", 8, 1 << 40))]), "more than the file can hold"),
        (container(), "the architecture 'None' is not supported; these are: llama, afmoe"),
        (container([LLAMA]), "its 'llama.embedding_length' is None, expected an integer above 0"),
        (
            container(tensors=[("t", (32,), 9, 0)]),
            "tensor 't' is of kind 9, which is not supported",
        ),
        (container(tensors=[("t", (33,), 2, 0)]), "rows of 33 elements, but Q4_0 blocks of 32"),
        (container(tensors=[("t", (1 << 62, 4), 0, 0)]), "the file ends within tensor 't'"),
        (container(tensors=[("t", (1 << 62, 0), 0, 0)]), "the file ends within tensor 't'"),
        (container(tensors=[("t", (), 0, 0), ("t", (), 0, 0)], data=bytes(8)), "two tensors"),
        (container(tensors=[("t", (1,) * 9, 0, 0)]), "tensor 't' has rank 9"),
        (container([("general.alignment", 4, bytes(4))]), "the alignment of its data is 0"),
    ],
)
def test_damaged_files(data, message):
    with pytest.raises(NncError) as caught:
        import_model(data)
    assert message in str(caught.value)
    assert str(caught.value).startswith("<bytes>: error: ")


def test_a_tensor_that_is_missing():
    data = (
        (FILES / "llama.gguf").read_bytes().replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_xx.weight")
    )
    with pytest.raises(NncError, match=r"its tensor 'blk.1.ffn_up.weight' is missing"):
        import_model(data)


# -- parts -----------------------------------------------------------------------------------------


def write_parts(folder: Path, bounds=(0, 4, 4, 30), change=lambda k, pairs: pairs) -> Path:
    """A model of Llama in parts, of which one may have no tensors; gives the first."""
    metadata, tensors = parts("llama of 2023")
    count = len(bounds) - 1
    for k, (begin, end) in enumerate(pairwise(bounds)):
        pairs = {"split.no": k, "split.count": count, "split.tensors.count": len(tensors)}
        data = random_container((metadata if k == 0 else {}) | change(k, pairs), tensors[begin:end])
        (folder / f"model-{k + 1:05d}-of-{count:05d}.gguf").write_bytes(data)
    return folder / f"model-00001-of-{count:05d}.gguf"


def test_a_model_in_parts(tmp_path):
    found = read_file(Source(write_parts(tmp_path)))
    wanted = read_file(Source(random_file("llama of 2023")))
    assert found.tensors.keys() == wanted.tensors.keys()
    for name, tensor in wanted.tensors.items():
        np.testing.assert_array_equal(found.tensors[name].data, tensor.data)
    import_model(write_parts(tmp_path)).verify()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": (0, 4, 9)}, "2 parts have 9 tensors, expected 21"),
        ({"change": lambda k, pairs: {**pairs, "split.no": 0}}, "expected part 1 of 3, counted"),
        ({"change": lambda k, pairs: {**pairs, "split.no": 2}}, "is part 2 of 3, counted from 0"),
        ({"change": lambda k, pairs: {**pairs, "split.count": 4}}, "00002-of-00004.gguf' is miss"),
        ({"change": lambda k, pairs: {**pairs, "split.count": "x"}}, "expected the number of its"),
        ({"change": lambda k, pairs: {**pairs, "split.count": 1 << 20}}, "the number of its parts"),
    ],
)
def test_parts_that_do_not_fit(tmp_path, given, message):
    with pytest.raises(NncError, match=message):
        read_file(Source(write_parts(tmp_path, **given)))


def test_a_tensor_in_two_parts(tmp_path):
    first = write_parts(tmp_path)
    tensors = parts("llama of 2023")[1]
    second = {"split.no": 1, "split.count": 3}
    (tmp_path / "model-00002-of-00003.gguf").write_bytes(random_container(second, tensors[3:4]))
    with pytest.raises(NncError, match=f"the tensor '{tensors[3][0]}' is in an earlier part"):
        read_file(Source(first))


def test_parts_need_their_names(tmp_path):
    first = write_parts(tmp_path)
    with pytest.raises(NncError, match="but comes without a folder"):
        read_file(Source(first.read_bytes()))
    with pytest.raises(NncError, match="whose name does not end with -00001-of"):
        read_file(Source(first.rename(tmp_path / "renamed.gguf")))


def test_a_stream_that_is_not_there():
    """Of Gemma 3n, whose file has four streams."""
    data = (FILES / "gemma3n.gguf").read_bytes()
    at = data.index(b"gemma3n.altup.active_idx") + len(b"gemma3n.altup.active_idx") + 4
    with pytest.raises(NncError, match="stream 4 of 4 is active"):
        import_model(data[:at] + struct.pack("<I", 4) + data[at + 4 :])
