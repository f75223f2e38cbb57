"""Guards: what a program of torch.export requires of the extents and numbers of its inputs.

    L['x'].size()[0] % 4 == 0        L['image']['n'] > 2

Tracing took a branch because of such a condition. PyTorch checks them when the program is called.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...ir.polynomial import Size
from ..common.inputs import Input
from .arguments import Ref
from .sizes import line_of, symbol_of

_LEAST_CHECKED = 3
"""The least minimum of an extent that PyTorch checks; it traces any program for extents from 2."""


@dataclass
class Guards:
    """Conditions as Python texts, and the inputs that they name, by the normal form of the name."""

    texts: list[str] = field(default_factory=list)
    sources: dict[str, Ref] = field(default_factory=dict)


def normal_form(expression: ast.expr) -> str:
    """One text for all ways to write an expression."""
    return ast.unparse(expression)


def guards_of(
    texts: Sequence[str],
    places: Sequence[str],
    names: Sequence[str],
    inputs: Sequence[Input],
    sizes: Mapping[str, Sequence[tuple[str, Size]]],
    ranges: Mapping[Size, tuple[int | None, int | None]],
) -> Guards:
    """The guards of a program: those of the trace, and what it was told of its inputs' extents.

    `places` are how guards name the inputs, `names` what the graph calls them; inputs that are
    constants are missing in `inputs`. Where the places are of another number, names take theirs.
    `sizes` are the inputs' extents that are polynomials of symbols, and how guards read them.
    Source: torch/export/_unlift.py, _get_input_guards_for_graph.
    """
    found, seen = Guards(), dict[Size, str]()
    if len(places) != len(names):
        places = [f"L[{name!r}]" for name in names]
    own = {one.name: one for one in inputs}
    for i, (place, name) in enumerate(zip(places, names, strict=True)):
        if name not in own:
            continue
        for key in (place, f"L['flat_args'][{i}]", _of_rest(place)):
            found.sources[normal_form(ast.parse(key, mode="eval").body)] = Ref(name)
        for reader, size in sizes[name]:
            extent = place + reader
            if size in seen:
                if not (reader and symbol_of(size)):  # else names of dimensions say so
                    found.texts.append(f"{extent} == {seen[size]}")
                continue
            seen[size] = extent
            least, most = ranges.get(size, (None, None))
            if least is not None and least >= _LEAST_CHECKED:
                found.texts.append(f"{extent} >= {least}")
            if most is not None:
                found.texts.append(f"{extent} <= {most}")
    found.texts += _of_hidden_symbols(seen)
    found.texts += texts
    return found


def _of_hidden_symbols(extents: Mapping[Size, str]) -> Iterator[str]:
    """Equations of extents by a symbol that is no extent itself: 2*d and 3*d, as 3*x == 2*y.

    The symbol need not be an integer then; so it is in PyTorch.
    """
    shown = set(filter(None, map(symbol_of, extents)))
    first: dict[str, tuple[str, int, int]] = {}
    for size, extent in extents.items():
        line = line_of(size)
        if line is None or line[0] in shown:
            continue
        symbol, factor, offset = line
        if symbol not in first:
            first[symbol] = extent, factor, offset
            continue
        other, times, plus = first[symbol]
        constant = factor * plus - times * offset
        more = f" + {constant}" if constant else ""
        yield f"{factor} * {other} == {times} * {extent}{more}"


def _of_rest(place: str) -> str:
    """Another name of an input that is one of `*args`: of `L['args_0']` it is `L['args'][0]`."""
    return re.sub(r"^L\['(.+)_(\d+)'\]", r"L['\1'][\2]", place)


def places_of(spec: str, names: Sequence[str]) -> list[str]:
    """How guards name the leaves of a program's inputs: `L['x'][0]['u']`, ...

    `spec` is the text of a pytree of (positional, named) inputs, `names` those of the positional
    inputs and then of the named ones. Source: torch/utils/_pytree.py, keystr.
    """
    positional, named = json.loads(spec)[1]["children_spec"]
    keys = [*names[: len(positional["children_spec"])], *_keys(named)]
    children = [*positional["children_spec"], *named["children_spec"]]
    return [
        place
        for key, child in zip(keys, children, strict=True)
        for place in _leaves(f"L[{key!r}]", child)
    ]


def _leaves(place: str, spec: Any) -> Iterator[str]:
    if spec["type"] is None:
        yield place
        return
    for key, child in zip(_keys(spec), spec["children_spec"], strict=True):
        yield from _leaves(f"{place}[{key!r}]", child)


def _keys(spec: Any) -> Sequence[Any]:
    """The keys of a container: those of a dictionary or of a class like one, else numbers."""
    count, context = len(spec["children_spec"]), spec["context"]
    found = json.loads(context) if isinstance(context, str) else context
    if isinstance(found, dict):
        found = found.get("dict_context")
    for keys in (found, *(found or [])[:1]) if isinstance(found, list) else ():
        is_flat = isinstance(keys, list) and all(isinstance(key, str | int) for key in keys)
        if is_flat and len(keys) == count:
            return list(keys)
    return range(count)
