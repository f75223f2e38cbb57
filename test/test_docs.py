"""The generated documentation is what would be generated now, and all its examples are run."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nnc.ir.core import Operation
from nnc.ir.diagnostics import VerifyError
from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.printer import print_op
from nnc.tools import nn_opt
from nnc.tools.command import Streams

from .dialects.examples import module_of, ops_of

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "dialects").glob("[a-z]*.md"))


def test_generated_documentation_is_fresh() -> None:
    command = [sys.executable, str(DOCS / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def blocks(page: Path) -> list[str]:
    """The blocks of IR on a page."""
    return re.findall(r"^```mlir\n(.*?)\n```$", page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_a_dialect(page: Path) -> None:
    """They parse and verify, and what is printed of them, in both forms, means the same."""
    assert ops_of(page.stem), "the dialects are loaded"
    examples = blocks(page)
    assert len(examples) == page.read_text().count("\n## `"), "one example for each operation"
    for text in examples:
        module = module_of(text)
        verify(module)
        for generic in (False, True):
            printed = print_op(module, generic=generic)
            again = parse_module(printed, allow_unregistered=True)
            assert print_op(again, generic=generic) == printed, text


def verify(module: Operation) -> None:
    """All but that an operation may stand only in another one, which its example leaves out."""
    try:
        module.verify()
    except VerifyError as error:
        if "expects parent op" not in error.message:
            raise


def test_examples_of_passes() -> None:
    """Freshness has run them; what goes in and what comes out is valid IR."""
    page = DOCS / "passes.md"
    examples = blocks(page)
    assert len(examples) == 2 * page.read_text().count("\n## `")
    for text in examples:
        parse_module(text).verify()


def test_the_readme_shows_what_is_printed() -> None:
    """Its loops, of which `..` leaves parts out, and how many lines they stand in."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^nn-opt (--target=\S+ --fuse .*)$", text, re.M)
    out = io.StringIO()
    assert nn_opt.main(command.split(), Streams(io.StringIO(), out, io.StringIO(), ROOT)) == 0
    printed = [line.strip() for line in out.getvalue().splitlines() if line.strip()]
    shown = blocks(ROOT / "README.md")[0].splitlines()
    patterns = [".*".join(map(re.escape, line.strip().split(".."))) for line in shown]
    begin = next(i for i, line in enumerate(printed) if re.fullmatch(patterns[0], line))
    for pattern, line in zip(patterns, printed[begin:], strict=False):
        assert re.fullmatch(pattern, line), (pattern, line)
    assert f"its {len(printed)} lines" in " ".join(text.split())


def test_every_statistic_is_declared() -> None:
    """What a pass counts is on its page: its name stands in the declaration of the pass."""
    for path in [*ROOT.glob("passes/**/*.py"), *ROOT.glob("lowering/**/*.py")]:
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r'\bcontext\.statistic\(\s*"([^"]+)"', text):
            assert f'"{name}": "' in text, f"{path}: statistic '{name}' is not declared"
