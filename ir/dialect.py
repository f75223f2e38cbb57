"""The registry of dialects: the only global mutable state of nnc.

Declaring an op, type or attribute class registers it. The modules that declare them are
loaded by `load_all`, which `dialects/__init__.py` provides with their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    declared_ops: dict[str, type[Op]] = field(default_factory=dict)
    types: dict[str, type[Type]] = field(default_factory=dict)
    attributes: dict[str, type[Attribute]] = field(default_factory=dict)
    is_subset: bool = False
    """Whether upstream has more in it than we do: what we do not know is then read and written
    in generic form where unregistered dialects are allowed, else an error."""
    materialize_constant: Callable[[Attribute, Type, Location], Operation | None] | None = None
    """Makes the dialect's constant op for a folded attribute, or None where it cannot."""

    @property
    def ops(self) -> dict[str, type[Op]]:
        """All ops, those included that had not been met yet."""
        registry.declare_deferred(f"{self.name}.")
        return self.declared_ops


class Registry:
    """All dialects declared so far."""

    def __init__(self) -> None:
        self.dialects: dict[str, Dialect] = {}
        self.ops: dict[str, type[Op]] = {}
        self.deferred: dict[str, tuple[type[Op], Callable[[str], type[Op]]]] = {}
        """Ops that are declared when they are first met: one of the same format, and how."""
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
        self.dialect(cls.name.partition(".")[0]).declared_ops[cls.name] = cls

    def defer_ops(
        self, names: Iterable[str], like: type[Op], declare: Callable[[str], type[Op]]
    ) -> None:
        """Ops of a table, each declared when it is first met; all have the format of `like`."""
        for name in names:
            if name in self.ops or name in self.deferred:
                raise DeclarationError(f"op '{name}' is declared twice")
            self.deferred[name] = like, declare

    def find_op(self, name: str) -> type[Op] | None:
        """The op's class, declared now if it was deferred."""
        found = self.ops.get(name)
        if found is None and name in self.deferred:
            _, declare = self.deferred.pop(name)
            found = declare(name)
        return found

    def declare_deferred(self, prefix: str) -> None:
        """Declare what was deferred of the ops whose names start so."""
        for name in [name for name in self.deferred if name.startswith(prefix)]:
            self.find_op(name)

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
