"""The registry of dialects: the only global mutable state of nnc.

Declaring an op, type or attribute class registers it. The modules that declare them are
loaded by `load_all`, which `dialects/__init__.py` provides with their names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from .diagnostics import DeclarationError

if TYPE_CHECKING:
    from .attributes import Attribute
    from .core import Operation
    from .declare import Op
    from .location import Location
    from .types import Type


@dataclass
class Dialect:
    """The ops, types and attributes whose names start with `name.`"""

    name: str
    doc: str = ""
    ops: dict[str, type[Op]] = field(default_factory=dict)
    types: dict[str, type[Type]] = field(default_factory=dict)
    attributes: dict[str, type[Attribute]] = field(default_factory=dict)
    materialize_constant: Callable[[Attribute, Type, Location], Operation | None] | None = None
    """Makes the dialect's constant op for a folded attribute, or None where it cannot."""


class Registry:
    """All dialects declared so far."""

    def __init__(self) -> None:
        self.dialects: dict[str, Dialect] = {}
        self.ops: dict[str, type[Op]] = {}
        self._modules: list[str] = []

    def dialect(self, name: str) -> Dialect:
        return self.dialects.setdefault(name, Dialect(name))

    def register_op(self, cls: type[Op]) -> None:
        known = self.ops.get(cls.name)
        if known is not None:
            raise DeclarationError(
                f"op '{cls.name}' is declared twice: by {known.__module__}.{known.__qualname__} "
                f"and {cls.__module__}.{cls.__qualname__}"
            )
        self.ops[cls.name] = cls
        self.dialect(cls.name.partition(".")[0]).ops[cls.name] = cls

    def register_attribute(self, cls: type[Attribute]) -> None:
        """A dialect's own type or attribute class, by its `name`."""
        from .types import Type

        dialect = self.dialect(cls.name.partition(".")[0])
        table = dialect.types if issubclass(cls, Type) else dialect.attributes
        if cls.name in table:
            raise DeclarationError(f"'{cls.name}' is declared twice")
        table[cls.name] = cls  # type: ignore[assignment]

    def set_modules(self, modules: list[str]) -> None:
        """Name the modules whose import declares the dialects."""
        self._modules = modules

    def load_all(self) -> None:
        """Import every dialect's module, once."""
        modules, self._modules = self._modules, []
        for module in modules:
            import_module(module)


registry = Registry()
