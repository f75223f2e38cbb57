"""Operators of one's own: declared, fused, lowered, checked and compiled as those of nnc."""

import io
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc import NncError
from nnc.tools.command import Streams
from nnc.tools.nn_opt import main as nn_opt
from nnc.tools.nn_run import main as nn_run
from nnc.tools.nnc import main

MY_OPS = Path(__file__).parents[2] / "examples" / "my_ops.py"

TEXT = """
    <ir_version: 8, opset_import: ["" : {opset}, "com.example" : 1]>
    net (float[{n}, 8] x) => (float[{n}, 8] y) {{
        a = Neg(x)
        s = com.example.Squareplus{attributes}(a)
        y = com.example.ScaledTanh<beta = 0.5>(s)
    }}"""
X = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)


def net(attributes="<b = 1.0>", opset=18, n="n") -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT.format(attributes=attributes, opset=opset, n=n))


def expected(x, b=1.0):
    x = -x.astype(np.float64)
    return 1.7159 * np.tanh(0.5 * (x + np.sqrt(x * x + b)) / 2)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    onnx.save(net(n="3"), tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", expected(X).astype(np.float32))
    return tmp_path / "net.onnx"


def run(tool, folder: Path, *argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = tool(list(map(str, argv)), Streams(io.StringIO(), out, err, folder))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("opset", [13, 21])
@pytest.mark.parametrize("attributes,b", [("<b = 1.0>", 1.0), ("", 4.0)])
def test_in_the_api(attributes, b, opset):
    compiled = nnc.compile(net(attributes, opset), ops=MY_OPS)
    np.testing.assert_allclose(compiled(X), expected(X, b), rtol=1e-4, atol=1e-5)


def test_they_are_fused(model):
    """Into one kernel with what stands before them."""
    code, _, err = run(main, model.parent, "stages", "net.onnx", "--ops", MY_OPS, "-o", "s", "-q")
    assert code == 0, err
    kernels = (model.parent / "s" / "2-make-kernels.mlir").read_text()
    assert kernels.count("nn.kernel") == 1 and "example.squareplus" in kernels
    linalg = (model.parent / "s" / "3-bufferize.mlir").read_text()
    assert "math.sqrt" in linalg and "example." not in linalg


def test_in_the_tools(model):
    """Its text is read and printed, interpreted and checked after each pass."""
    folder, given = model.parent, ("--ops", MY_OPS)
    code, _, err = run(
        main, folder, "run", "net.onnx", *given, "--input", "x.npy", "--expect", "y.npy", "-q"
    )
    assert code == 0, err
    assert run(main, folder, "import", "net.onnx", *given, "-o", "m.mlir", "-q")[0] == 0
    assert "example.squareplus %" in (folder / "m.mlir").read_text()
    code, _, err = run(nn_opt, folder, *given, "--check-numerics", "--lower-all", "m.mlir")
    assert code == 0, err
    code, out, err = run(nn_run, folder, *given, "--args", "x.npy", "--compare", "y.npy",
                         "--rtol", "1e-4", "--atol", "1e-5", "--interpret", "m.mlir")  # fmt: skip
    assert code == 0, out + err
    code, out, _ = run(main, folder, "check", "net.onnx", *given)
    assert code == 0 and "com.example.Squareplus" in out
    code, _, err = run(main, folder, "compile", "net.onnx", *given, "-o", "net.o", "-q")
    assert code == 0 and (folder / "net.h").exists(), err


@pytest.mark.parametrize(
    "text,message",
    [
        ("s = com.example.Squareplus<c = 1.0>(x)", "unknown attribute 'c', expected one of: b"),
        ("s = com.example.Squareplus(x, x)", "2 inputs, expected at most 1"),
        ("s = com.example.Squareplus<b = [1, 2]>(x)", "an attribute does not fit: "),
        ("s = com.example.ScaledTanh<gamma = 1.0>(x)", "expected one of: alpha, beta"),
        ("s = com.example.ScaledTanh()", "input 'x' is missing"),
    ],
)
def test_wrong_nodes(text, message):
    model = net()
    changed = onnx.parser.parse_model(
        TEXT.format(attributes="", opset=18, n="3").replace("s = com.example.Squareplus(a)", text)
    )
    model.graph.CopyFrom(changed.graph)
    with pytest.raises(NncError) as caught:
        nnc.load(model, ops=[MY_OPS])
    assert message in str(caught.value) and "node of output 's'" in str(caught.value)


def written(folder: Path, body: str) -> Path:
    path = folder / "ops.py"
    path.write_text(f"import nnc\nfrom nnc.dialects.nn import UnaryOp\n{body}")
    return path


@pytest.mark.parametrize(
    "body,message",
    [
        ("x = (", "ops.py:3:1: error: '(' was never closed"),
        ("1 / 0", "ops.py:3:1: error: ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(3)", "ops.py:3:1: error: SystemExit: 3"),
        ("x = 1", "ops.py: error: the file declares no operator: see nnc.operator"),
        ("nnc.operator('Relu')", "operator 'Relu': expected a domain and a name"),
        ("nnc.operator('a.B')(3)", "operator 'a.B': expected an op's class or a function"),
        (
            "@nnc.operator('t.A')\ndef a(op, x): return x\n"
            "@nnc.operator('t.A')\ndef b(op, x): return x",
            "operator 't.A' is declared already, by ",
        ),
        (
            "class A(UnaryOp, name='own_test.a'):\n  '''A.'''\n  body = 'out[i..] = y[i..]'",
            "'y' is not an operand of the op",
        ),
    ],
)
def test_wrong_files(tmp_path, body, message):
    path = written(tmp_path, body)
    code, _, err = run(main, tmp_path, "check", "net.onnx", "--ops", path.name)
    assert code == 1 and message in err, err
    assert "Traceback" not in err
    # What it had declared is forgotten: the file can be mended.
    path = written(tmp_path, "@nnc.operator('t.A')\ndef a(op, x): return op.Neg(x)")
    nnc.load(one_node("t.A"), ops=path)
    path = written(tmp_path, "@nnc.operator('t.B')\ndef b(op, x): return op.Neg(x)")
    nnc.load(one_node("t.B"), ops=path)
    with pytest.raises(NncError, match="a node is not supported"):
        nnc.load(one_node("t.A"))
    path = written(tmp_path, "@nnc.operator('empty.now')\ndef b(op, x): return x")
    nnc.load(one_node("empty.now"), ops=path)
    path.write_text("")
    with pytest.raises(NncError, match="declares no operator"):
        nnc.load(one_node("empty.now"), ops=path)


def one_node(name: str) -> onnx.ModelProto:
    domain = name.rpartition(".")[0]
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 18, "{domain}" : 1]>
        net (float[4] x) => (float[4] y) {{ y = {name}(x) }}""")


def test_a_file_that_has_changed_is_read_again(tmp_path, monkeypatch):
    """And the cache of compiled models knows."""
    monkeypatch.setenv("NNC_CACHE_LIMIT", "100M")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    onnx.save(one_node("changing.Half"), tmp_path / "m.onnx")
    declared = (
        "@nnc.operator('changing.Half')\nclass Half(UnaryOp, name='changing.half'):\n"
        "    '''x / {0}.'''\n    body = 'out[i..] = x[i..] / {0}'\n"
    )
    x = np.float32([1, 2, 3, 4])
    for divisor in (2, 4, 4):
        path = written(tmp_path, declared.format(divisor))
        compiled = nnc.compile(tmp_path / "m.onnx", ops=path)
        np.testing.assert_array_equal(compiled(x), x / divisor)


def test_errors_in_a_composition_name_node_and_line(tmp_path):
    path = written(
        tmp_path,
        "@nnc.operator('faulty.Sum')\ndef a(op, x): return op.ReduceSum(x, nonsense=1)\n"
        "@nnc.operator('faulty.None')\ndef b(op, x): return x.nothing\n",
    )
    with pytest.raises(
        NncError, match=r"node of output 'y' \(Sum\).* unknown attribute 'nonsense'"
    ):
        nnc.load(one_node("faulty.Sum"), ops=path)
    with pytest.raises(NncError, match=r"\(None\): AttributeError: .*'nothing' \(line 6\)"):
        nnc.load(one_node("faulty.None"), ops=path)


def test_compositions_may_use_numbers_arrays_and_several_outputs(tmp_path):
    path = written(
        tmp_path,
        "import numpy as np\n"
        "@nnc.operator('parts.Swap')\n"
        "def swap(op, x):\n"
        "    a, b = op.Split(x, np.array([1, 3]), outputs=2, axis=0)\n"
        "    return op.Concat(op.Mul(b, 2), op('com.example.Own', a), axis=0)\n"
        "@nnc.operator('com.example.Own')\n"
        "def own(op, x):\n"
        "    return op.Add(x, 1)\n",
    )
    x = np.float32([1, 2, 3, 4])
    found = nnc.compile(one_node("parts.Swap"), ops=path)(x)
    np.testing.assert_array_equal(found, [4, 6, 8, 2])


HOST = """
import numpy as np

@nnc.operator("hosted.Median", host=True, gives=lambda x, *, axis: (x.shape[:1], x.dtype))
def median(x, *, axis=1):
    return np.median(x, axis).astype(x.dtype)

@nnc.operator("hosted.Divide", host=True, gives=lambda a, b: [a, (b.shape, np.int64)])
def divide(a, b):
    return np.floor_divide(a, b), np.ones(b.shape, np.int64)

@nnc.operator("hosted.Wrong", host=True)
def wrong(x):
    return x[:1]

@nnc.operator("hosted.Unknown", host=True, gives=lambda x: x.nothing)
def unknown(x):
    return x
"""

HOSTED = """
    <ir_version: 8, opset_import: ["" : 18, "hosted" : 1]>
    net (float[n, 4] x) => (float[n] y, int64[n] z) {
        e = Exp(x)
        m = hosted.Median<axis = 1>(e)
        s = ReduceMax<keepdims = 0>(x, axes)
        q, z = hosted.Divide(m, s)
        y = Neg(q)
    }"""


@pytest.fixture(scope="module")
def host_ops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("ops"), HOST)


def hosted() -> onnx.ModelProto:
    model = onnx.parser.parse_model(HOSTED)
    axes = onnx.numpy_helper.from_array(np.array([1]), "axes")
    model.graph.initializer.append(axes)
    return model


def test_a_function_of_the_host(host_ops):
    """On NumPy arrays, between the parts that are compiled."""
    compiled = nnc.compile(hosted(), ops=host_ops)
    x = np.abs(X[:, :4]) + 1
    y, z = compiled(x)
    expected = -np.floor_divide(np.median(np.exp(x), 1), x.max(1))
    np.testing.assert_array_equal(y, expected.astype(np.float32))
    np.testing.assert_array_equal(z, [1, 1, 1])


def test_functions_of_the_host_in_the_tools(tmp_path, host_ops):
    onnx.save(hosted(), tmp_path / "m.onnx")
    given = ("--ops", host_ops)
    code, out, err = run(main, tmp_path, "check", "m.onnx", *given)
    assert code == 0, err
    assert "computed by a host in Python, so no library can have them (2):" in out
    assert "node of output 'm' (Median)" in out or "node 'm' (Median)" in out
    code, _, err = run(main, tmp_path, "compile", "m.onnx", *given, "-o", "m.o", "-q")
    assert code == 1 and "'m' (Median)" in err and not (tmp_path / "m.o").exists()
    code, _, err = run(
        main, tmp_path, "compare", "m.onnx", *given, "-q", "--random", "--shape", "x=3,4",
        "--against-fast-math", "off",
    )  # fmt: skip
    assert code == 0, err


@pytest.mark.parametrize(
    "name,message",
    [
        ("Wrong", r"\(Wrong\): result 0 should be tensor<4xf32>"),
        (
            "Unknown",
            r"\(Unknown\): the type of its result cannot be computed: AttributeError: .*nothing",
        ),
    ],
)
def test_functions_of_the_host_that_are_wrong(host_ops, name, message):
    with pytest.raises(NncError, match=message):
        nnc.compile(one_node(f"hosted.{name}"), ops=host_ops)(np.float32([1, 2, 3, 4]))
