"""The texts that mutations start from: the repository's own, and those of given folders."""

from __future__ import annotations

import importlib.util
import random
import re
import tempfile
from functools import cache
from pathlib import Path
from textwrap import dedent

from nnc.ir.diagnostics import NncError

ROOT = Path(__file__).resolve().parent.parent
SPLIT = re.compile(r"^// -----.*$", re.M)
MAX_SEED = 20_000
"""The most characters of a seed; longer texts make slow cases and find no more."""


@cache
def texts(folders: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Parts of golden tests, examples of ops, models at every stage, and files of given folders."""
    found: list[str] = []
    for path in sorted((ROOT / "test" / "lit").rglob("*.mlir")):
        found += SPLIT.split(path.read_text(encoding="utf-8"))
    found += [dedent(cls.example).strip() for cls in _classes() if cls.example]
    found += list(stages())
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.mlir")):
            found.append(path.read_bytes().decode("utf-8", "surrogateescape"))
    return tuple(text for text in found if text.strip() and len(text) <= MAX_SEED)


def _classes() -> list:
    from .op_text import op_classes

    return op_classes()


@cache
def models() -> tuple[bytes, ...]:
    """Serialized small ONNX models."""
    path = ROOT / "test" / "models" / "small_models.py"
    spec = importlib.util.spec_from_file_location("small_models", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    import onnx.parser

    written = [onnx.parser.parse_model(text).SerializeToString() for text in MODELS]
    return (
        *written,
        module.small_cnn().SerializeToString(),
        module.small_transformer().SerializeToString(),
    )


@cache
def node_cases() -> tuple[bytes, ...]:
    """ONNX's test cases of each operator, serialized."""
    from onnx.backend.test.loader import load_model_tests

    found = [case.model.SerializeToString() for case in load_model_tests(kind="node") if case.model]
    return tuple(data for data in found if len(data) <= MAX_SEED)


MODELS = (
    """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }""",
    """<ir_version: 8, opset_import: ["" : 17]>
    g (float[N,3] x, float[3,4] w) => (float[N,4] y)
    { a = MatMul(x, w)  b = Softmax<axis = -1>(a)  y = Clip(b) }""",
    """<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,4,8,8] x) => (float y)
    <float[4,4,3,3] w = {1}, int64[2] shape = {1, -1}>
    { a = Conv<pads = [1,1,1,1], strides = [2,2], group = 1>(x, x)
      b = MaxPool<kernel_shape = [2,2], ceil_mode = 1>(x)
      c = Reshape(b, shape)  y = ReduceMean<axes = [1], keepdims = 0>(c) }""",
    """<ir_version: 8, opset_import: ["" : 17]>
    g (float[4,6] x, int64[2] i) => (float y)
    { a = Gather<axis = 1>(x, i)  s = Shape(x)  b = Transpose<perm = [1,0]>(x)
      c = Concat<axis = 1>(x, x)  d, e = Split<axis = 1>(c)  f = Slice(c, i, i)
      h = Pad<mode = "reflect">(x, i)  y = Gemm<alpha = 0.5, transB = 1>(x, x) }""",
    """<ir_version: 8, opset_import: ["" : 17]>
    g (float[5,2,3] x, float[1,8,3] w, float[1,8,2] r, bool c) => (float y)
    { y, h = LSTM<hidden_size = 2, direction = "forward">(x, w, r)
      q = If(c) <then_branch = t () => (float a) { a = Relu(x) },
                 else_branch = e () => (float b) { b = Neg(x) }>
      z = Einsum<equation = "abc,abc->ab">(x, x) k, l = TopK<axis = 1>(x, w) }""",
)


@cache
def stages() -> tuple[str, ...]:
    """The text of a tiny model after every stage of the pipeline."""
    import onnx
    from nnc.driver.compile import write_stages

    found = []
    for data in models()[:2]:
        with tempfile.TemporaryDirectory() as folder:
            model = onnx.ModelProto.FromString(data)
            for path in write_stages(model, Path(folder)):
                found.append(path.read_text(encoding="utf-8"))
    return tuple(found)


def pick_valid(choice: random.Random, folders: tuple[str, ...]) -> str:
    """A random seed that nnc accepts unchanged."""
    from nnc.ir.syntax.parser import parse_module

    while True:
        text = pick(choice, folders)
        try:
            parse_module(text, allow_unregistered=True).verify()
        except (NncError, UnicodeError):
            continue
        return text


def pick(choice: random.Random, folders: tuple[str, ...]) -> str:
    """A random seed."""
    return choice.choice(texts(folders))
