"""What nn-opt, nnc and nn-run say of command lines and of files that do not fit: one row each."""

import io
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from nnc.tools import nn_opt, nn_run
from nnc.tools import nnc as nnc_tool
from nnc.tools.command import Streams

TOOLS = {"nn-opt": nn_opt, "nnc": nnc_tool, "nn-run": nn_run}

MODELS = {
    "relu.onnx": "(float[2,3] x) => (float[2,3] y) { y = Relu(x) }",
    "free.onnx": "(float[N,3] x) => (float[N,3] y) { y = Relu(x) }",
    "two.onnx": "(float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Relu(x) z = Neg(x) }",
}
FUNCTIONS = """
func.func @main(%a: i32) -> i32 { return %a : i32 }
func.func @array(%a: tensor<2x3xf32>) -> tensor<2x3xf32> { return %a : tensor<2x3xf32> }
func.func @free(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }
func.func @odd(%a: tuple<i32>) { return }
"""
POINTERS = "llvm.func @p(%a: !llvm.ptr) { llvm.return }\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files")
    for name, text in MODELS.items():
        model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {text}')
        onnx.save(model, path / name)
    (path / "f.mlir").write_text(FUNCTIONS)
    (path / "p.mlir").write_text(POINTERS)
    (path / "pair.mlir").write_text("func.func @a() { return }\nfunc.func @b() { return }")
    (path / "module.mlir").write_text("module {}")
    (path / "ops.mlir").write_text("module {}\nmodule {}")
    (path / "bytes.mlir").write_bytes(b"module {\xff}")
    (path / "file").touch()
    np.save(path / "x.npy", np.zeros((2, 3), np.float32))
    np.savez(path / "two.npz", a=np.zeros(2), b=np.zeros(2))
    (path / "rubbish.npy").write_bytes(b"rubbish")
    return path


