"""Changes to a text: tokens, numbers, types, brackets, splices, bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from . import vocabulary

TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%@^#!]?[\w$.]+(?:-\w+)*|->|::|<\{|\}>|\{-#|#-\}|//[^\n]*|\s+|.', re.S
)
NUMBER = re.compile(r"(?<![\w%#^@])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b\d+(?=x)")
TYPE = re.compile(r"\b(?:tensor|memref|vector)<[^<>\n]*>|\b(?:[su]?i\d+|b?f\d+|index)\b|!llvm\.ptr")
ATTRIBUTE = re.compile(
    r"(?<== )(?:affine_map<[^<>]*>|dense<[^<>]*> : \w+<[^<>]*>|array<[^<>]*>|-?\d+ : \w+"
    r"|\"[^\"\n]*\"|\[[^\[\]\n]*\]|unit|true|false)"
)
PAIRS = ("()", "[]", "{}", "<>")

Mutation = Callable[[random.Random, str, str], str]


def _replace(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def _one_of(choice: random.Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return choice.choice(found) if found else None


def tokens(choice: random.Random, text: str, other: str) -> str:
    """Delete, repeat, swap or replace a few tokens."""
    parts = TOKEN.findall(text)
    solid = [i for i, p in enumerate(parts) if not p.isspace() and not p.startswith("//")]
    if not solid:
        return text
    for _ in range(choice.choice((1, 1, 1, 2, 4))):
        at, to = choice.choice(solid), choice.choice(solid)
        match choice.randrange(5):
            case 0:
                parts[at] = ""
            case 1:
                parts[at] += " " + parts[at]
            case 2:
                parts[at], parts[to] = parts[to], parts[at]
            case 3:
                parts[at] = choice.choice(vocabulary.WORDS)
            case _:
                parts[at] = parts[to]
    return "".join(parts)


def extreme_number(choice: random.Random, text: str, other: str) -> str:
    """Replace one number by an extreme or small one."""
    match = _one_of(choice, NUMBER, text)
    if match is None:
        return text
    return _replace(text, match, vocabulary.number(choice))


def one_type(choice: random.Random, text: str, other: str) -> str:
    """Replace one type at one position."""
    match = _one_of(choice, TYPE, text)
    return text if match is None else _replace(text, match, vocabulary.type_text(choice))


def every_type(choice: random.Random, text: str, other: str) -> str:
    """Replace a type at all its positions, so that values still match."""
    match = _one_of(choice, TYPE, text)
    if match is None:
        return text
    new = _one_of(choice, TYPE, text) if choice.random() < 0.3 else None
    return text.replace(match[0], new[0] if new else vocabulary.type_text(choice))


def one_attribute(choice: random.Random, text: str, other: str) -> str:
    """Replace the value of an attribute."""
    match = _one_of(choice, ATTRIBUTE, text)
    if match is None:
        return text
    new = _one_of(choice, ATTRIBUTE, other)
    if new is not None and choice.random() < 0.5:
        return _replace(text, match, new[0])
    return _replace(text, match, vocabulary.attribute_text(choice))


def one_dimension(choice: random.Random, text: str, other: str) -> str:
    """Change a dimension in all equal types."""
    match = _one_of(choice, re.compile(r"(?<=[<x])(?:\d+|\?)(?=x)"), text)
    if match is None:
        return text
    start = text.rfind("<", 0, match.start())
    end = text.find(">", match.end()) + 1
    old = text[start:end]
    at = match.start() - start
    return text.replace(old, old[:at] + vocabulary.dimension(choice) + old[at + len(match[0]) :])


def nest(choice: random.Random, text: str, other: str) -> str:
    """Put a part into many brackets, or open brackets without closing them."""
    depth = choice.choice((2, 50, 70, 500, 3000))
    pair = choice.choice(PAIRS)
    at = choice.randrange(len(text) + 1)
    if choice.random() < 0.3:
        return text[:at] + pair[0] * depth + text[at:]
    match = _one_of(choice, TYPE if choice.random() < 0.5 else ATTRIBUTE, text)
    if match is None:
        return text[:at] + pair[0] * depth + pair[1] * depth + text[at:]
    before, after = choice.choice(
        (("tuple<", ">"), ("[", "]"), ("() -> (", ")"), ("{a = ", "}"), ("complex<", ">"))
    )
    return _replace(text, match, before * depth + match[0] + after * depth)


def splice(choice: random.Random, text: str, other: str) -> str:
    """Join the first lines of one text and the last lines of another."""
    first, second = text.split("\n"), other.split("\n")
    kept = first[: choice.randrange(len(first) + 1)]
    return "\n".join(kept + second[choice.randrange(len(second)) :])


def insert_lines(choice: random.Random, text: str, other: str) -> str:
    """Insert a few lines of this text or of another one."""
    lines, source = text.split("\n"), choice.choice((text, other)).split("\n")
    start = choice.randrange(len(source))
    at = choice.randrange(len(lines) + 1)
    return "\n".join(lines[:at] + source[start : start + choice.randint(1, 4)] + lines[at:])


def drop_lines(choice: random.Random, text: str, other: str) -> str:
    """Remove a few lines."""
    lines = text.split("\n")
    at = choice.randrange(len(lines))
    return "\n".join(lines[:at] + lines[at + choice.randint(1, 3) :])


def move_line(choice: random.Random, text: str, other: str) -> str:
    """Move a line: uses before definitions, terminators in the middle."""
    lines = text.split("\n")
    moved = lines.pop(choice.randrange(len(lines)))
    lines.insert(choice.randrange(len(lines) + 1), moved)
    return "\n".join(lines)


MUTATIONS: tuple[Mutation, ...] = (
    *(tokens, tokens, tokens, extreme_number, extreme_number, one_type, every_type, every_type),
    *(one_attribute, one_attribute, one_dimension, one_dimension, nest, splice, insert_lines),
    *(drop_lines, move_line),
)


def flip_bytes(choice: random.Random, data: bytes, times: int) -> bytes:
    """Change, insert or remove bytes, which often breaks UTF-8."""
    raw = bytearray(data)
    for _ in range(times):
        at = choice.randrange(len(raw) + 1)
        match choice.randrange(4):
            case 0:
                raw[at:at] = bytes([choice.randrange(256)])
            case 1:
                del raw[at : at + choice.choice((1, 1, 2, 20))]
            case 2 if at < len(raw):
                raw[at] ^= 1 << choice.randrange(8)
            case _:
                raw[at : at + 1] = choice.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\0", b"\r"))
    return bytes(raw)


def mutated(choice: random.Random, text: str, other: str) -> bytes:
    """The text after a few random mutations, as bytes that are mostly UTF-8."""
    for _ in range(choice.choice((1, 1, 1, 2, 2, 3, 5))):
        text = choice.choice(MUTATIONS)(choice, text, other)
        if len(text) > 200_000:
            break
    data = text.encode("utf-8", "surrogateescape")
    return flip_bytes(choice, data, choice.randint(1, 3)) if choice.random() < 0.04 else data
