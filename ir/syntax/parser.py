"""Reads IR text: modules, operations, types, attributes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..collection import paused_collection
from ..core import Block, Operation, Region
from ..diagnostics import NncError, ParseError
from ..dialect import registry
from ..location import FileLineColLoc
from ..resources import SafetensorsFile
from .grammar import current_language
from .session import Session
from .text_resources import weights_path

if TYPE_CHECKING:
    from ..attributes import Attribute
    from ..types import Type


def _session(text: str, filename: str, allow_unregistered: bool) -> Session:
    _name_dialects()
    return Session(text, filename, current_language(), allow_unregistered)


def _too_deep(session: Session) -> ParseError:
    return session.error("the text is nested too deeply here", session.at)


def parse_ops(
    text: str,
    filename: str = "-",
    *,
    allow_unregistered: bool = False,
    resources: Path | None = None,
) -> list[Operation]:
    """The operations at the top level of the text. Raises ParseError.

    `resources` is the folder of the file, in which a module's weights file may lie.
    """
    session = _session(text, filename, allow_unregistered)
    return _read_ops(session, resources)


def _read_ops(session: Session, resources: Path | None) -> list[Operation]:
    from .build import Builder

    try:
        with paused_collection():
            items = session.run("file", 0, session.end)
            ops = Builder(session).build(items)
    except RecursionError:
        raise _too_deep(session) from None
    _find_weights(session, ops, resources)
    return ops


def _find_weights(session: Session, ops: list[Operation], folder: Path | None) -> None:
    from ..weights_file import weights_file_names

    for op in ops:
        try:
            names = weights_file_names(op.attributes.get(registry.weights_attribute))
            paths = [weights_path(n, folder if folder is not None else Path()) for n in names]
        except NncError as fault:
            raise ParseError(fault.message, op.loc) from None
        if folder is not None:
            session.resources.files += [SafetensorsFile(path) for path in paths]


def parse_module(
    text: str,
    filename: str = "-",
    *,
    allow_unregistered: bool = False,
    resources: Path | None = None,
) -> Any:
    """The module that the text is, or else a new module around its operations.

    Raises ParseError.
    """
    _name_dialects()
    module_class: Any = registry.ops["builtin.module"]
    session = _session(text, filename, allow_unregistered)
    ops = _read_ops(session, resources)
    if len(ops) == 1 and isinstance(ops[0], module_class):
        module: Any = ops[0]
    else:
        module = module_class.create(
            regions=[Region([Block((), ops)])], loc=FileLineColLoc(filename, 0, 0)
        )
    if session.resources.of_dialects or session.resources.external:
        module.file_resources = session.resources
    return module


def _name_dialects() -> None:
    """Register the names of all dialects; each is loaded when a text first mentions it."""
    import_module("...dialects", __package__)


def parse_op(text: str, filename: str = "-", *, allow_unregistered: bool = False) -> Operation:
    """The only operation of the text. Raises ParseError."""
    ops = parse_ops(text, filename, allow_unregistered=allow_unregistered)
    if len(ops) != 1:
        raise ParseError(f"{filename}: expected one operation, found {len(ops)}")
    return ops[0]


def _parse_part(start: str, text: str, allow_unregistered: bool) -> Any:
    session = _session(text, "-", allow_unregistered)
    try:
        return session.run(start, 0, session.end)
    except RecursionError:
        raise _too_deep(session) from None


def parse_type(text: str, *, allow_unregistered: bool = False) -> Type:
    """The type that the text is. Raises ParseError."""
    return _parse_part("type_text", text, allow_unregistered)


def parse_attribute(text: str, *, allow_unregistered: bool = False) -> Attribute:
    """The attribute or type that the text is. Raises ParseError."""
    return _parse_part("attribute", text, allow_unregistered)
