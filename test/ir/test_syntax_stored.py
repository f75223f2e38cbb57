"""The stored language, dialects imported on demand, and formats compiled to functions."""

import os
import shutil
import subprocess
import sys

import pytest
from nnc.ir.cache_home import cache_home
from nnc.ir.dialect import registry
from nnc.ir.syntax.aliases import Aliases
from nnc.ir.syntax.grammar import Language
from nnc.ir.syntax.naming import Naming
from nnc.ir.syntax.printer import Printer

from ..dialects.examples import example_text, module_of, ops_of

PROGRAM = """
import sys
from nnc.ir.syntax.parser import parse_module
module = parse_module(sys.argv[1])
module.verify()
print(module)
print(*sorted(m for m in sys.modules if m.startswith("nnc.dialects.")), file=sys.stderr)
"""

TEXT = """\
module {
  func.func @f(%arg0: i32) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    return %0 : i32
  }
}"""

GENERIC = """\
"builtin.module"() ({
  "func.func"() <{function_type = (f32) -> f32, sym_name = "g"}> ({
  ^bb0(%arg0: f32):
    %0 = "math.exp"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    "func.return"(%0) : (f32) -> ()
  }) : () -> ()
}) : () -> ()"""


def start(text, cache):
    """What a process of its own prints, and the dialects it has imported."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, text], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.split()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder for a first start; the parse tables, which take longest, are those of this user."""
    folder = tmp_path_factory.mktemp("cache")
    (folder / "nnc").mkdir()
    for tables in cache_home().glob("grammar-*.bin"):
        shutil.copy(tables, folder / "nnc")
    text, modules = start(TEXT, folder)
    assert text == TEXT
    assert "nnc.dialects.llvm" in modules  # nothing was stored yet
    assert list((folder / "nnc").glob("language-*.bin"))
    return folder


def test_only_dialects_that_the_text_mentions_are_imported(cache):
    text, modules = start(TEXT, cache)
    assert text == TEXT
    assert "nnc.dialects.arith" in modules
    assert not {"nnc.dialects.llvm", "nnc.dialects.vector", "nnc.dialects.nn"} & {*modules}


def test_generic_form_imports_what_it_mentions(cache):
    text, modules = start(GENERIC, cache)
    assert "math.exp %arg0 : f32" in text
    assert "nnc.dialects.math" in modules
    assert "nnc.dialects.llvm" not in modules


def test_types_and_attributes_of_a_dialect_import_it(cache):
    text, modules = start(
        "func.func private @p(!llvm.ptr) attributes {a = #arith.fastmath<fast>}", cache
    )
    assert "!llvm.ptr" in text
    assert {"nnc.dialects.llvm", "nnc.dialects.arith"} <= {*modules}


@pytest.mark.thorough
def test_damaged_cache_is_made_again(cache, tmp_path):
    folder = tmp_path / "nnc"
    folder.mkdir()
    for path in (cache / "nnc").iterdir():
        (folder / path.name).write_bytes(path.read_bytes()[:-7])
    assert start(TEXT, tmp_path)[0] == TEXT


def test_stored_language_is_the_language_it_was_made_from():
    registry.load_all()
    made = Language()
    again = Language(made.stored())
    assert again.text == made.text
    assert again.keywords == made.keywords
    assert again.tables.actions == made.tables.actions
    for name, (terminal, definition) in made.ops.items():
        assert again.met_op(name) == (terminal, definition)
    for name, known in made.types.items():
        assert again.types.get(name) == known
    for name, known in made.attributes.items():
        assert again.attributes.get(name) == known


def test_every_format_writes_as_its_elements_do():
    seen = set()
    for cls in ops_of("arith", "math", "cf", "func", "scf", "memref", "tensor", "vector", "llvm"):
        for op in module_of(example_text(cls)).walk():
            definition = getattr(op, "definition", None)
            if definition is not None and definition.format is not None and not op.regions:
                seen.add(op.name)
                assert _written(op, by_elements=False) == _written(op, by_elements=True), op.name
    assert len(seen) > 200


def _written(op, by_elements):
    top = op
    while top.parent_op is not None:
        top = top.parent_op
    printer = Printer(Naming(top), Aliases(), generic=False, debuginfo=False)
    format = op.definition.format
    if by_elements:
        for element in format.elements:
            element.write(op, printer)
    else:
        format.write(op, printer)
    return "".join(map(str, printer.out))
