"""Folds and canonicalizations that must not happen, found by checking numbers over a corpus."""

from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline


def canonicalized(text: str) -> str:
    module = parse_module(text)
    module.verify()
    PassManager(pipeline("builtin.module(canonicalize)")).run(module)
    return str(module)


def test_a_stored_memref_keeps_its_cast() -> None:
    text = """
      func.func @f(%a: memref<32xi8>, %holder: memref<memref<?xi8>>) {
        %0 = memref.cast %a : memref<32xi8> to memref<?xi8>
        memref.store %0, %holder[] : memref<memref<?xi8>>
        return
      }"""
    assert "memref.cast" in canonicalized(text)


def test_an_element_of_complex_constants_stays() -> None:
    text = """
      func.func @f() -> complex<f32> {
        %c0 = arith.constant 0 : index
        %t = arith.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
        %e = tensor.extract %t[%c0] : tensor<2xcomplex<f32>>
        return %e : complex<f32>
      }"""
    assert "tensor.extract" in canonicalized(text)
