"""What `nnc compile --bindings` writes, and refuses; nothing is built."""

import json
import re
import struct
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nnc.artifacts.bindings import LANGUAGES
from nnc.artifacts.bindings.language import comment, files_of, language
from nnc.artifacts.bindings.names import camel_case, identifiers, pascal_case, snake_case, words_of
from nnc.artifacts.interface import BYTES, Interface, TensorInterface
from nnc.artifacts.options import (
    ArtifactOptions,
    chosen_languages,
    prefix_of,
)
from nnc.ir.diagnostics import NncError
from nnc.targets.base import target
from nnc.targets.llvm.library import check_bindings
from nnc.tools.nnc import main

from .models import ODD_NAME, every_type, product


def compiled(tmp_path: Path, *arguments: str) -> tuple[int, Path]:
    model = tmp_path / "my-network.onnx"
    onnx.save(product(), model)
    folder = tmp_path / "made"
    return main(["compile", str(model), "-o", str(folder), "--quiet", *arguments]), folder


def interface(**changes) -> Interface:
    x = TensorInterface("x", "f32", (None, 8), ("batch", None))
    given = {"prefix": "model", "target": "x86-64", "inputs": (x,), "outputs": (x,)}
    sizes = ("arena", "live", "weights", "prepared", "prepare_arena")
    return Interface(
        **{f"{name}_bytes": 0 for name in sizes}, **{**given, "weights": "inside", **changes}
    )


def test_a_folder_of_its_own_for_each_language(tmp_path: Path) -> None:
    status, folder = compiled(tmp_path, "--bindings", "all", "--weights", "beside")
    assert status == 0
    files = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert {name for name in files if "/" not in name} == {
        *("libmy_network.so", "my_network.h", "my_network.json", "my_network.weights")
    }
    assert {name for name in files if name.startswith("rust/")} == {
        *("rust/Cargo.toml", "rust/README.md", "rust/build.rs", "rust/src/lib.rs"),
        "rust/examples/example.rs",
    }
    assert {p.name for p in folder.iterdir() if p.is_dir()} == set(LANGUAGES)
    for name in files - {"libmy_network.so", "my_network.weights"}:
        text = (folder / name).read_text()
        assert text.endswith("\n") and not text.endswith("\n\n"), name
        assert not any(line != line.rstrip() for line in text.splitlines()), name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bindings", "rust,cobol"], "java-jni, objc, swift, rust, go or all; found 'cobol'"),
        (["--bindings", ","], "or all; found none"),
        (["--bindings", "c", "--static"], "--bindings a folder with a shared library"),
        (["--bindings", "c", "--prefix", "1"], "--prefix is the start of C names"),
        (["--bindings", "c", "--prefix", "math"], "math.h or libmath is C's own"),
    ],
)
def test_refused(tmp_path: Path, capsys, arguments: list[str], message: str) -> None:
    status, folder = compiled(tmp_path, *arguments)
    assert status == 1
    assert message in capsys.readouterr().err
    assert not folder.exists()


def test_a_file_is_no_folder(tmp_path: Path, capsys) -> None:
    (tmp_path / "made").write_text("earlier")
    assert compiled(tmp_path, "--bindings", "c")[0] == 1
    assert "made' is a file" in capsys.readouterr().err
    assert (tmp_path / "made").read_text() == "earlier"


def test_all_files_or_none(tmp_path: Path, capsys) -> None:
    """A file that cannot be written leaves the folder as it was."""
    folder = tmp_path / "made"
    (folder / "python" / "example.py").mkdir(parents=True)
    assert compiled(tmp_path, "--bindings", "rust,python")[0] == 1
    assert "example.py': Is a directory" in capsys.readouterr().err
    assert sorted(p.name for p in folder.rglob("*")) == ["example.py", "python"]


def test_elements_without_a_type(tmp_path: Path) -> None:
    x = TensorInterface("x", "complex<f32>", (2,), (None,))
    for name in LANGUAGES:
        with pytest.raises(NncError, match=r"'x': .* has no type for 'complex<f32>'"):
            files_of(name, interface(inputs=(x,)), "libmodel.so")


@pytest.mark.parametrize("type", BYTES)
def test_small_elements_are_bytes(type: str) -> None:
    x = TensorInterface("x", type, (2,), (None,))
    wide = TensorInterface("x", "ui8", (2,), (None,))
    for name in LANGUAGES:
        made = files_of(name, interface(inputs=(x,), outputs=(x,)), "libmodel.so")
        bytes_of = files_of(name, interface(inputs=(wide,), outputs=(wide,)), "libmodel.so")
        assert made.keys() == bytes_of.keys()
        assert any(BYTES[type] in text for text in made.values())


