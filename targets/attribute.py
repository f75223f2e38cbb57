"""The module attribute that names a module's target, so that compilation can resume without flags.

    module attributes {nnc.target = "x86-64-v3"} {
    module attributes {nnc.target = {name = "x86-64-v4", processor = "znver5",
                                     machine = {cores = 2 : i64, l2_bytes = 1048576 : i64}}} {

The second form is what `host` becomes: the named target and all that differs from it. Another
machine resumes with the same numbers; LLVM then makes code for the named target, and for the very
processor if that is this machine's; only then with tile registers, which no named target has. See
docs/decisions/0009-targets.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

from ..ir.attributes import Attribute, BoolAttr, DictAttr, FloatAttr, IntegerAttr, StringAttr
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.types import f64, i64
from .base import Target, asked, find_host, host, target

TARGET = "nnc.target"
STAGE = "nnc.stage"
"""On a module: the last of its target's own stages that it has gone through."""


def target_of(op: Operation, name: str | None = None) -> Target:
    """The target of an operation's module: `name`, which is attached if the module has none; else
    the module's own; else this machine.

    Raises NncError for a name that is unknown or not the module's.
    """
    module = _module_of(op)
    if name:
        return attach(module, asked(name))
    written = module.attributes.get(TARGET)
    return host() if written is None else from_attribute(written, module)


def attach(module: Operation, chosen: Target) -> Target:
    """Write a target into the module's attribute. Raises NncError if it has another target."""
    written = module.attributes.get(TARGET)
    wanted = to_attribute(chosen)
    if written is not None:
        found = from_attribute(written, module)
        if to_attribute(found) != wanted:
            raise NncError(
                f"the module is for target {detailed(found)}, but {_text(wanted)} is asked for: "
                "leave the target out, or start from the model",
                module.loc,
            )
    module.attributes[TARGET] = wanted
    return chosen


def _module_of(op: Operation) -> Operation:
    """The innermost enclosing operation with a target attribute, or the outermost operation."""
    while TARGET not in op.attributes and op.parent_op is not None:
        op = op.parent_op
    return op


def detailed(one: Target) -> str:
    """`'x86-64-v4' (processor znver5, cores 2)`: a target's name, and all values in which it
    differs from the built-in target of that name.
    """
    return _text(to_attribute(one))


def machine_name(one: Target) -> str:
    """`'x86-64-v4' (processor znver5, cores 2)`: as `detailed`, but of all numbers of the machine
    only the cores, so that the name stays the same when the machine is measured again.
    """
    named = target(one.name).machine
    return detailed(replace(one, machine=replace(named, cores=one.machine.cores)))


def _text(attribute: Attribute) -> str:
    if not isinstance(attribute, DictAttr):
        return f"'{attribute.value}'"  # type: ignore[attr-defined]
    given = dict(attribute.items())
    name = given.pop("name")
    details = ", ".join(_details(given))
    return f"'{name.value}' ({details})"  # type: ignore[attr-defined]


def _details(given: dict[str, Attribute]) -> Iterator[str]:
    for key in sorted(given, key=lambda key: isinstance(given[key], DictAttr)):
        value = given[key]
        if isinstance(value, DictAttr):
            yield from _details(dict(value.items()))
        else:
            yield f"{key} {value.value}"  # type: ignore[attr-defined]


# -- writing -----------------------------------------------------------------------------------


def to_attribute(one: Target) -> Attribute:
    """The target as an attribute: its name alone, or a dictionary of its name and the values in
    which it differs from the built-in target of that name.
    """
    named = target(one.name)
    given: dict[str, Attribute] = {}
    if one.processor != named.processor:
        given["processor"] = StringAttr(one.processor)
    machine = _differences(named.machine, one.machine)
    if machine:
        given["machine"] = DictAttr(tuple(machine.items()))
    name = StringAttr(one.name)
    return DictAttr((("name", name), *given.items())) if given else name


def _differences(base: Any, one: Any) -> dict[str, Attribute]:
    """The fields of a dataclass whose values differ from `base`, nested ones as dictionaries."""
    found: dict[str, Attribute] = {}
    for field in fields(base):
        old, new = getattr(base, field.name), getattr(one, field.name)
        if old == new:
            continue
        if is_dataclass(old):
            found[field.name] = DictAttr(tuple(_differences(old, new).items()))
        else:
            found[field.name] = _number(float(new) if field.type == "float" else new)
    return found


def _number(value: bool | int | float) -> Attribute:
    if isinstance(value, bool):
        return BoolAttr(value)
    return IntegerAttr(value, i64) if isinstance(value, int) else FloatAttr(value, f64)


# -- reading -----------------------------------------------------------------------------------


def from_attribute(written: Attribute, module: Operation) -> Target:
    """The target that an attribute describes. Raises NncError at the module for an invalid one."""
    try:
        found = _read(written)
    except NncError as error:
        raise NncError(f"attribute '{TARGET}': {error.message}", module.loc) from None
    here = find_host() if found.processor else None
    if here is None or (here.name, here.processor) != (found.name, found.processor):
        return found
    return here if here.machine == found.machine else replace(here, machine=found.machine)


@lru_cache(64)
def _read(written: Attribute) -> Target:
    """The target that an attribute describes, before `from_attribute` adds what is known of this
    machine. Cached, as each pass reads the same attribute.
    """
    if isinstance(written, StringAttr):
        return target(written.value)
    given = dict(written.items()) if isinstance(written, DictAttr) else {}
    name = given.pop("name", None)
    if not isinstance(name, StringAttr):
        raise NncError("expected the name of a target, or a dictionary with 'name'")
    found = target(name.value)
    processor = given.pop("processor", StringAttr(found.processor))
    machine = given.pop("machine", DictAttr(()))
    if given or not isinstance(processor, StringAttr) or not isinstance(machine, DictAttr):
        raise NncError("expected 'name', 'processor' (a string) and 'machine' (a dictionary)")
    return replace(found, processor=processor.value, machine=_changed(found.machine, machine))


def _changed(base: Any, given: DictAttr, path: str = "machine") -> Any:
    """A dataclass with the given fields changed."""
    known = {field.name: getattr(base, field.name) for field in fields(base)}
    floats = {field.name for field in fields(base) if field.type == "float"}
    values: dict[str, Any] = {}
    for key, value in given.items():
        place = f"{path}.{key}"
        if key not in known:
            raise NncError(f"'{place}' is not a field of the target's description")
        old = known[key]
        if is_dataclass(old) and isinstance(value, DictAttr):
            values[key] = _changed(old, value, place)
            continue
        number = getattr(value, "value", None)
        kind = float if key in floats else type(old)  # which may be described by a whole number
        if kind is float and isinstance(number, int):
            number = float(number)
        if isinstance(old, bool) and isinstance(value, IntegerAttr):
            number = bool(value.value)
        if number is None or type(number) is not kind:
            raise NncError(f"'{place}' takes {kind.__name__}; found {value}")
        if number < 0 or (number == 0 and old):
            raise NncError(f"'{place}' is above 0; found {value}")
        values[key] = number
    return replace(base, **values)
