"""The example of each op `llvm.intr.*` as a call that LLVM's verifier takes."""

import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.targets.llvm.ir import UNTRANSLATED, llvm_ir
from nnc.targets.llvm.native import parse_and_verify

from .examples import example_text, module_of, ops_of

# What this version of LLVM's parser has not, or wants in another place (a variadic function).
_OTHERWISE = ("coro.", "eh.typeid", "threadlocal.address", "sincos", "vastart")

INTRINSICS = [
    cls
    for cls in ops_of("llvm")
    if cls.name.startswith("llvm.intr.")
    and cls.name not in UNTRANSLATED
    and not any(word in cls.name for word in _OTHERWISE)
]


@pytest.mark.parametrize("cls", INTRINSICS, ids=lambda cls: cls.name)
def test_intrinsics(cls):
    text = example_text(cls)
    if text.startswith("func.func"):
        text = text.replace("func.func", "llvm.func").replace("return", "llvm.return")
    else:
        module = module_of(text)
        sources = [op for op in module.walk() if op.name == "test.source"]
        free = ", ".join(f"%{v.name_hint}: {v.type}" for op in sources for v in op.results)
        text = f"llvm.func @f({free}) {{\n  {text}\n  llvm.return\n}}"
    module = parse_module(text)
    module.verify()
    parse_and_verify(llvm_ir(module))
