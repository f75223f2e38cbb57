"""Files that `-m` cannot select are not imported, and all others are."""

import re
from itertools import combinations
from pathlib import Path

import pytest

from .selection import FORMATS, GROUPS, is_selectable

HERE = Path(__file__).parent
DEFAULT = (
    "not thorough and not slow and not emulated and not bindings and not formats and not service"
)


@pytest.mark.parametrize(
    ("text", "expression", "selectable"),
    [
        ("def test_a(): pass", DEFAULT, True),
        ("def test_a(): pass", "", True),
        ("def test_a(): pass", "emulated and not thorough", False),
        ("def test_a(): pass", "thorough and not slow", False),
        ("@pytest.mark.sampled(3)\ndef test_a(): pass", "thorough and not slow", True),
        ("def test_a(): pass", "hypothesis or mlir_opt", True),
        ("def test_a(): pass", "emulated and (", True),
        ("@pytest.mark.emulated\ndef test_a(): pass", DEFAULT, True),
        ("@pytest.mark.emulated\ndef test_a(): pass", "emulated and not thorough", True),
        ("@pytest.mark.emulated\ndef test_a(): pass", "slow and not emulated", False),
        ("\npytestmark = pytest.mark.emulated\n", DEFAULT, False),
        ("\npytestmark = pytest.mark.emulated\n", "emulated and not thorough", True),
        ("\npytestmark = pytest.mark.slow\n@pytest.mark.emulated", "slow and not emulated", True),
    ],
)
def test_files(tmp_path: Path, text: str, expression: str, selectable: bool) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert is_selectable(path, expression) is selectable


def test_files_of_formats() -> None:
    path = FORMATS / "ncnn" / "test_ncnn.py"
    assert not is_selectable(path, DEFAULT)
    assert is_selectable(path, "formats and not slow")
    assert not is_selectable(FORMATS / "test_families.py", "formats and not slow")


def test_marks_stand_in_the_files_that_have_them() -> None:
    """A mark that a helper gives would not be seen."""
    marks = re.compile(rf"mark\.({'|'.join(GROUPS)})\b")
    helpers = [path for path in HERE.rglob("*.py") if not path.name.startswith("test_")]
    found = [path.name for path in helpers if marks.search(path.read_text(encoding="utf-8"))]
    assert sorted(found) == ["conftest.py", "small_networks.py"]


def test_some_step_runs_every_pair_of_marks() -> None:
    """A test with up to two of the marks is selected by the `-m` of at least one step of `.ci/run`.

    So is a thorough or slow one that is exhaustive.
    """
    steps = (HERE.parent / ".ci" / "run").read_text(encoding="utf-8")
    expressions = [DEFAULT, *re.findall(r"pytest -n auto -m '?([^'\n]+)", steps)]
    marked = [set(m) for n in range(3) for m in combinations(GROUPS, n)]
    exhaustive = [m for m in marked if m & {"thorough", "slow"}]
    choices = [*marked, *(m | {"exhaustive"} for m in exhaustive)]
    names = (*GROUPS, "exhaustive")
    missing = [
        marks
        for marks in choices
        if not any(
            eval(one, {"__builtins__": {}}, {name: name in marks for name in names})
            for one in expressions
        )
    ]
    assert missing == []
