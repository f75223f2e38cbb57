"""The sdy dialect: marks of JAX for what devices share. Its attributes stay text."""

from ..ir.dialect import registry

_SDY = registry.dialect("sdy")
_SDY.doc = __doc__ or ""
_SDY.is_subset = _SDY.is_opaque = True
