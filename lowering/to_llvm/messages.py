"""The C function that says what a status of `nnc_run` means.

    const char *nnc_failure(int32_t status);

It returns the text of a check, or NULL for a status that is not one of the program's checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ...dialects import llvm
from ...ir.attributes import DenseElements, IntegerAttr, StringAttr
from ...ir.builder import Builder
from ...ir.core import Block, Operation
from ...ir.types import TensorType, i8, i32
from ...runtime.abi import FAILURE, FIRST_FAILURE

_TEXTS = "nnc.failure_texts"
_STARTS = "nnc.failure_starts"


def make_failure(messages: Sequence[str]) -> list[Operation]:
    """`nnc_failure` and its tables; `messages` belong to the statuses from FIRST_FAILURE on."""
    texts = [message.replace("\0", "") + "\0" for message in messages]
    lengths = [len(text.encode("utf-8", "surrogateescape")) for text in texts]
    starts = DenseElements.from_list([0, *accumulate(lengths[:-1])], TensorType((len(texts),), i32))
    joined = StringAttr("".join(texts))
    made = llvm.Func.define(FAILURE, llvm.function_type([i32], llvm.ptr))
    first, known, unknown = made.body.blocks[0], Block(), Block()
    made.body.append(known)
    made.body.append(unknown)

    b = Builder.at_end(first)
    number = b.insert(llvm.Sub(first.args[0], _constant(b, FIRST_FAILURE))).res
    inside = b.insert(llvm.ICmp("ult", number, _constant(b, len(texts)))).res
    b.insert(llvm.CondBr.of(inside, known, [], unknown, []))

    b = Builder.at_end(known)
    table = b.insert(llvm.AddressOf(_STARTS, res=llvm.ptr)).res
    entry = b.insert(llvm.GetElementPtr.of(table, [number], i32)).results[0]
    start = b.insert(llvm.Load(entry, res=i32)).res
    texts_at = b.insert(llvm.AddressOf(_TEXTS, res=llvm.ptr)).res
    b.insert(llvm.Return(b.insert(llvm.GetElementPtr.of(texts_at, [start], i8)).results[0]))

    b = Builder.at_end(unknown)
    b.insert(llvm.Return(b.insert(llvm.Zero(res=llvm.ptr)).res))
    return [
        _table(_TEXTS, llvm.ArrayType(sum(lengths), i8), joined),
        _table(_STARTS, llvm.ArrayType(len(texts), i32), starts),
        made,
    ]


def _constant(b: Builder, value: int):
    return b.insert(llvm.Constant(IntegerAttr(value, i32), res=i32)).res


def _table(name: str, type: llvm.ArrayType, value: StringAttr | DenseElements) -> llvm.Global:
    return llvm.Global(name, type, value, linkage="internal", constant=True, unnamed_addr="none")
