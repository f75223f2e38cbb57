"""Names of a model's tensors as identifiers of a language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import count

Style = Callable[[Sequence[str]], str]
"""A function from words to an identifier."""


def snake_case(words: Sequence[str]) -> str:
    """Words as `pixel_values`."""
    return "_".join(word.lower() for word in words)


def camel_case(words: Sequence[str]) -> str:
    """Words as `pixelValues`."""
    first, *rest = words
    return first[0].lower() + first[1:] + pascal_case(rest)


def pascal_case(words: Sequence[str]) -> str:
    """Words as `PixelValues`."""
    return "".join(word[0].upper() + word[1:] for word in words)


def words_of(name: str) -> list[str]:
    """The words of a name, of ASCII letters and digits: `input.1` and `pixelValues` have two.

    Accents are dropped, and so is what has no counterpart in ASCII.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return [
        word
        for part in re.split(r"[^A-Za-z0-9]+", plain)
        for word in re.split(r"(?<=[a-z0-9])(?=[A-Z])", part)
        if word
    ]


def identifiers(
    names: Iterable[str], kind: str, style: Style, reserved: Container[str]
) -> list[str]:
    """Distinct identifiers for names.

    A name that begins with a digit, or has no valid character, gets the prefix `kind`: `input_495`.
    Keywords and other `reserved` names get an underscore.
    """
    taken: set[str] = set()
    made = []
    for position, name in enumerate(names):
        words = words_of(name) or [str(position)]
        if words[0][0].isdigit():
            words = [kind, *words]
        wanted = style(words)
        wanted += "_" if wanted in reserved else ""
        candidates = (f"{wanted}_{n}" if n > 1 else wanted for n in count(1))
        found = next(one for one in candidates if one not in taken)
        taken.add(found)
        made.append(found)
    return made
