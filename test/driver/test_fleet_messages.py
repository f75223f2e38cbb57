"""What a fleet's members send one another: arrays, answers and files."""

import os

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from nnc.driver.tuning.fleet_board import Board
from nnc.driver.tuning.fleet_messages import (
    Identity,
    MessageError,
    answer_message,
    packed,
    read_answer,
    unpacked,
)
from nnc.driver.tuning.worker import Answer
from nnc.ir.diagnostics import NncError
from nnc.targets.attribute import detailed
from nnc.targets.base import host, target

# -- what is sent ----------------------------------------------------------------------------------


def test_arrays_arrive_as_they_were_sent():
    import ml_dtypes

    rng = np.random.default_rng(0)
    kinds = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.uint64, np.bool_]
    kinds += [np.complex64, ml_dtypes.float8_e4m3fn]
    sent = {f"x{i}": rng.integers(0, 2, (3, i)).astype(kind) for i, kind in enumerate(kinds)}
    sent |= {"scalar": np.array(2.5), "turned": np.arange(6.0).reshape(2, 3).T}
    got = unpacked(packed(sent))
    assert list(got) == list(sent)
    for name, array in sent.items():
        assert got[name].dtype == array.dtype and got[name].shape == array.shape
        np.testing.assert_array_equal(got[name], array)


@pytest.mark.parametrize("value", [[np.ones(2)], None, np.array(["a"], object), np.array(["a"])])
def test_what_is_no_array_of_numbers_is_not_sent(value):
    with pytest.raises(NncError, match="input 'x' is not an array of numbers"):
        packed({"x": value})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no json\n",
        b'[["x", "float32", [2]]]\n1234',
        b'[["x", "float32", [1]]]\n12345678',
        b'[["x", "object", [1]]]\n12345678',
        b'[["x", "O", [1]]]\n12345678',
        b'[["x", "float32", [-1]]]\n',
        b'[["x", "float32", 7]]\n',
        b'{"x": 1}\n',
        b"[" * 100_000,
    ],
)
def test_arrays_that_arrive_otherwise_are_refused(data):
    with pytest.raises(MessageError):
        unpacked(data)


def test_an_answer_arrives_as_it_was_sent():
    answer = Answer(
        {"k": [(1.0, 2.0), (3.0, 4.0)]}, [(5.0, 6.0), (7.0, 8.0)], "", {"f": "it crashed"}, "cpu"
    )
    assert read_answer(answer_message(answer)) == answer
    wrong = Answer(wrong="y: relative error 0.5", processor="cpu")
    assert read_answer(answer_message(wrong)) == wrong


@pytest.mark.parametrize(
    "change",
    [
        {"whole": []},
        {"whole": [(1.0, float("nan"))]},
        {"whole": [(1.0, -1.0)]},
        {"whole": [(1.0,)]},
        {"whole": "12"},
        {"kernels": [("k", [])]},
        {"kernels": {"k": []}},
        {"kernels": {"k": [(1.0, "x")]}},
        {"processor": None},
        {"wrong": 1},
        {"faults": ["x"]},
        None,
    ],
)
def test_an_answer_that_says_no_times_is_refused(change):
    good = answer_message(Answer({"k": [(1.0, 2.0)]}, [(1.0, 2.0)], processor="cpu"))
    read_answer(good)
    with pytest.raises(MessageError):
        read_answer(change if change is None else good | change)


def test_a_worker_says_who_it_is():
    one = Identity.of(host(), "cpu, model")
    assert Identity.read(one.message()) == one
    assert one.machine == detailed(host()) and one.measured == host()
    named = Identity.of(target("cortex-a76"), "cpu")
    assert Identity.read(named.message()).machine == "'cortex-a76'"
    for broken in (
        None,
        {},
        one.message() | {"more": "x"},
        one.message() | {"nnc": 1},
        one.message() | {"target": "module {"},
        one.message() | {"target": "module {}"},
        one.message() | {"target": 'module attributes {nnc.target = "vax"} {}'},
    ):
        with pytest.raises(MessageError):
            Identity.read(broken)


# -- a worker's files ------------------------------------------------------------------------------


def test_a_file_comes_in_parts_and_counts_only_if_it_is_the_one(tmp_path):
    from hashlib import sha256

    board = Board(host(), tmp_path)
    data = bytes(range(256)) * 4
    digest = sha256(data).hexdigest()
    assert board.missing([digest]) == [digest]
    board.store(digest, data[:100], 0, False)
    assert board.missing([digest]) == [digest]
    board.store(digest, data[100:], 100, True)
    assert board.missing([digest]) == [] and (tmp_path / "files" / digest).read_bytes() == data
    other = sha256(b"other").hexdigest()
    with pytest.raises(MessageError, match="otherwise than it was sent"):
        board.store(other, data, 0, True)
    assert board.missing([other]) == [other]
    board.close()


@pytest.mark.parametrize("digest", ["../../x", "", "a" * 63, "A" * 64, None, 7, "a" * 64 + "/x"])
def test_files_have_digests_for_names(tmp_path, digest):
    board = Board(host(), tmp_path / "cache")
    with pytest.raises(MessageError):
        board.store(digest, b"x", 0, True)
    with pytest.raises(MessageError):
        board.missing([digest])
    board.close()


@pytest.mark.parametrize("name", ["../model.mlir", "request.pickle", "inputs.pickle", "/etc/x", ""])
def test_a_model_consists_of_its_own_files(tmp_path, name):
    board = Board(host(), tmp_path)
    job = {"files": {name: "0" * 64}, "threads": 1, "seconds": 1, "tolerance": 1, "memory": 1 << 40}
    with pytest.raises(MessageError, match="no file of a model"):
        board.prepare(job)
    board.close()


def test_files_used_least_lately_are_forgotten(tmp_path, monkeypatch):
    """But not those of the model that comes next, whatever the limit."""
    from hashlib import sha256

    monkeypatch.setenv("NNC_CACHE_LIMIT", "250")
    board, digests = Board(host(), tmp_path), []
    for i in range(3):
        data = bytes([i]) * 100
        digests.append(sha256(data).hexdigest())
        board.store(digests[-1], data, 0, True)
        os.utime(tmp_path / "files" / digests[-1], (i, i))
    other = Board(host(), tmp_path)
    other.trim()
    assert board.missing(digests) == [] and other.missing(digests) == digests[:1]
    board.close()
    other.close()
