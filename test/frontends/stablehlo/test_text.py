"""The dialects' text: what JAX wrote comes back byte by byte, and from the generic form too."""

import nnc
import pytest

from .cases import names, text

SAMPLE = 6


@pytest.mark.parametrize("part", range(SAMPLE))
def test_text_comes_back(part):
    for name in names()[part::SAMPLE]:
        assert str(nnc.parse(text(name))) == text(name).rstrip("\n"), name


@pytest.mark.parametrize("name", names()[::12])
def test_generic_form_means_the_same(name):
    from nnc.ir.syntax.printer import print_op

    generic = print_op(nnc.parse(text(name)), generic=True)
    assert '"stablehlo.' in generic or '"chlo.' in generic or '"func.func"' in generic
    assert str(nnc.parse(generic)) == text(name).rstrip("\n")
