"""The registry of dialects: the only global mutable state of nnc.

Declaring an op, type or attribute class registers it here. No dialect is named in this module:
`dialects/__init__.py` lists the modules that declare them. Each is imported when its dialect is
first looked up, or all by `load_all`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from .collection import paused_collection
from .diagnostics import DeclarationError


@dataclass
class Dialect:
    """The ops, types and attributes whose names start with `name.`"""

    name: str
    doc: str = ""
    declared_ops: dict[str, type[Any]] = field(default_factory=dict)
    types: dict[str, type[Any]] = field(default_factory=dict)
    attributes: dict[str, type[Any]] = field(default_factory=dict)
    is_subset: bool = False
    """Whether upstream's dialect has more: unknown ops are then kept in generic form if
    unregistered dialects are allowed, else an error."""
    is_opaque: bool = False
    """Whether its types and attributes are kept as text."""
    materialize_constant: Callable[[Any, Any, Any], Any] | None = None
    """A function that makes the dialect's constant op for a folded attribute, or returns None."""

    @property
    def ops(self) -> dict[str, type[Any]]:
        """All ops by name; declares those that were deferred."""
        registry.declare_deferred(f"{self.name}.")
        return self.declared_ops


class _Loading(dict):
    """A table of dialects or ops by name; looking a name up loads its dialect."""

    def __init__(self, load: Callable[[str], None]) -> None:
        self._load = load

    def __missing__(self, name: str) -> Any:
        self._load(name)
        if not dict.__contains__(self, name):
            raise KeyError(name)
        return dict.__getitem__(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        if not dict.__contains__(self, name):
            self._load(name)
        return dict.get(self, name, default)

    def __contains__(self, name: object) -> bool:
        return self.get(name) is not None  # type: ignore[arg-type]


class Registry:
    """All dialects: those declared so far, and those whose modules are named.

    Iterating over `dialects` or `ops` gives those declared so far; after `load_all`, all of them.
    """

    def __init__(self) -> None:
        self.dialects: dict[str, Dialect] = _Loading(self.load)
        self.ops: dict[str, type[Any]] = _Loading(self.load)
        self.deferred: dict[str, Callable[[str], type[Any]]] = {}
        """Ops that are declared when first looked up: by name, the function that does so."""
        self.package = ""
        """The package whose modules are the dialects, by their names."""
        self.constants = ""
        """The dialect whose constant op serves dialects without one."""
        self.weights_attribute = ""
        """The module attribute with the names of the weight files."""
        self.foreign = 0
        """The number of ops, types and attributes that other packages have declared."""
        self._modules: dict[str, str] = {}

    def dialect(self, name: str) -> Dialect:
        if not dict.__contains__(self.dialects, name):
            self.dialects[name] = Dialect(name)
        return self.dialects[name]

    def register_op(self, cls: type[Any]) -> None:
        self._count(cls)
        known = dict.get(self.ops, cls.name)
        if known is not None:
            raise DeclarationError(
                f"op '{cls.name}' is declared twice: by {known.__module__}.{known.__qualname__} "
                f"and {cls.__module__}.{cls.__qualname__}"
            )
        self.ops[cls.name] = cls
        self.dialect(cls.name.partition(".")[0]).declared_ops[cls.name] = cls

    def forget_op(self, name: str) -> None:
        """Undo the declaration of an op, so that it can be declared again."""
        dict.pop(self.ops, name, None)
        self.dialect(name.partition(".")[0]).declared_ops.pop(name, None)

    def defer_ops(self, names: Iterable[str], declare: Callable[[str], type[Any]]) -> None:
        """Register names of ops that `declare` declares when they are first looked up."""
        for name in names:
            if dict.__contains__(self.ops, name) or name in self.deferred:
                raise DeclarationError(f"op '{name}' is declared twice")
            self.deferred[name] = declare

    def find_op(self, name: str) -> type[Any] | None:
        """The op's class, declared now if it was deferred."""
        found = self.ops.get(name)
        if found is None and name in self.deferred:
            found = self.deferred.pop(name)(name)
        return found

    def declare_deferred(self, prefix: str) -> None:
        """Declare all deferred ops whose names start with the prefix."""
        for name in [name for name in self.deferred if name.startswith(prefix)]:
            self.find_op(name)

    def register_attribute(self, cls: type[Any]) -> None:
        """Register a dialect's own type or attribute class under its `name`."""
        self._count(cls)
        dialect = self.dialect(cls.name.partition(".")[0])
        table = dialect.types if cls.is_type else dialect.attributes
        if cls.name in table:
            raise DeclarationError(f"'{cls.name}' is declared twice")
        table[cls.name] = cls

    def _count(self, cls: type) -> None:
        if not self.is_ours(cls.__module__):
            self.foreign += 1

    def is_ours(self, module: str) -> bool:
        """Whether the module belongs to the package of `set_modules`, or to this one."""
        ours = (f"{self.package or __package__}.", f"{__package__}.")
        return module.startswith(ours)

    def set_modules(self, package: str, names: Iterable[str]) -> None:
        """Name the dialects of a package, each declared by the module of the same name."""
        self.package = package
        self._modules = {name: f"{package}.{name}" for name in names}

    def load(self, name: str) -> None:
        """Import the module of a dialect, or of an op's dialect, once."""
        module = self._modules.pop(name.partition(".")[0], None)
        if module is not None:
            with paused_collection():
                import_module(module)

    def load_all(self) -> None:
        """Import every dialect's module, once."""
        while self._modules:
            self.load(next(iter(self._modules)))


registry = Registry()
