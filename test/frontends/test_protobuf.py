"""Protocol buffers by tables, binary and text, against what was written."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from nnc.frontends.wire.protobuf import Schema, WireError
from nnc.frontends.wire.protobuf_text import TextError, read_text
from nnc.test.frontends.protobuf_writer import varint, written

SCHEMA = Schema("""
Graph
  1 node Node*
  2 versions int
  3 table map string Node
  4 numbers map string int
Node
  1 name string
  2 input string*
  3 mode Mode =FAST
  4 ratio float*
  5 sizes int*
  6 shift sint
  7 raw bytes
  8 on bool =1
  9 half double =0.5
  10 wide double*
Mode = SLOW FAST 7:EXACT
""")
NODE = {
    "name": "größe",
    "input": ["a", "", "b"],
    "mode": "EXACT",
    "ratio": [1, -2.5],
    "sizes": [0, 1 << 40, -3],
    "shift": -7,
    "raw": b"\0\xff",
    "on": False,
}


def check(node) -> None:
    for name in ("name", "input", "mode", "sizes", "shift", "on"):
        assert getattr(node, name) == NODE[name]
    np.testing.assert_array_equal(node.ratio, np.array(NODE["ratio"], np.float32))
    assert bytes(node.raw) == NODE["raw"]
    assert node.half == 0.5
    assert not node.has("half")


def test_written_is_read():
    graph = {"node": [NODE, {}], "versions": 3, "table": {"k": NODE}, "numbers": {"a": 1, "b": -2}}
    found = SCHEMA.read("Graph", written(SCHEMA, "Graph", graph))
    check(found.node[0])
    check(found.table["k"])
    assert found.node[1].mode == "FAST"
    assert found.numbers == {"a": 1, "b": -2}
    assert found.part("table") is not None
    with pytest.raises(AttributeError):
        _ = found.other


def test_numbers_that_are_not_packed():
    values = np.arange(1000, dtype=np.float32)
    floats = b"".join(b"\x25" + v.tobytes() for v in values)
    sizes = b"".join(b"\x28" + varint(v) for v in (5, 1 << 60))
    found = SCHEMA.read("Node", floats[:2500] + sizes + floats[2500:])
    np.testing.assert_array_equal(found.ratio, values)
    assert found.sizes == [5, 1 << 60]


def test_a_tag_of_more_bytes_than_it_needs():
    one = np.float32(2.5).tobytes()
    found = SCHEMA.read("Node", b"\xa5\x00" + one + b"\x25" + one)
    np.testing.assert_array_equal(found.ratio, [2.5, 2.5])


@pytest.mark.parametrize("data", [b"\x21" + bytes(8), b"\x55" + bytes(4)])
def test_numbers_of_another_size(data):
    with pytest.raises(WireError, match="has no numbers of"):
        SCHEMA.read("Node", data)


def test_unknown_fields_are_skipped():
    extra = b"\xfa\x01\x02ab" + b"\xfb\x01\x08\x01\xfc\x01" + b"\xfd\x01abcd" + b"\xf9\x01abcdefgh"
    assert SCHEMA.read("Node", extra + b"\x0a\x01x" + extra).name == "x"


def test_text():
    text = """
    # a comment
    node { name: "gr\\303\\266" 'ße' input: ["a", ''] input: "b"; mode: 7, ratio: 1 ratio: -25e-1f
      sizes: [0, 0x10000000000, -3] shift: -7 raw: "\\000\\xff" on: false other < a: [1, b] c: "d" "e" > }
    table { key: "k" value { name: "z" } } numbers { key: "a" value: 1 }"""
    found = read_text(SCHEMA, "Graph", text)
    check(found.node[0])
    assert found.table["k"].name == "z"
    assert found.numbers == {"a": 1}


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("node { name: 3 }", (1, 14), "field 'name' is a string, found '3'"),
        ("node {\n  name: 'a'", (2, 12), "expected the name of a field, found the end"),
        ("versions:\n\n  1.5", (3, 3), "field 'versions' is of kind int"),
        ("node { on: maybe }", (1, 12), "kind bool"),
        ("node: 3", (1, 7), "is a message"),
        ("versions { }", (1, 10), "of kind int, found a message"),
        ("a: [1 2]", (1, 7), "expected ',' or ']'"),
        ("a: @", (1, 4), "unexpected character"),
        ("a {" * 200, (1, 304), "nested more than 100"),
    ],
)
def test_errors_of_text(text, place, message):
    with pytest.raises(TextError, match=message) as caught:
        read_text(SCHEMA, "Graph", text)
    assert (caught.value.line, caught.value.column) == place


def test_mutated_bytes_are_errors_or_messages():
    data = np.frombuffer(written(SCHEMA, "Graph", {"node": [NODE] * 3, "table": {"k": NODE}}), "u1")
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(3000):
        other = data.copy()
        other[rng.integers(0, data.size, rng.integers(1, 5))] = rng.integers(0, 256)
        try:
            SCHEMA.read("Graph", other[: rng.integers(1, data.size + 1)])
        except WireError:
            failed += 1
    assert 0 < failed < 3000


def test_weights_stay_where_they_are():
    """Reading takes no memory that grows with them."""
    count = 1 << 24
    node = b"\x22" + varint(4 * count) + np.ones(count, np.float32).tobytes()
    data = np.frombuffer(b"\x0a" + varint(len(node)) + node, np.uint8)
    tracemalloc.start()
    ratio = SCHEMA.read("Graph", data).node[0].ratio
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.shares_memory(ratio, data)
    assert ratio.size == count
    assert peak < 1 << 20
