"""Diagnostics that no test provokes: those that nothing can, and those that wait for a test.

`python test/diagnostics/unprovoked.py DIR --update` writes the second list anew.
"""

from pathlib import Path

UNREACHABLE: dict[str, str] = {
    "frontends/common/importer.py:Importer.lookup: '_' is not defined": "`needed_nodes` refuses a "
    "graph that uses what nothing defines, before a node of it is imported",
    "ir/passes.py:PassManager._verify: PassError(dataclasses.replace(found, notes=(*found.notes, "
    "note)))": "a pass that makes invalid IR is a defect; none is known",
    "lowering/nn_to_linalg/emitter.py:Emitter.buffer: the tensor of '_' has no buffer": "tensors are "
    "made by ops that are lowered before their uses, or refused there",
    "lowering/nn_to_linalg/functions.py:_Body._lower: '_' op cannot be lowered to linalg: it has no "
    "tensor comprehension and no lowering of its own; composite operations must be decomposed first "
    "(--decompose)": "every op of nn has one or the other; this is for one that is added",
    "numerics/interpreter.py:_as_results: '_' op has _ results, but its semantics gave _": "an "
    "op whose semantics give another number of values is a defect; none is known",
    "ir/syntax/session.py:Session.short_type: self._unbalanced(fault)": "stands in a longer type, "
    "whose brackets were matched before",
    "runtime/threads.py:Pool._start: cannot start _ threads": "needs a system out of threads",
    "targets/llvm/native.py:emit_object: no code could be made": "LLVM accepts what we give it",
    "targets/linker.py:find_toolchain: a library needs a linker: install a C compiler (cc), or `pip "
    "install ziglang`; or write a .o instead": "needs a system without any linker",
}
"""Each with the reason why no input of a user leads there."""

WAITING = Path(__file__).with_name("waiting.txt")
"""One key a line: no test yet. The list may only become shorter."""


def waiting() -> set[str]:
    """The keys of the diagnostics that wait for a test."""
    return set(WAITING.read_text(encoding="utf-8").splitlines())
