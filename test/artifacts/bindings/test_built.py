"""Each language's example is built and run as its README says, and so is a program of bad inputs."""

import os
import platform
import re
import subprocess
from pathlib import Path

import ml_dtypes
import nnc
import numpy as np
import onnx
import pytest
from nnc.tools.nnc import main

from bench import calls
from bench.built_bindings import build, run

from ...conftest import skip_unless_ci
from . import bad_inputs
from .models import every_type, expected, product, two_inputs
from .tools import RUN, require

pytestmark = pytest.mark.bindings


def written(folder: Path, model: onnx.ModelProto, languages: str, *options: str) -> Path:
    """The folder that nnc writes for a model that is called `network`."""
    source = folder / "network.onnx"
    onnx.save(model, source)
    made = folder / "made"
    arguments = ["compile", str(source), "--bindings", languages, "-o", str(made), "--quiet"]
    assert main([*arguments, *options]) == 0
    return made


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("inside"), every_type(), "all")


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("beside"), product(), "all", "--weights", "beside")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("two"), two_inputs(), "all")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the programs of bench/calls.py call."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "calls.mlir").write_text(calls.MODEL)
    arguments = [str(folder / "calls.mlir"), "--bindings", "all", "-o", str(folder / "made")]
    assert main(["compile", *arguments, "--quiet"]) == 0
    return folder / "made"


def printed(text: str, count: int) -> list[tuple[list[int], list[float]]]:
    """Shape and first values of each output that an example has printed."""
    rows = re.findall(r"\[([\d, ]*)\]:((?: \S+)+)$", text, re.MULTILINE)
    assert len(rows) == count, text
    words = {"true": 1.0, "True": 1.0, "false": 0.0, "False": 0.0}
    return [
        (
            [int(extent) for extent in shape.split(",") if extent.strip()],
            [words[word] if word in words else float(word) for word in values.split()],
        )
        for shape, values in rows
    ]


def check_example(text: str, model: onnx.ModelProto) -> None:
    """The output of an example against NumPy's results."""
    wanted = expected(model)
    rows = printed(text, len(wanted))
    for (name, array), (shape, values) in zip(wanted.items(), rows, strict=True):
        assert shape == list(array.shape), name
        first = array.ravel()[:8]
        small = array.dtype in (np.float16, ml_dtypes.bfloat16)
        if small and any(abs(value) > 2 for value in values):  # their bits
            bits = np.array([int(value) & 0xFFFF for value in values], np.uint16)
            values = bits.view(array.dtype).astype(np.float64)
        # Sums of eight products in float32, printed with at least 8 digits.
        np.testing.assert_allclose(values, first.astype(np.float64), 1e-6, 1e-6, err_msg=name)


@pytest.mark.parametrize("language", RUN)
def test_example(inside: Path, tmp_path: Path, language: str) -> None:
    """Every type of elements, unknown extents, names that are none in the language."""
    require(language)
    done = build(inside / language, tmp_path)
    assert done.status == 0, done.output + done.errors
    done = run(inside / language, tmp_path)
    assert done.status == 0, done.output + done.errors
    check_example(done.output, every_type())


@pytest.mark.parametrize("language", RUN)
def test_example_with_weights_beside(beside: Path, tmp_path: Path, language: str) -> None:
    """Without its weights the library's message comes out, as an error of the language."""
    require(language)
    done = build(beside / language, tmp_path)
    assert done.status == 0, done.output + done.errors
    check_example(run(beside / language, tmp_path).output, product())
    weights = beside / "network.weights"
    weights.rename(tmp_path / "kept")
    try:
        done = run(beside / language, tmp_path)
    finally:
        (tmp_path / "kept").rename(weights)
    assert done.status not in (0, -6, -11, 134, 139), done.errors
    assert "the weights file cannot be read" in done.output + done.errors


@pytest.mark.parametrize("language", RUN)
def test_a_call_takes_20_microseconds_at_most(small: Path, language: str) -> None:
    """The least of many: what else the machine does has no part in it."""
    require(language)
    assert min(calls.times(small, language, 2000)) <= 20


@pytest.mark.parametrize("language", [name for name in RUN if name != "c"])
def test_bad_inputs(two: Path, tmp_path: Path, language: str) -> None:
    """An input that does not fit is an exception of the language that names it."""
    require(language)
    place, text = bad_inputs.PROGRAMS[language]
    (two / language / place).write_text(text)
    done = build(two / language, tmp_path)
    assert done.status == 0, done.output + done.errors
    done = run(two / language, tmp_path)
    assert done.status == 0, done.output + done.errors
    assert done.output.splitlines() == bad_inputs.EXPECTED[language]