@pytest.mark.thorough
def test_json_has_names_of_dimensions(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    onnx.save(every_type(), model)
    assert main(["compile", str(model), "-o", str(tmp_path / "m.so"), "--quiet"]) == 0
    about = json.loads((tmp_path / "m.json").read_text())
    assert about["inputs"][1] == {
        "name": "tokens",
        "type": "i32",
        "shape": [None, None],
        "dims": ["batch", "length"],
    }
    assert about["inputs"][6]["name"] == ODD_NAME
    assert [one["allocated_by"] for one in about["outputs"][1:3]] == ["library", "caller"]
    # A dimension that is given has no name any more.
    fixed = ["--shape", "input.1=3,8", "--shape", "tokens=3,4"]
    arguments = ["compile", str(model), "-o", str(tmp_path / "m.so"), "--quiet"]
    assert main([*arguments, *fixed]) == 0
    assert "dims" not in json.loads((tmp_path / "m.json").read_text())["inputs"][1]


def test_files_without_inputs() -> None:
    """A model of constants, and a tensor of no elements."""
    empty = TensorInterface("y", "f32", (0, 3), (None, None))
    for name in LANGUAGES:
        assert files_of(name, interface(inputs=(), outputs=(empty,)), "libmodel.so")


def test_identifiers() -> None:
    names = ["input.1", "pixelValues", "fn", "x.y", "x_y", "495", "値", "café", "", "_x"]
    found = identifiers(names, "input", snake_case, {"fn"})
    assert found == [
        *("input_1", "pixel_values", "fn_", "x_y", "x_y_2", "input_495", "input_6", "cafe"),
        *("input_8", "x"),
    ]
    assert identifiers(["a.b", "AB", "aB"], "output", pascal_case, ()) == ["AB", "AB_2", "AB_3"]
    assert identifiers(["PixelValues", "0"], "output", camel_case, ()) == ["pixelValues", "output0"]
    assert words_of("HTTPServer2.out") == ["HTTPServer2", "out"]


@given(names=st.lists(st.text(max_size=6), max_size=6))
@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != "node"])
def test_identifiers_are_valid_and_distinct(name: str, names: list[str]) -> None:
    spoken = language(name)
    assert spoken.identifier is not None
    made = identifiers(names, "input", spoken.identifier, spoken.reserved)
    assert len({*made}) == len(names)
    assert all(one.isascii() and one.isidentifier() for one in made)
    assert not spoken.reserved & {*made}


@given(text=st.text())
def test_comments_end_where_they_should(text: str) -> None:
    safe = comment(text)
    assert len(safe.splitlines()) <= 1
    assert not any(end in safe for end in ("*/", "\\", '"""'))


@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        ("models/mobilenet-v2.onnx", "mobilenet_v2"),
        ("onnx:light_resnet50", "light_resnet50"),
        ("7.onnx", "model_7"),
        ("値.onnx", "model"),
        ("m.onnx", "m_model"),
        ("time.onnx", "time_model"),
    ],
)
def test_prefix(model: str, prefix: str) -> None:
    assert prefix_of(model) == prefix


def test_other_systems_are_refused() -> None:
    windows, wasm = target("x86-64-windows"), target("wasm32")
    message = "there are no bindings for Go under Windows, which 'x86-64-windows' is for"
    with pytest.raises(NncError, match=message):
        check_bindings(windows, ArtifactOptions(bindings=("python", "go")))
    check_bindings(windows, ArtifactOptions())
    check_bindings(windows, ArtifactOptions(bindings=("python", "java", "cpp")))
    check_bindings(target("apple-m1"), ArtifactOptions(bindings=LANGUAGES))
    with pytest.raises(NncError, match="bindings call libraries; 'wasm32' is for no operating"):
        check_bindings(wasm, ArtifactOptions(bindings=("c",)))


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("x86-64-v3", "libmodel.so"),
        ("apple-m1", "libmodel.dylib"),
        ("aarch64-windows", "model.dll"),
    ],
)
def test_the_library_is_called_as_its_system_wants(name: str, library: str) -> None:
    options = ArtifactOptions(prefix="model", bindings=("python",))
    assert target(name).file_in(Path("made"), options) == Path("made") / library
    (text, *_) = (
        text
        for path, text in files_of("python", interface(), library).items()
        if path == "model.py"
    )
    assert f'"{library}"' in text
    for one in LANGUAGES:
        if target(name).system not in language(one).systems:
            continue
        made = "".join(files_of(one, interface(), library).values()).replace("_jni.so", "")
        assert ("ORIGIN" in made) <= library.endswith(".so"), one
        assert ("@loader_path" in made) <= library.endswith(".dylib"), one
        assert not re.search(r"\w\.so\b", made) or library.endswith(".so"), one


def test_a_library_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    """The system would load it, and end the process where code is beyond the end."""
    texts = files_of("python", interface(), "libmodel.so")
    names = {"__file__": str(tmp_path / "python" / "model.py"), "__name__": "model"}
    exec(texts["model.py"], names)
    wide, narrow = tmp_path / "wide.so", tmp_path / "narrow.so"
    # Section headers of 64 and of 40 bytes, ten of them, behind 1000 bytes; big-endian the second.
    head = b"\x7fELF\2\1".ljust(40, b"\0") + struct.pack("<QIHHHHHH", 1000, 0, 64, 0, 0, 64, 10, 9)
    wide.write_bytes(head.ljust(1640, b"\0"))
    head = b"\x7fELF\1\2".ljust(32, b"\0") + struct.pack(">IIHHHHHH", 1000, 0, 52, 0, 0, 40, 10, 9)
    narrow.write_bytes(head.ljust(1400, b"\0"))
    for path in (wide, narrow):
        names["_check_end"](path)
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(
            OSError, match=rf"{path.name} is cut off: it has \d+ of at least \d+ bytes"
        ):
            names["_loaded"](path)


def test_languages_in_order() -> None:
    assert chosen_languages("go,c , go") == ("c", "go")
    assert chosen_languages("c,all") == LANGUAGES
