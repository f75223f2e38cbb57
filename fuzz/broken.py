"""Model files broken by format: archives, JSON, messages, flatbuffers, HDF5, text, binary numbers.

Values that a reader trusts are changed, and the rest of the file still parses: a field of a message
with the lengths around it corrected, an offset that leads to another table or back to its own, a
huge extent or count, an attribute inside an HDF5 file, a name exchanged for another.
"""

from __future__ import annotations

import io
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from nnc.test.frontends.mutate import mutated

from . import messages, tables

INTEGERS = (0, 1, 2, 3, 7, -1, -2, 127, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1, 10**10)
HUGE = (2**62, 2**63 - 1, -(2**63), 2**64 - 1)
VALUES = (None, True, 0, -1, 1, 2**31, 2**63, -(2**63), 1e308, 0.5, "", "x", [], {}, [0], "nan")
WORDS = (
    "",
    "x",
    "0",
    "-1",
    "1e30",
    "nan",
    "9999999999",
    "é",
    "%n",
    "../x",
    "{",
    "}",
    "[",
    "=",
    ",",
)
TOKEN = re.compile(r'"[^"\n]*"|[\w.+-]+|\s+|.', re.S)


def broken(data: bytes, choice: random.Random) -> bytes:
    """The bytes of a file, changed: mostly as its format suggests, else anywhere."""
    if choice.random() < 0.75:
        for change in _ways(data):
            if (made := change(data, choice)) is not None and made != data:
                return made
    (made,) = mutated(data, 1, seed=choice.getrandbits(32))
    return made


def _ways(data: bytes) -> Iterator[Callable[[bytes, random.Random], bytes | None]]:
    """The changes that fit a file of this kind, the most specific first."""
    if data.startswith(b"PK"):
        yield _archive
    elif data.startswith(b"\x89HDF"):
        yield _hdf5
    elif data[:1] in (b"{", b"["):
        yield _json
    elif tables.is_one(data):
        yield tables.changed
    elif messages.is_one(data):
        yield messages.changed
    if _is_text(data):
        yield _text
    yield _numbers


def _archive(data: bytes, choice: random.Random) -> bytes | None:
    """The archive with a broken member, or without it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        infos = old.infolist()
        if not infos:
            return None
        sizes = [min(info.file_size, 1 << 16) + 64 for info in infos]
        (at,) = choice.choices(range(len(infos)), sizes)
        for i, info in enumerate(infos):
            content = old.read(info)
            if i == at and choice.random() < 0.02:
                continue
            new.writestr(info.filename, broken(content, choice) if i == at else content)
    return out.getvalue()


# -- JSON ------------------------------------------------------------------------------------------


def _json(data: bytes, choice: random.Random) -> bytes | None:
    """JSON with a few values exchanged, dropped, or of another type."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return None
    places = list(_places(tree))
    for _ in range(choice.randint(1, 3)):
        if places:
            _change(places, choice)
    try:
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):
        return None


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """All values in a tree of containers, each as its container and key."""
    stack = [tree]
    while stack:
        one = stack.pop()
        for key in one if isinstance(one, dict) else range(len(one)):
            yield one, key
            if isinstance(one[key], dict | list):
                stack.append(one[key])


def _change(places: list[tuple[Any, Any]], choice: random.Random) -> None:
    holder, key = choice.choice(places)
    how = choice.random()
    try:
        if how < 0.15:
            del holder[key]
        elif how < 0.45:
            other, where = choice.choice(places)
            holder[key] = json.loads(json.dumps(other[where]))
        elif how < 0.6 and isinstance(holder[key], int):
            holder[key] += choice.choice((-1, 1, 2, 100))
        elif how < 0.65 and isinstance(holder[key], str) and holder[key][:1] in ("{", "["):
            holder[key] = (_json(holder[key].encode(), choice) or b"").decode()
        elif how < 0.68:
            for _ in range(choice.choice((3, 100, 900))):
                holder[key] = [holder[key]] if isinstance(holder, list) else {key: holder[key]}
        else:
            holder[key] = choice.choice(VALUES)
    except (LookupError, RecursionError):  # it went with another one
        pass


# -- HDF5 ------------------------------------------------------------------------------------------


def _hdf5(data: bytes, choice: random.Random) -> bytes | None:
    """The file with an attribute, a dataset or a link changed; None if the file cannot be read."""
    import h5py

    if choice.random() < 0.4:  # its own structures
        return _numbers(data, choice)
    held = io.BytesIO(data)
    try:
        with h5py.File(held, "r+") as file:
            found: list[Any] = [file]
            file.visititems(lambda _, one: found.append(one))
            owners = [one for one in found if len(one.attrs)]
            if owners and choice.random() < 0.7:
                _hdf5_attribute(choice.choice(owners), choice)
            else:
                _hdf5_member(file, choice.choice(found), choice)
    except Exception:  # whatever h5py says of what was broken before
        return None
    return held.getvalue()


