"""The golden tests: every .mlir file below this folder, by its RUN lines."""

from pathlib import Path

import pytest

from .runner import run_in_process, run_in_shell, run_lines, substitute

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.mlir"))


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(HERE)) for p in FILES])
def test_golden(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Every RUN line succeeds."""
    lines = run_lines(path)
    assert lines, "a golden test needs at least one RUN line"
    run = run_in_shell if request.config.getoption("--lit-shell") else run_in_process
    for line in lines:
        outcome = run(substitute(line, path, tmp_path), tmp_path)
        assert outcome.code == 0, f"RUN: {line}\n{outcome.stdout}\n{outcome.stderr}"


def test_every_golden_test_says_what_it_proves() -> None:
    """The first comment that is not a RUN line is prose."""
    for path in FILES:
        comments = [
            text
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.startswith("//") and (text := line.lstrip("/ ")) and not text.startswith("RUN:")
        ]
        prose = comments and not comments[0].startswith(("CHECK", "-----", "expected-"))
        assert prose, f"{path}: say in the first comment what the test proves"
