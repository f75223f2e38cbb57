"""Each construct of the language reference: nnc prints what mlir-opt prints, both ways."""

from functools import cache
from pathlib import Path

import pytest
from nnc.ir.diagnostics import NncError

from .upstream import FORMS, all_theirs, ours, parts_of, run, theirs

FILES = sorted((Path(__file__).parent / "language").glob("*.mlir"))
PARTS = [
    pytest.param(part, id=f"{path.stem}-{i}")
    for path in FILES
    for i, part in enumerate(parts_of(path.read_text(encoding="utf-8")))
]
TEXTS = tuple(part for row in PARTS for part in row.values if isinstance(part, str))


@cache
def printed_together(mlir_opt: str, texts: tuple[str, ...], form: str) -> dict[str, str] | None:
    """What mlir-opt prints of each text, in one run; None where it rejects one of them."""
    try:
        return dict(zip(texts, all_theirs(mlir_opt, texts, form), strict=True))
    except AssertionError:
        return None


def printed_twice(mlir_opt: str, part: str, form: str) -> tuple[str, str]:
    """What mlir-opt prints of a part, and what of that: alone where not all pass, to name it, and
    where the form has locations, which count the lines of all parts.
    """
    if "locations" not in form:
        first = printed_together(mlir_opt, TEXTS, form)
        second = first and printed_together(mlir_opt, tuple(first.values()), form)
        if first and second:
            return first[part], second[first[part]]
    wanted = theirs(mlir_opt, part, form)
    return wanted, theirs(mlir_opt, wanted, form)


@pytest.mark.sampled(23)
@pytest.mark.mlir_opt
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("part", PARTS)
def test_prints_as_mlir_opt(part: str, form: str, mlir_opt: str) -> None:
    wanted, again = printed_twice(mlir_opt, part, form)
    assert ours(part, form) == wanted
    # Upstream's own text, read again by both, and ours read by mlir-opt.
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
