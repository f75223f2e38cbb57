"""Names of values and blocks in text: numbers, and the hints that ops give."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ..core import Block, Operation, Region, Value

UNKNOWN_VALUE = "<<UNKNOWN SSA VALUE>>"
_FORBIDDEN = re.compile(r"[^\w$.-]", re.ASCII)


class Names(dict):
    """Maps values to their names in text: `%0`, `%c4`, `%2#1`."""

    def __missing__(self, value: Value) -> str:
        return UNKNOWN_VALUE


class _Plain(dict):
    """Maps an op class to whether the results of its ops are always named by numbers."""

    def __init__(self, hints: bool, never: bool) -> None:
        self._hints = hints
        self._never = never

    def __missing__(self, cls: type) -> bool:
        hinted = hasattr(cls, "result_names") or hasattr(cls, "result_name")
        found = self[cls] = not (self._never or (self._hints and hinted))
        return found


class Naming:
    """Gives every value and block in an operation its name, the way upstream does.

    A region is numbered as a whole before the regions nested in it. Ops may give hints:
    `result_names(self)` lists a name or None for each result, a class attribute
    `result_name = "alloc"` names the first one, and `block_argument_names(self, region)`
    lists names for the arguments of a region's entry block. With `keep`, the names that
    values had in text are hints too. The generic form takes no hints.
    """

    unique_ids = False
    """Whether names are unique over all regions, not only where they are visible."""
    number_all = False
    """Whether operations without results are numbered too, by `number_operation`."""

    def __init__(self, op: Operation, hints: bool = True, keep: bool = False) -> None:
        self.values: Names = Names()
        self.blocks: dict[Block, str] = {}
        self.groups: dict[Operation, str] = {}
        self._hints = hints
        self._keep = keep
        self._is_plain = _Plain(hints, keep or type(self) is not Naming)
        self._numbers = [0, 0, 0]  # next value, argument, conflict
        # A name is taken in its region and all nested ones: scopes form a tree of sets.
        self._scopes: list[set[str]] = [set()]
        self._name_all(op)

    def _name_all(self, top: Operation) -> None:
        pending: list[tuple[Region, list[int], list[set[str]]]] = []
        self._op(top)
        for region in top.regions:
            pending.append((region, list(self._numbers), self._scopes))
        while pending:
            region, numbers, scopes = pending.pop()
            # Upstream's generic form does not start its numbers anew in sibling regions.
            if self._hints and not self.unique_ids:
                self._numbers = list(numbers)
            new_scope = self._uses_names(region) and not self.unique_ids
            self._scopes = [*scopes, set()] if new_scope else scopes
            nested = self._region(region)
            numbers = self._numbers
            for inner in nested:
                pending.append((inner, numbers, self._scopes))

    def _uses_names(self, region: Region) -> bool:
        return bool(region.blocks)

    def _region(self, region: Region) -> list[Region]:
        """Name the blocks and values directly in the region; gives the regions nested in it."""
        nested: list[Region] = []
        parent = region.parent
        if self._hints and parent is not None and region.blocks:
            hint = getattr(parent, "block_argument_names", None)
            if hint is not None:
                for arg, name in zip(region.blocks[0].args, hint(region), strict=False):
                    if name and not (self._keep and arg.name_hint):
                        self.values[arg] = f"%{self._unique(name)}"
        for i, block in enumerate(region.blocks):
            self.blocks[block] = f"^bb{i}"
            for arg in block.args:
                self._argument(arg, entry=i == 0)
            self._operations(block, nested)
        return nested

    def _operations(self, block: Block, nested: list[Region]) -> None:
        """Name the results of a block's operations, and collect the regions of these."""
        values, numbers, is_plain = self.values, self._numbers, self._is_plain
        op = block._first
        while op is not None:
            results = op.results
            if results:
                if len(results) == 1 and is_plain[op.__class__]:
                    values[results[0]] = f"%{numbers[0]}"
                    numbers[0] += 1
                else:
                    self._op(op)
            elif self.number_all:
                self.number_operation(op)
            if op.regions:
                nested += op.regions
            op = op._next

    def _argument(self, arg: Value, entry: bool) -> None:
        if self._keep and arg.name_hint:
            self.values[arg] = f"%{self._unique(arg.name_hint)}"
        elif arg in self.values:
            return
        elif entry:
            number = self._numbers[1]
            self._numbers[1] += 1
            self.values[arg] = f"%{self._unique(f'arg{number}')}"
        else:
            self._number(arg)

    def _number(self, value: Value) -> None:
        self.values[value] = f"%{self._numbers[0]}"
        self._numbers[0] += 1

    def _op(self, op: Operation) -> None:
        results = op.results
        if not results:
            return
        hints = self._hints_of(op)
        if len(results) == 1:
            if hints and hints[0]:
                self.values[results[0]] = f"%{self._unique(hints[0])}"
            else:
                self.values[results[0]] = f"%{self._numbers[0]}"
                self._numbers[0] += 1
            return
        self._several(op, hints)

    def number_operation(self, op: Operation) -> None:
        """Give an operation without results a number."""

    def _several(self, op: Operation, hints: list[Any]) -> None:
        """Name several results: a group `%x:2` begins at result 0 and at each with a hint."""
        results = op.results
        hints = hints + [None] * (len(results) - len(hints))
        starts = [i for i in range(len(results)) if i == 0 or hints[i]]
        heads = []
        for start, end in zip(starts, [*starts[1:], len(results)], strict=True):
            if hints[start]:
                name = f"%{self._unique(hints[start])}"
            else:
                name = f"%{self._numbers[0]}"
                self._numbers[0] += 1
            if end - start == 1:
                self.values[results[start]] = name
                heads.append(name)
            else:
                for i in range(start, end):
                    self.values[results[i]] = f"{name}#{i - start}"
                heads.append(f"{name}:{end - start}")
        self.groups[op] = ", ".join(heads)

    def _hints_of(self, op: Operation) -> list[str | None]:
        if self._keep and any(r.name_hint for r in op.results):
            return [r.name_hint for r in op.results]
        if not self._hints:
            return []
        names = getattr(op, "result_names", None)
        if names is not None:
            return list(names())
        name = getattr(op, "result_name", None)
        return [name] if name else []

    def _unique(self, hint: str) -> str:
        """The hint as a name, with `_<number>` added if it is taken where it would be visible."""
        name = _cleaned(hint)
        scopes = self._scopes
        probe = name
        while _is_taken(probe, scopes):
            probe = f"{name}_{self._numbers[2]}"
            self._numbers[2] += 1
        scopes[-1].add(probe)
        return probe


@lru_cache(4096)
def _cleaned(hint: str) -> str:
    """The hint as a valid name: `_` for forbidden characters, and before a leading digit."""
    name = _FORBIDDEN.sub("_", hint)
    return f"_{name}" if name[:1].isdigit() else name


def _is_taken(name: str, scopes: list[set[str]]) -> bool:
    return any(name in scope for scope in scopes)
