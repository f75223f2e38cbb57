"""NumPy, imported when something of it is first used: a start needs none of it.

from ...ir.lazy import np
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        """Has what NumPy has; each name is looked up there once."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _NumPy()
