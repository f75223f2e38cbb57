"""Each construct of the language reference: nnc prints what mlir-opt prints, both ways."""

from pathlib import Path

import pytest
from nnc.ir.diagnostics import NncError

from .upstream import FORMS, ours, parts_of, run, theirs

FILES = sorted((Path(__file__).parent / "language").glob("*.mlir"))
PARTS = [
    pytest.param(part, id=f"{path.stem}-{i}")
    for path in FILES
    for i, part in enumerate(parts_of(path.read_text(encoding="utf-8")))
]


@pytest.mark.sampled(23)
@pytest.mark.mlir_opt
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("part", PARTS)
def test_prints_as_mlir_opt(part: str, form: str, mlir_opt: str) -> None:
    wanted = theirs(mlir_opt, part, form)
    assert ours(part, form) == wanted
    # Upstream's own text, read again by both, and ours read by mlir-opt.
    again = theirs(mlir_opt, wanted, form)
    assert ours(wanted, form) == again


@pytest.mark.parametrize("part", PARTS)
def test_generic_text_reads_back_unchanged(part: str) -> None:
    text = ours(part, "generic")
    second = ours(text, "generic")
    assert ours(second, "generic") == second


REJECTED = [
    pytest.param(part, id=f"{path.stem}-{i}")
    for path in sorted((Path(__file__).parent / "rejected").glob("*.mlir"))
    for i, part in enumerate(parts_of(path.read_text(encoding="utf-8")))
]


@pytest.mark.sampled(11)
@pytest.mark.mlir_opt
@pytest.mark.parametrize("part", REJECTED)
def test_both_reject(part: str, mlir_opt: str) -> None:
    assert run(mlir_opt, part)[0] != 0
    with pytest.raises(NncError):
        ours(part, "custom")
