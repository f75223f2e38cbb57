"""Custom operators, declared with `nnc.operator("library.name")`."""

from __future__ import annotations

from typing import Any

from ...ir.core import Value
from ..common.rows import Convert
from ..declared import digests


def find_own(kind: str) -> Convert | None:
    """The converter of a declared operator, or None.

    The tensors among its arguments are the operands in order, the others are attributes by name.
    """
    name = kind.rpartition(".")[0]
    if name not in digests:
        return None
    from ..onnx.registry import rows as declared

    domain, _, own = name.rpartition(".")
    convert: Any = declared.find(own, domain)

    def row(n: Any, **given: Any) -> Any:
        operands = [v for v in given.values() if isinstance(v, Value) or v is None]
        n.attributes = {key: v for key, v in given.items() if v is not None and v not in operands}
        return convert(n, *operands)

    return row
