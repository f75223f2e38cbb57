"""The directives that the formats of llvm name."""

from . import calls, symbols, values  # noqa: F401 - declare directives