def test_module_map(inside: Path, tmp_path: Path) -> None:
    """Swift's compiler reads module maps by clang."""
    require("swift")
    program = tmp_path / "main.m"
    program.write_text(
        "@import Network;\n"
        "int main(void) {\n"
        "    network_context *context;\n"
        "    if (network_create(&context, 0, 1)) return 1;\n"
        "    network_destroy(context);\n"
        "    return 0;\n"
        "}\n"
    )
    folder = inside / "swift"
    command = ["clang", "-fmodules", f"-fmodule-map-file={folder / 'module.modulemap'}"]
    command += [f"-fmodules-cache-path={tmp_path}", str(program), f"-L{inside}", "-lnetwork"]
    command += [f"-Wl,-rpath,{inside}", "-o", str(tmp_path / "main")]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "main"], check=True)


_RIGHT = """
const x = new Float32Array(32), tokens = { data: new Int32Array(6), dims: [2, 3] };
const outputs: Outputs = await model.run({ "input.1": x, tokens });
const [y, dims]: [Float32Array, number[]] = [outputs["495"].data, outputs.type.dims];
console.log(y, dims, model.threads);
model.dispose();
"""
_WRONG = """
await model.run({ "input.1": x });
await model.run({ "input.1": x, tokens: new Int32Array(6) });
await model.run({ "input.1": new Float64Array(32), tokens });
await model.run({ "input.1": x, tokens, other: x });
const wrong: Float32Array = outputs.type.data;
"""


@pytest.mark.parametrize("platform", ["node", "wasm"])
def test_types(two: Path, tmp_path: Path, platform: str) -> None:
    """TypeScript finds the types of what is imported, and an input of another name or type."""
    require("typescript")
    place = two / "node" / "index.mjs"
    if platform == "wasm":
        place = tmp_path / "model.mjs"
        model, output = two.parent / "network.onnx", str(place.with_suffix(".wasm"))
        assert main(["compile", str(model), "--target", "wasm32", "-o", output, "-q"]) == 0
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "network").symlink_to(two / "node")
    name = "network" if platform == "node" else f"./{place.name}"
    text = f'import {{ load, type Outputs }} from "{name}";\nconst model = await load();{_RIGHT}'
    (tmp_path / "main.mts").write_text(text + _WRONG)
    command = ["tsc", "--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom"]
    command += ["--module", "nodenext", "--moduleResolution", "nodenext", "main.mts"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = re.findall(r"^main\.mts\((\d+),", done.stdout, re.MULTILINE)
    first = text.count("\n") + 2
    assert [int(line) for line in lines] == [*range(first, first + 5)], done.stdout


@pytest.mark.parametrize("language", RUN)
def test_other_architecture(tmp_path: Path, language: str) -> None:
    """A library for another processor does not link or does not load, and it is said which."""
    require(language)
    other = "aarch64" if platform.machine() == "x86_64" else "x86-64"
    made = written(tmp_path, product(), language, "--target", other)
    done = build(made / language, tmp_path)
    if done.status == 0:
        done = run(made / language, tmp_path)
        assert done.status not in (0, 134, 139), done.errors
        assert f"made for {other}" in done.errors
    else:
        said = r"incompatible.*libnetwork\.so|libnetwork\.so is incompatible"
        assert re.search(said, done.output + done.errors)


def test_python_as_nnc_itself(inside: Path, tmp_path: Path) -> None:
    """Another process without nnc gives the same bits, by position, by name, and from threads."""
    model = tmp_path / "network.onnx"
    onnx.save(product(), model)
    made = written(tmp_path, product(), "python")
    x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    text = (
        "import sys, numpy as np\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from network import Model\n"
        "x = np.load(sys.argv[1])\n"
        "with Model() as model:\n"
        "    first, second = model(x).y, model.run({'x': np.asfortranarray(x)})['y']\n"
        "    assert (first == second).all()\n"
        "    inputs = [x * i for i in range(64)]\n"
        "    alone = [model(x).y for x in inputs]\n"
        "    with ThreadPoolExecutor(8) as threads:\n"
        "        together = threads.map(lambda x: model(x).y, inputs)\n"
        "    assert all((a == b).all() for a, b in zip(alone, together))\n"
        "np.save(sys.argv[2], first)\n"
        "assert not any(name.split('.')[0] == 'nnc' for name in sys.modules)\n"
    )
    files = [str(tmp_path / name) for name in ("x.npy", "y.npy")]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(made / "python")}
    subprocess.run(["python3", "-c", text, *files], env=environment, check=True)
    np.testing.assert_array_equal(np.load(files[1]), nnc.compile(model)(x))


def test_cpp_header_has_no_warnings(inside: Path, tmp_path: Path) -> None:
    """The header is clean under the warnings that projects commonly turn into errors."""
    require("cpp")
    command = ["c++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
    command += ["-fsyntax-only", "-I..", "example.cpp"]
    done = subprocess.run(command, cwd=inside / "cpp", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("language", "command"), [("go", ["gofmt", "-l", "."])])
def test_formatter_agrees(inside: Path, language: str, command: list[str]) -> None:
    require(language)
    if not subprocess.run(["which", command[0]], capture_output=True, check=False).stdout:
        skip_unless_ci(f"no tools for {language}: {command[0]}")
    done = subprocess.run(
        command, cwd=inside / language, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
