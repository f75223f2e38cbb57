"""Debug locations in LLVM IR: the line of a text that each instruction came from.

LLVM keeps them through its passes, and assembler text names them by `.loc`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ...dialects import llvm
from ...ir.core import Operation

Place = Callable[[Operation], str]
"""A function from an operation to the text after its instruction."""


class Places:
    """Makes the debug metadata of functions and instructions; `node` names a metadata node."""

    def __init__(self, line_of: Mapping[Operation, int], node: Callable[[str], str]) -> None:
        self._line_of, self._node = line_of, node
        self._file = node('!DIFile(filename: "module", directory: "")')
        self._unit = node(
            f"distinct !DICompileUnit(language: DW_LANG_C, file: {self._file}, "
            "emissionKind: LineTablesOnly)"
        )
        self._type = node("!DISubroutineType(types: !{})")

    def of(self, func: llvm.Func) -> tuple[str, Place]:
        """The text after a function's header that gives its place, and a function that gives such
        text for each instruction in it.
        """
        first = self._line_of.get(func, 0)
        scope = self._node(
            f"distinct !DISubprogram(scope: {self._file}, file: {self._file}, line: {first}, "
            f"type: {self._type}, spFlags: DISPFlagDefinition, unit: {self._unit}, "
            f"retainedNodes: !{{}}, declaration: null, linkageName: {_quoted(func.sym_name)})"
        )

        def place(op: Operation) -> str:
            line = self._line_of.get(op, first)
            return f", !dbg {self._node(f'!DILocation(line: {line}, scope: {scope})')}"

        return f" !dbg {scope}", place

    def named(self) -> list[str]:
        """The lines of the module's named metadata."""
        version = self._node('!{i32 2, !"Debug Info Version", i32 3}')
        return [f"!llvm.dbg.cu = !{{{self._unit}}}", f"!llvm.module.flags = !{{{version}}}"]


class _NoPlaces(Places):
    """Adds no debug locations."""

    def __init__(self) -> None:
        pass

    def of(self, func: llvm.Func) -> tuple[str, Place]:
        return "", lambda op: ""

    def named(self) -> list[str]:
        return []


NO_PLACES = _NoPlaces()


def _quoted(text: str) -> str:
    escaped = re.sub(r"[^ !#-\[\]-~]", lambda m: "".join(f"\\{b:02X}" for b in m[0].encode()), text)
    return f'"{escaped}"'


# -- assembler text ------------------------------------------------------------------------------

_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_CV_LOC = re.compile(r"\s*\.cv_loc\s+\d+\s+\d+\s+(\d+)")
_SECTION = re.compile(r"\s*\.(?:section\s+\"?([^\s,\"]+)|(text|data|bss)\b)")
_OF_DEBUGGERS = re.compile(
    r"\s*\.(?:file\s+\d|cv_|ident\b|addrsig)|\.?L?(?:tmp|func_begin|func_end)\d+:|\s*\.cfi_|\s*\.seh_"
)
_INSTRUCTION = re.compile(r"\s+[^\s.#/@]")


def taken_apart(assembly: Iterable[str]) -> tuple[list[str], list[int | None]]:
    """Lines of assembler text without debug information, and the source line of each, or None."""
    lines: list[str] = []
    found: list[int | None] = []
    place, for_debuggers = None, False
    for line in assembly:
        if section := _SECTION.match(line):
            name = section[1] or section[2]
            for_debuggers = "debug" in name or "apple_names" in name
        if for_debuggers:
            continue
        if at := _LOC.match(line) or _CV_LOC.match(line):
            place = int(at[1]) or None
            continue
        if _OF_DEBUGGERS.match(line):
            continue
        if (
            not line[:1].isspace()
            and line.rstrip().endswith(":")
            and not line.startswith((".", "L"))
        ):
            place = None
        lines.append(line)
        found.append(place if _INSTRUCTION.match(line) else None)
    return lines, found