ROWS = [
    ("nn-opt --no-such-flag", "--no-such-flag"),
    ("nn-opt a.mlir b.mlir", "one input file, not 2: a.mlir, b.mlir"),
    ("nn-opt module.mlir --pass-pipeline=builtin.module() --cse", "can't be used with individual"),
    ("nn-opt module.mlir --simplify-graph=x=1", "takes no options"),
    ("nn-opt module.mlir --pass-pipeline=any(cse)x", "expected ',' after parsing pipeline"),
    ("nn-opt module.mlir --pass-pipeline=builtin.module(cse))", "encountered extra closing ')'"),
    ("nn-opt module.mlir --pass-pipeline=builtin.module(cse", "unbalanced parentheses"),
    ("nn-opt module.mlir --pass-pipeline=(cse)", "expected the name of an operation before '('"),
    ("nn-opt module.mlir --pass-pipeline=builtin.module(fuse{limit=1)", "missing closing '}'"),
    ("nn-opt module.mlir --pass-pipeline=builtin.module(fuse{", "missing closing '}'"),
    (
        "nn-opt module.mlir --pass-pipeline=builtin.module(fuse{limit='1})",
        "this quote is never closed",
    ),
    ("nn-opt module.mlir --pass-pipeline=builtin.module(csee)", "did you mean 'cse'?"),
    ("nn-opt module.mlir --pass-pipeline=builtin.module(fuse{x=1})", "has no option 'x'; it has: "),
    ("nn-opt module.mlir --pass-pipeline=builtin.module(fuse{limit=x})", "takes int; found 'x'"),
    (
        "nn-opt module.mlir --pass-pipeline=builtin.module(fuse{limit=0})",
        "is at least 1; found '0'",
    ),
    (
        "nn-opt module.mlir --pass-pipeline=builtin.module(decompose{level=odd})",
        "option 'level' is one of",
    ),
    ("nn-opt module.mlir --pass-pipeline=func.func(cse)", "can't run 'func.func' pass manager on"),
    (
        "nn-opt module.mlir --pass-pipeline=builtin.module(func.func(symbol-dce))",
        "restricted to 'builtin.module'",
    ),
    ("nn-opt module.mlir --mlir-print-ir-after=nope", "no pass is named 'nope'"),
    ("nn-opt ops.mlir --no-implicit-module", "must contain a single top-level operation, found: 2"),
    ("nn-opt bytes.mlir", "bytes.mlir:1:1: error: not UTF-8 text: byte 0xff at offset 8"),
    ("nn-opt nothing.mlir", "cannot read 'nothing.mlir': No such file"),
    ("nn-opt module.mlir -o file/out.mlir", "cannot write '"),
    ("nn-opt module.mlir --canonicalize=disable-patterns=x", "no pattern is named 'x'"),
    ("nn-opt f.mlir --check-numerics=odd=1", "has no option 'odd'; it has: "),
    ("nn-opt f.mlir --check-numerics=seed=x", "'x' is not a value of 'seed'"),
    ("nn-opt f.mlir --check-numerics=samples=0", "samples and max-steps are at least 1"),
    ("nn-opt f.mlir --check-numerics-seed=1", "--check-numerics-seed and -reproducer need"),
    ("nnc frobnicate", "nnc --help explains"),
    ("nnc run nothing.onnx --random", "nothing.onnx': no such file"),
    ("nnc run onnx:nothing --random", "no model 'onnx:nothing'; the onnx package has: "),
    ("nnc run relu.onnx --random --threads 0", "--threads is at least 1, not 0"),
    ("nnc run relu.onnx --random --shape x", "--shape takes NAME=1,3,224,224, not 'x'"),
    ("nnc bench relu.onnx --random --runs 0", "--runs is at least 1, not 0"),
    ("nnc run relu.onnx --input x.npy --input x.npy", "is one input too many; the model has 1"),
    ("nnc run relu.onnx --input two.npz", "two.npz: one array expected, found 2"),
    ("nnc run relu.onnx", "no value for x: tensor<2x3xf32>; give --input or --random"),
    ("nnc run free.onnx --random", "give its shape with --shape x=.."),
    ("nnc run relu.onnx --input nothing.npy", "cannot read '"),
    ("nnc run relu.onnx --input rubbish.npy", "not a readable array file"),
    ("nnc run two.onnx --random --output out.npy", "the model has 2 outputs: name an .npz file"),
    ("nnc run two.onnx --random --output out.txt", "a .npy, .npz or .json file is expected"),
    (
        "nnc run f.mlir --random --shape a=1",
        "shapes can be given for models of other formats than IR only",
    ),
    ("nnc run nothing.mlir --random", "cannot read '"),
    ("nnc run bytes.mlir --random", "not UTF-8 text (byte 8)"),
    ("nnc stages relu.onnx -o file/folder", "there is no folder '"),
    ("nn-run f.mlir --frobnicate", "nn-run --help explains"),
    ("nn-run f.mlir --entry nothing", "nothing"),
    ("nn-run f.mlir --args [1", "cannot read the arguments '[1'"),
    ("nn-run f.mlir --args 1,2", "2"),
    ("nn-run f.mlir --args x", "'x' is not of type i32, and none of"),
    ("nn-run f.mlir --args 99999999999", "99999999999 does not fit in i32"),
    ("nn-run f.mlir --args i64:1", "the function takes i32, not "),
    ("nn-run f.mlir --args u128:1", "'u128' is not a type; there are f32, i64, index and so on"),
    (
        "nn-run f.mlir --entry array --args f32[2x3]",
        "no value after the type; write f32[2x3]:random",
    ),
    ("nn-run f.mlir --entry array --args f32[2x3]:[1,2]", "6 elements expected, found 2"),
    ("nn-run f.mlir --entry array --args two.npz", "the file has several arrays; name one of a, b"),
    ("nn-run f.mlir --entry array --args two.npz:c", "the file has no array 'c', but a, b"),
    ("nn-run f.mlir --entry array --args two.npz:a", "the function takes tensor<2x3xf32>, not "),
    (
        "nn-run f.mlir --entry free --args random",
        "give the shape, as f32[2x3]:random, for tensor<?xf32>",
    ),
    ("nn-run f.mlir --entry odd --args 1", "no value of type tuple<i32> can be given"),
    ("nn-run f.mlir --seed -1", "--seed is at least 0, --max-steps at least 1"),
    ("nn-run f.mlir --entry array --args f32[2x]:zeros", "'[2x]' is not a shape; write [2x3]"),
    ("nn-run pair.mlir", "nn-run: name the function with --entry; there are @a, @b"),
    ("nn-run p.mlir --args 1", "a pointer needs an array, as f32[16]:zeros"),
]


@pytest.mark.parametrize(("line", "message"), ROWS, ids=[row[0] for row in ROWS])
def test_message(line: str, message: str, folder: Path) -> None:
    tool, *arguments = line.split(" ")
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), folder)
    code = TOOLS[tool].main(arguments, streams)
    said = streams.stderr.getvalue()
    assert code == 1, said
    assert message in said
    assert "internal error" not in said


class _NotUtf8(io.StringIO):
    def read(self, size: int | None = -1) -> str:
        return b"module {\xff}".decode("utf-8")


def test_standard_input_that_is_not_utf8(folder: Path) -> None:
    streams = Streams(_NotUtf8(), io.StringIO(), io.StringIO(), folder)
    assert nn_opt.main([], streams) == 1
    assert streams.stderr.getvalue() == "error: <stdin>: not UTF-8 text (byte 8)\n"
