"""From a `.cfg` to a graph: each section is a layer that works on the one before it."""

from __future__ import annotations

import re

from ...ir.types import TensorType, f32
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from ..wire.numerals import whole_number
from .weights import Weights

INPUT = "data"
_HEADS = ("yolo", "region", "detection", "Gaussian_yolo")
_TWO = ("shortcut", "scale_channels", "sam", "shift_channels", "control_channels")
_BESIDE = {"route": "layers", **dict.fromkeys(_TWO, "from")}


def read(source: Source) -> Graph:
    """The graph of a model. Raises NncError."""
    sections = _sections(source)
    kind, net = sections[0]
    if kind not in ("net", "network"):
        raise source.error(f"the first section is [{kind}], expected [net]")
    shape = [_number(source, net, name, d) for name, d in _EXTENTS]
    if "inputs" in net and "height" not in net:
        shape = [_number(source, net, "inputs", 1)]
    nodes: list[Node] = []
    names = [f"{kind}_{i}" for i, (kind, _) in enumerate(sections[1:])]
    used: set[str] = set()
    weights = Weights(source, len(sections) - 2)
    for i, (kind, options) in enumerate(sections[1:]):
        inputs = [names[i - 1] if i else INPUT]
        if kind.startswith("implicit"):
            inputs = []
        if kind in _BESIDE:
            others = _others(source, names[i], options.get(_BESIDE[kind], ""), i)
            inputs = [names[o] for o in others] + ([] if kind == "route" else inputs)
        if kind in _HEADS:
            inputs.append(INPUT)
        used.update(inputs)
        given = options | {"weights": weights, "index": i}
        before = names[max(i - 1, 0) : i]  # whose weights stand before in the file
        nodes.append(Node(kind, names[i], inputs, [names[i]], given, after=before))
    ends = [n for n in nodes if n.kind in _HEADS or n.name not in used]
    outputs = [(n.name, n.name) for n in ends]
    given = Input(INPUT, TensorType((1, *shape), f32))
    return Graph([given], nodes, outputs)


_EXTENTS = (("channels", 3), ("height", 416), ("width", 416))


def _number(source: Source, options: dict[str, str], name: str, default: int) -> int:
    text = options.get(name, str(default))
    number = whole_number(text)
    if number is None or not 0 < number < 1 << 24:
        raise source.error(f"[net] has {name}={text[:99]}, expected a positive number")
    return number


def _others(source: Source, name: str, text: str, at: int) -> list[int]:
    """The layers in an option, given by index or relative to this one."""
    found = []
    for word in text.split(","):
        if not re.fullmatch(r"\s*[-+]?\d{1,6}\s*", word):
            raise source.error(f"layer '{name}': {text!r} names no layers")
        number = int(word)
        number = number + at if number < 0 else number
        if not 0 <= number < at:
            raise source.error(f"layer '{name}': there is no layer {word.strip()} before it")
        found.append(number)
    return found


def _sections(source: Source) -> list[tuple[str, dict[str, str]]]:
    found: list[tuple[str, dict[str, str]]] = []
    for number, line in enumerate(source.text.splitlines(), 1):
        line = line.split("#")[0].split(";")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            found.append((line.strip("[] \t"), {}))
            continue
        name, equals, value = line.partition("=")
        if not equals or not found:
            raise source.error(f"line {number} is {line!r}, expected name=value in a [section]")
        found[-1][1][name.strip()] = value.strip()
    if not found:
        raise source.error("no section of Darknet's")
    return found
