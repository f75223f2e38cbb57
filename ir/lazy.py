"""NumPy, imported when first used: starting a command needs none of it.

from ...ir.lazy import np
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        """A stand-in for the module `numpy`; looks each name up there once."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _NumPy()
