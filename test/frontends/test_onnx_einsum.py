"""Einsum against onnxruntime and NumPy, also with open extents."""

import nnc
import numpy as np
import pytest
from nnc.frontends.onnx import import_model

from .models import ops_of, run, value
from .onnx_operators import one, random

# -- einsum ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)]),
        ("...ij,...jk->...ik", [(2, 5, 2, 3), (5, 3, 4)]),
        ("...ij,jk->...ik", [(2, 5, 2, 3), (3, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("i,i->", [(3,), (3,)]),
        ("i,i->i", [(3,), (3,)]),
        ("ij->ji", [(3, 4)]),
        ("ij->", [(3, 4)]),
        ("ij->j", [(3, 4)]),
        ("ii->i", [(3, 3)]),
        ("ii->", [(3, 3)]),
        ("iji->j", [(3, 4, 3)]),
        ("ba", [(3, 4)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("ij,kj,lj->ikl", [(2, 3), (4, 3), (5, 3)]),
        ("ijk,jil->kl", [(2, 3, 4), (3, 2, 5)]),
        ("abc,abd->cd", [(2, 3, 4), (2, 3, 5)]),
        ("ab,cd->acbd", [(2, 3), (4, 5)]),
        ("a,ab,b->", [(2,), (2, 3), (3,)]),
        ("b...,b...->...", [(2, 3, 4), (2, 3, 4)]),
    ],
)
def test_einsum(equation, shapes):
    arrays = [random(*shape) for shape in shapes]
    model = one("Einsum", arrays, equation=equation)
    expected = np.einsum(equation, *arrays)
    np.testing.assert_allclose(run(model, *arrays)[0], expected, rtol=1e-4, atol=1e-5)


def test_einsum_becomes_a_product():
    arrays = [random(2, 3, 4, 5), random(2, 3, 6, 5)]
    model = one("Einsum", arrays, equation="bhqd,bhkd->bhqk")
    assert ops_of(import_model(model)) == ["nn.transpose", "nn.matmul"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("bhwc,hkc->bhwk", [(2, 3, 4, 5), (3, 6, 5)]),
        ("bij,bjk->bik", [(1, 3, 4), (2, 4, 5)]),
        ("abcd,cdef->abef", [(2, 3, 4, 5), (4, 5, 3, 2)]),
        ("abc,cb->a", [(2, 3, 4), (4, 3)]),
    ],
)
def test_einsum_of_open_extents(equation, shapes):
    arrays = [random(*shape) for shape in shapes]
    model = one("Einsum", arrays, equation=equation)
    for i, operand in enumerate(model.graph.input):
        operand.CopyFrom(value(operand.name, [f"d{i}_{k}" for k in range(len(shapes[i]))]))
    assert "nn.matmul" in ops_of(import_model(model))  # and no product of all letters in memory
    expected = np.einsum(equation, *arrays)
    np.testing.assert_allclose(nnc.compile(model)(*arrays), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ii->i", [(4, 4)]),
        ("iij->j", [(3, 3, 2)]),
        ("ij,jj->i", [(2, 3), (3, 3)]),
        ("ii", [(5, 5)]),
    ],
)
def test_einsum_of_diagonals_of_open_extents(equation, shapes):
    arrays = [random(*shape) for shape in shapes]
    model = one("Einsum", arrays, equation=equation)
    for i, operand in enumerate(model.graph.input):
        operand.CopyFrom(value(operand.name, [f"d{i}_{k}" for k in range(len(shapes[i]))]))
    expected = np.einsum(equation, *arrays)
    np.testing.assert_allclose(nnc.compile(model)(*arrays), expected, rtol=1e-4, atol=1e-5)
