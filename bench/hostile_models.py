"""Malicious models: weights in other users' files, shapes beyond memory, endless loops."""

from __future__ import annotations

import io
import json
import random
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from nnc.frontends.wire.protobuf import varint_bytes
from onnx import GraphProto, TensorProto, helper, numpy_helper

from .hostile_archives import Upload

_FLOAT = TensorProto.FLOAT
_SMALL = 4000
"""The most bytes of a file with another format's name: many are valid, and are compiled."""


class Models:
    """Makes models: `seeds` are valid files, `secrets` are paths of other users' files."""

    def __init__(self, seeds: Sequence[Upload], secrets: Sequence[Path]) -> None:
        self._seeds, self._secrets = seeds, secrets
        self.kinds: Sequence[Callable[[random.Random], Upload]] = (
            self.outside_data,
            self.outside_hdf5,
            self.huge_constant,
            self.huge_weights,
            self.huge_shape,
            self.huge_count,
            self.endless_loop,
            self.cycle,
            self.deep_graph,
            self.deep_text,
            self.many_nodes,
            self.misnamed,
        )

    def outside_data(self, choice: random.Random) -> Upload:
        """An ONNX file whose weights are in another user's file."""
        weights = numpy_helper.from_array(np.zeros(64, np.float32), "w")
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        secret = str(choice.choice(self._secrets))
        up = "../" * 12 + secret.lstrip("/")
        for key, value in (
            ("location", choice.choice([secret, up, "/etc/passwd", "/proc/self/environ", ".", ""])),
            ("offset", str(choice.choice([0, 1, -1, 2**62]))),
            ("length", choice.choice(["256", "-1", str(2**63), "x"])),
        ):
            entry = weights.external_data.add()
            entry.key, entry.value = key, value
        return "outside.onnx", _model([("Add", ["x", "w"], {})], [weights])

    def outside_hdf5(self, choice: random.Random) -> Upload:
        """A Keras file with links to other files, or cyclic links."""
        import h5py

        made, secret = io.BytesIO(), str(choice.choice(self._secrets))
        with h5py.File(made, "w") as file:
            file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {}})
            group = file.create_group("model_weights")
            match choice.randrange(4):
                case 0:
                    group["dense"] = h5py.ExternalLink(secret, "/")
                case 1:
                    group.create_dataset("dense", (64,), "u1", external=[(secret, 0, 64)])
                case 2:
                    group["dense"] = h5py.SoftLink("/model_weights/dense")
                case _:
                    group["dense"] = group
        return "outside.h5", made.getvalue()

    def huge_constant(self, choice: random.Random) -> Upload:
        """Constants that fill the memory if they are folded."""
        shape = np.array([1 << choice.randrange(10, 40), 1 << choice.randrange(1, 20)], np.int64)
        nodes = [("ConstantOfShape", ["s"], {}), ("Exp", ["0"], {}), ("ReduceSum", ["1"], {})]
        if choice.random() < 0.3:
            nodes = [
                ("ConstantOfShape", ["s"], {}),
                ("NonZero", ["0"], {}),
                ("Tile", ["1", "s"], {}),
            ]
        return "constant.onnx", _model(nodes, [numpy_helper.from_array(shape, "s")])

    def huge_weights(self, choice: random.Random) -> Upload:
        """Weights whose shape does not fit their bytes."""
        weights = numpy_helper.from_array(np.ones(64, np.float32), "w")
        dims = choice.choice([[2**40], [-64], [2**32, 2**32], [0], [65], [1] * 2000, [2**63 - 1]])
        del weights.dims[:]
        weights.dims.extend(dims)
        if choice.random() < 0.3:
            weights.data_type = choice.choice([0, 8, 9, 16, 99])
        return "weights.onnx", _model([("Add", ["x", "w"], {})], [weights])

    def huge_shape(self, choice: random.Random) -> Upload:
        """IR text with loops or buffers of huge sizes."""
        n = 1 << choice.randrange(20, 62)
        text = (
            f"func.func @f(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{\n"
            f"  %0 = nn.exp %x : tensor<{n}xf32>\n  func.return %0 : tensor<{n}xf32>\n}}\n"
        )
        return "shape.mlir", text.encode()

    def huge_count(self, choice: random.Random) -> Upload:
        """Files whose headers announce more data than there is."""
        count = choice.choice([2**31, 2**32 - 1, 2**62, 2**64 - 1])
        gguf = b"GGUF" + struct.pack("<IQQ", 3, count % 2**64, choice.choice([0, 1, 2**60]))
        return choice.choice(
            [
                ("count.gguf", gguf + bytes(64)),
                ("count.tflite", struct.pack("<I4s", count % 2**32, b"TFL3") + bytes(64)),
                ("count.param", f"7767517\n{count} {count}\nInput x 0 1 a\n".encode()),
                ("count.weights", struct.pack("<iiiQ", 0, 2, 0, count % 2**64)),
                ("count.txt", f"tree\nversion=v4\nmax_feature_idx={count}\n".encode()),
                ("count.cfg", f"[net]\nwidth={count}\n[convolutional]\nsize={count}\n".encode()),
                ("count.ubj", b"{L" + struct.pack(">q", count % 2**63) + b"x"),
                ("count.onnx", b"\x3a" + varint_bytes(count)),
            ]
        )  # fmt: skip

    def endless_loop(self, choice: random.Random) -> Upload:
        """A loop on constants that never ends, or takes very long."""
        kept = helper.make_tensor_value_info("kept", _FLOAT, [])
        body = helper.make_graph(
            [
                helper.make_node("Identity", ["go"], ["again"]),
                helper.make_node("Add", ["kept", "kept"], ["more"]),
            ],
            "body",
            [
                helper.make_tensor_value_info("at", TensorProto.INT64, []),
                helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                kept,
            ],
            [
                helper.make_tensor_value_info("again", TensorProto.BOOL, []),
                helper.make_tensor_value_info("more", _FLOAT, []),
            ],
        )
        most = np.array(choice.choice([10**9, 2**62]), np.int64)
        weights = [
            numpy_helper.from_array(most, "n"),
            numpy_helper.from_array(np.array(True), "true"),
            numpy_helper.from_array(np.array(1, np.float32), "one"),
        ]
        return "loop.onnx", _model([("Loop", ["n", "true", "one"], {"body": body})], weights)

    def cycle(self, choice: random.Random) -> Upload:
        """Values that depend on themselves, and functions that call themselves."""
        match choice.randrange(4):
            case 0:
                return "cycle.onnx", _model([("Add", ["x", "1"], {}), ("Neg", ["0"], {})], [])
            case 1:
                return "self.onnx", _model([("Add", ["0", "0"], {})], [])
            case 2:
                call = helper.make_node("F", ["a"], ["b"], domain="d")
                ids = [helper.make_opsetid("", 18), helper.make_opsetid("d", 1)]
                function = helper.make_function("d", "F", ["a"], ["b"], [call], ids)
                return "function.onnx", _model([("F", ["x"], {"domain": "d"})], [], [function])
            case _:
                layer = {"class_name": "Dense", "name": "a", "config": {"name": "a", "units": 2},
                         "inbound_nodes": [[["a", 0, 0, {}]]]}  # fmt: skip
                config = {"name": "m", "layers": [layer], "input_layers": [["a", 0, 0]],
                          "output_layers": [["a", 0, 0]]}  # fmt: skip
                return "cycle.json", json.dumps({"class_name": "Model", "config": config}).encode()

    def deep_graph(self, choice: random.Random) -> Upload:
        """Graphs nested more deeply than a parser's stack allows."""
        out = helper.make_tensor_value_info("y", _FLOAT, None)
        inner: GraphProto = helper.make_graph(
            [helper.make_node("Neg", ["x"], ["y"])], "g", [], [out]
        )
        for _ in range(choice.choice([5, 24])):
            node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
            if inner.ByteSize() > 100_000:
                break
            inner = helper.make_graph([node], "g", [], [out])
        yes = numpy_helper.from_array(np.array(True), "c")
        inner.input.extend([helper.make_tensor_value_info("x", _FLOAT, [4])])
        inner.initializer.extend([yes])
        made = helper.make_model(inner, opset_imports=[helper.make_opsetid("", 18)])
        data = made.SerializeToString()
        if choice.random() < 0.5:  # and deeper than messages may be
            for _ in range(choice.choice([200, 2000])):
                data = b"\x3a" + varint_bytes(len(data)) + data
        return "deep.onnx", data

    def deep_text(self, choice: random.Random) -> Upload:
        """Text and JSON nested more deeply than a parser's stack allows."""
        depth = choice.choice([2000, 100_000])
        return choice.choice(
            [
                ("deep.json", b'{"nodes":' + b"[" * depth),
                ("deep.json", b'{"a":' * depth + b"1" + b"}" * depth),
                ("deep.mlir", b"func.func @f() { " + b"scf.if %a { " * depth),
                ("deep.mlir", b"func.func @f(%x: " + b"tuple<" * depth),
                ("deep.prototxt", b"layer {" * depth),
                ("deep.cfg", b"[net]\n" + b"[convolutional]\n" * depth),
                ("deep.onnx", b"\x3a\xff\xff\xff\x7f" * depth),
                ("deep.ubj", b"{" + b"i\x01x[" * depth),
            ]
        )

    def many_nodes(self, choice: random.Random) -> Upload:
        """Long chains of nodes, and graphs whose values double in size at each node."""
        count = choice.choice([60, 3000])
        if choice.random() < 0.5:
            nodes = [("Concat", [str(i - 1) if i else "x"] * 2, {"axis": 0}) for i in range(60)]
        else:
            nodes = [("Neg", [str(i - 1) if i else "x"], {}) for i in range(count)]
        return "many.onnx", _model(nodes, [])

    def misnamed(self, choice: random.Random) -> Upload:
        """A file with another format's name, or with a name that attacks command lines or web
        pages.
        """
        names = [
            "--output=x.onnx", "<script>.onnx", "$(id).zip", "a;b.keras", "model", "x.h5", "x.tar",
            "`id`.onnx", "x\u202e.onnx", "CON", "a b\tc.onnx", "*", "é" * 100 + ".onnx",
            "package.zip", "explore.html", ".cache", "x.onnx.onnx",
            "'; DROP TABLE models; --.onnx", "%s%n.pb",
        ]  # fmt: skip
        small = [data for _, data in self._seeds if len(data) <= _SMALL]
        return choice.choice(names), choice.choice(small)


def private(mark: str) -> bytes:
    """A valid model whose names and weights contain a mark that no other user may see."""
    weights = numpy_helper.from_array(np.frombuffer((mark * 16).encode()[:256], np.float32), mark)
    node = ("Add", ["x", mark], {"doc_string": mark, "name": mark})
    return _model([node], [weights])


def _model(
    nodes: Sequence[tuple[str, list[str], dict[str, Any]]],
    weights: Sequence[TensorProto],
    functions: Sequence[Any] = (),
) -> bytes:
    """An ONNX file; the output of node N is named N."""
    made = [
        helper.make_node(kind, inputs, [str(at)], **attributes)
        for at, (kind, inputs, attributes) in enumerate(nodes)
    ]
    graph = helper.make_graph(
        made,
        "hostile",
        [helper.make_tensor_value_info("x", _FLOAT, [64])],
        [helper.make_tensor_value_info(str(len(made) - 1), _FLOAT, None)],
        list(weights),
    )
    ids = [helper.make_opsetid("", 18), helper.make_opsetid("d", 1)]
    model = helper.make_model(graph, opset_imports=ids, functions=list(functions))
    return model.SerializeToString()
