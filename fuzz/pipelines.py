"""Random pass pipelines with random options, valid ones and broken ones."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from . import vocabulary


@cache
def passes() -> tuple[Any, ...]:
    """All pass classes."""
    from nnc.lowering.catalog import all_passes

    return tuple(all_passes())


@cache
def pipelines() -> tuple[str, ...]:
    """The names of the pipelines that have flags."""
    from nnc.lowering.pipelines import named_pipelines

    return tuple(named_pipelines())


def option_value(choice: random.Random, field: Any) -> str:
    """A value for an option, mostly a valid one."""
    if field.metadata["choices"] and choice.random() < 0.9:
        return choice.choice(field.metadata["choices"])
    if choice.random() < 0.1:
        return choice.choice(("", "x", "{}", '"a b"', "'", "1,2", "nan", "é", "=", "-1"))
    match field.default:
        case bool():
            return choice.choice(("true", "false", "1", "0"))
        case int():
            return vocabulary.number(choice)
        case float():
            return choice.choice(("0", "1", "0.5", "1e30", "-1", "nan", "inf"))
        case tuple():
            return ",".join(vocabulary.number(choice) for _ in range(choice.randrange(4)))
        case _:
            return choice.choice(("host", "generic", "x86-64-v3", "avx2", "x", str(field.default)))


def random_step(choice: random.Random) -> str:
    """One pass with some of its options."""
    one = choice.choice(passes())
    given = [
        f"{f.name.replace('_', '-')}={option_value(choice, f)}"
        for f in one.options()
        if choice.random() < 0.4
    ]
    options = f"{{{' '.join(given)}}}" if given else ""
    step = f"{one.name}{options}"
    roll = choice.random()
    if roll < 0.1:
        return f"func.func({step})"
    if roll < 0.13:
        return f"any({step})"
    return step


def random_pipeline(choice: random.Random, count: int) -> str:
    """A well-formed pipeline of passes, or a named one."""
    if choice.random() < 0.2:
        return f"builtin.module({choice.choice(pipelines())})"
    return f"builtin.module({','.join(random_step(choice) for _ in range(count))})"


def broken_pipeline(choice: random.Random) -> str:
    """A pipeline's text with characters removed, inserted or changed."""
    text = random_pipeline(choice, choice.randint(0, 3))
    for _ in range(choice.choice((0, 1, 1, 2, 4))):
        at = choice.randrange(len(text) + 1)
        piece = choice.choice(("(", ")", "{", "}", ",", "=", " ", "'", '"', "é", "\0", "any(", ""))
        text = text[:at] + piece + text[at + choice.randrange(3) :]
    return text if choice.random() < 0.97 else "any(" * 3000 + text
