"""Services of higher modules that the core needs: texts, checks, formats, NumPy's types.

The core calls these variables instead of importing the modules. `ir/__init__.py` sets them to
functions that import a module when they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

print_op: Callable[[Any], str]
"""The text of an operation."""

attribute_text: Callable[[Any], str]
"""The text of an attribute or a type."""

verify: Callable[[Any], None]
"""Raises VerifyError where an operation breaks a rule."""

compile_format: Callable[[str, Any], Any]
"""The `syntax.format.AssemblyFormat` of a text and an op's definition."""

type_to_numpy: Callable[[Any], Any]
"""The dtype of an element type."""

numpy_to_type: Callable[[Any], Any]
"""The element type of a dtype."""
