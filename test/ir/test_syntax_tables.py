"""Parse tables: built once for a grammar, kept on disk, never trusted blindly."""

import subprocess
import sys

import pytest
from nnc.ir.syntax import tables

GRAMMAR = """
file: -> start | file WORD -> add
type_text: WORD
attribute: WORD
dict_body: WORD
location: WORD
%declare WORD
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "nnc"


def test_second_time_needs_no_lark(cache, monkeypatch):
    built = tables.tables_for(GRAMMAR)
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr(tables, "build", lambda grammar: pytest.fail("built again"))
    assert tables.tables_for(GRAMMAR) == built


def test_another_grammar_has_other_tables(cache):
    tables.tables_for(GRAMMAR)
    tables.tables_for(GRAMMAR.replace("add", "other"))
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 1000])
def test_a_damaged_file_is_built_again(cache, damage):
    tables.tables_for(GRAMMAR)
    (path,) = cache.iterdir()
    for content in (damage, path.read_bytes()[:-10]):
        path.write_bytes(content)
        assert len(tables.tables_for(GRAMMAR).rules) == 6
        assert path.read_bytes() != content


def test_a_folder_that_cannot_be_made_means_no_cache(tmp_path, monkeypatch):
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))
    assert tables.tables_for(GRAMMAR).starts.keys() == set(tables.STARTS)


def test_old_tables_go(cache, monkeypatch):
    monkeypatch.setattr(tables, "_KEPT", 2)
    for i in range(4):
        tables.tables_for(GRAMMAR.replace("add", f"add{i}"))
    assert len(list(cache.iterdir())) == 2


def test_parsing_with_stored_tables_imports_neither_lark_nor_numpy():
    program = (
        "import sys\n"
        "from nnc.ir.syntax.parser import parse_module\n"
        "text = 'func.func @f(%a: i32) { %0 = arith.addi %a, %a : i32 return }'\n"
        "print(parse_module(text))\n"
        "print([m for m in ('lark', 'numpy') if m in sys.modules])\n"
    )
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
    assert run.stdout.endswith("}\n[]\n")
