"""Arrays that a WGSL module declares, and functions that read and write their elements.

Elements of 8 and 16 bits lie in words of 32. A writable array has atomic words of them: an
exclusive or changes the bits of one element, which no other thread writes, and leaves what other
threads write to the same word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .language import WGSL

_SHIFTS = {"u8": 2, "u16": 1}
"""The base-2 logarithm of the number of elements in a word."""


@dataclass
class Region:
    """An array, by its name and the short name of its elements: `f32`, `u8`, .."""

    name: str
    short: str
    named: Callable[[str], str]
    """A function from a description to a name that is unique in the module."""
    packed: bool = False
    """Whether small elements are packed in words; else each takes one."""
    written: bool = True
    functions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Helper functions on elements by their purpose: (name, text)."""

    @property
    def is_packed(self) -> bool:
        return self.packed and self.short in _SHIFTS

    @property
    def kind(self) -> str:
        """The type of an element once it is read."""
        return WGSL.scalars[self.short]

    @property
    def array(self) -> str:
        """The type of an element in memory."""
        return "atomic<u32>" if self.is_packed and self.written else self.kind

    def _function(self, what: str, parameters: str, result: str, body: str) -> str:
        if what not in self.functions:
            name = self.named(what)
            text = f"fn {name}(i: i32{parameters}){result} {{ {body} }}"
            self.functions[what] = name, text
        return self.functions[what][0]

    def element(self, at: Any) -> str:
        """The text that reads an element."""
        if not self.is_packed:
            return f"{self.name}[{at}]"
        word = f"{self.name}[i >> {_SHIFTS[self.short]}u]"
        word = f"atomicLoad(&{word})" if self.written else word
        body = f"return element_{self.short[1:]}({word}, i);"
        return f"{self._function('get', '', ' -> u32', body)}({at})"

    def assigned(self, at: Any, text: str) -> str:
        """The statement that gives an element a value."""
        if not self.is_packed:
            return f"{self.name}[{at}] = {text};"
        word = f"&{self.name}[i >> {_SHIFTS[self.short]}u]"
        body = f"atomicXor({word}, change_{self.short[1:]}(atomicLoad({word}), i, x));"
        return f"{self._function('set', ', x: u32', '', body)}({at}, {text});"

    def elements(self, at: Any, count: int) -> str:
        """The text that reads adjacent elements as a vector."""
        kind = f"vec{count}<{self.kind}>"
        lanes = ", ".join(self.element(_after(i)) for i in range(count))
        return (
            f"{self._function(f'get{count}', '', f' -> {kind}', f'return {kind}({lanes});')}({at})"
        )

    def all_assigned(self, at: Any, count: int, text: str, mask: str | None) -> str:
        """The statement that assigns adjacent elements, or those where a mask is true."""
        kind, each = f"vec{count}<{self.kind}>", range(count)
        lanes = [self.assigned(_after(i), f"x[{i}]") for i in each]
        if mask is None:
            name = self._function(f"set{count}", f", x: {kind}", "", " ".join(lanes))
            return f"{name}({at}, {text});"
        body = " ".join(f"if (m[{i}]) {{ {lanes[i]} }}" for i in each)
        name = self._function(f"mask{count}", f", m: vec{count}<bool>, x: {kind}", "", body)
        return f"{name}({at}, {mask}, {text});"


def _after(i: int) -> str:
    return f"i + {i}" if i else "i"