def _hdf5_attribute(owner: Any, choice: random.Random) -> None:
    name = choice.choice(list(owner.attrs))
    value = owner.attrs[name]
    text = value.decode() if isinstance(value, bytes) else value
    if isinstance(text, str) and text[:1] in ("{", "[") and choice.random() < 0.9:
        owner.attrs[name] = (_json(text.encode(), choice) or b"").decode()
    elif choice.random() < 0.3:
        del owner.attrs[name]
    else:
        owner.attrs[name] = choice.choice((0, -1, "x", "", [1.5], ["a", "b"], 2**40))


def _hdf5_member(file: Any, one: Any, choice: random.Random) -> None:
    import h5py

    if one.name == "/":
        return
    other = choice.choice((one.name, one.parent.name, "/", "/nothing"))
    content = one[()] if hasattr(one, "shape") else None
    parent, name = one.parent, one.name.rpartition("/")[2]
    del parent[name]
    match choice.randrange(6):
        case 0:
            parent[name] = h5py.SoftLink(other)
        case 1:
            parent[name] = h5py.ExternalLink("/etc/hostname", "/x")
        case 2:
            parent[name] = file[other] if other != "/nothing" else 0.0
        case 3 if content is not None:
            parent[name] = content.reshape(-1)[: choice.choice((0, 1, 2, 100))]
        case 4 if content is not None:
            parent[name] = content.astype(choice.choice(("f8", "i1", "S3", "c8", "f2", ">f4")))
        case 5:
            shape = choice.choice(((1 << 40,), (0,), (1 << 20, 1 << 20)))
            parent.create_dataset(name, shape, "f4", chunks=True)
        case _:
            pass


# -- text and bytes --------------------------------------------------------------------------------


def _is_text(data: bytes) -> bool:
    head = data[:2000]
    return bool(head) and sum(b < 9 or 13 < b < 32 or b > 126 for b in head) * 50 < len(head)


def _text(data: bytes, choice: random.Random) -> bytes:
    """Text with words exchanged, left out or extreme, and lines repeated or moved."""
    if choice.random() < 0.25:
        lines = data.splitlines(keepends=True)
        at, to = (choice.randrange(len(lines)) for _ in range(2))
        match choice.randrange(4):
            case 0:
                del lines[at]
            case 1:
                lines.insert(to, lines[at])
            case 2:
                lines[at], lines[to] = lines[to], lines[at]
            case _:
                lines[at:at] = lines[at:to] * choice.choice((1, 2, 50))
        return b"".join(lines)
    parts = TOKEN.findall(data.decode("latin1"))
    solid = [i for i, part in enumerate(parts) if not part.isspace()]
    for _ in range(choice.choice((1, 1, 2, 4))):
        at, to = choice.choice(solid), choice.choice(solid)
        digits = [i for i in solid if parts[i].lstrip("-").isdigit()]
        match choice.randrange(6):
            case 0:
                parts[at] = ""
            case 1:
                parts[at], parts[to] = parts[to], parts[at]
            case 2 | 3 if digits:
                parts[choice.choice(digits)] = str(choice.choice(INTEGERS + HUGE))
            case 4:
                parts[at] = choice.choice(WORDS)
            case _:
                parts[at] = parts[to]
    return "".join(parts).encode("utf-8")


def _numbers(data: bytes, choice: random.Random) -> bytes:
    """Numbers that may be counts, extents or offsets, made extreme or changed to another offset."""
    made = bytearray(data)
    for _ in range(choice.choice((1, 1, 2, 3))):
        size = choice.choice((1, 2, 4, 4, 4, 8, 8))
        places = _small_numbers(data, size)
        if not places:
            continue
        at = choice.choice(places)
        (old,) = struct.unpack_from("<Q", data[at : at + size] + bytes(8 - size))
        drawn = choice.random()
        if drawn < 0.35:
            new = old + choice.choice((-1, 1, 2, 4, 8, -8, 16))
        elif drawn < 0.7:
            new = choice.choice(INTEGERS + HUGE)
        else:
            new = choice.randrange(len(data) + 8)
        made[at : at + size] = struct.pack("<Q", new % (1 << 64))[:size]
    return bytes(made)


@lru_cache(maxsize=64)
def _small_numbers(data: bytes, size: int) -> tuple[int, ...]:
    """The offsets of little-endian numbers of `size` bytes that are less than the file's length,
    not 0.
    """
    import numpy as np

    step = min(size, 4)
    count = (len(data) - size) // step + 1
    if count <= 0:
        return ()
    words = np.ndarray((count,), f"<u{size}", data, strides=(step,))
    found = np.flatnonzero((words != 0) & (words <= min(len(data), 1 << 24))) * step
    return tuple(found[:20000].tolist())
