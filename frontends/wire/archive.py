"""ZIP archives, read safely: stored members are views of the data, others are inflated in bounds.

Source: PKWARE's APPNOTE 6.3.10.
"""

from __future__ import annotations

import struct
import zipfile
import zlib

import numpy as np

from ..common.source import Source
from .bytes import Bytes

MOST_INFLATED = 1 << 32
"""The most bytes that all compressed members together may inflate to."""

MOST_SHRUNK = 1 << 26, 100
"""(bytes, factor): a member that inflates to more bytes must not inflate by more than the factor.
"""

MOST_MEMBERS = 1 << 18

_LOCAL = struct.Struct("<4s5H3I2H")
"""A member's header in front of its data."""


class Archive:
    """The members of an archive by name. Raises NncError if it is damaged or malicious."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._inflated = 0
        try:
            with zipfile.ZipFile(Bytes(source.data)) as file:  # type: ignore[arg-type]
                infos = file.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as e:
            raise source.error(f"the archive is cut off or broken: {e}") from None
        if min((info.header_offset for info in infos), default=0):
            # The end of an archive that stands inside of this one, say.
            raise source.error("the archive is cut off: its own end is missing")
        if len(infos) > MOST_MEMBERS:
            raise source.error(f"the archive has {len(infos)} members, which is too many")
        self.members: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            self._check(info)
            self.members[info.filename] = info

    def _check(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        parts = name.split("/")
        if not name or ".." in parts or name[0] == "/" or "\\" in name or ":" in parts[0]:
            raise self.source.error(f"the archive's member {name!r} lies outside of it")
        if name in self.members:
            raise self.source.error(f"the archive has two members '{name}'")
        if info.flag_bits & 1:
            raise self.source.error(f"the archive's member '{name}' is encrypted")

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def read(self, name: str) -> np.ndarray:
        """The bytes of a member; a view of the data if it is stored uncompressed."""
        info = self.members.get(name)
        if info is None:
            raise self.source.error(f"the archive has no member '{name}'")
        data = self.source.data
        header = data[info.header_offset : info.header_offset + _LOCAL.size].tobytes()
        if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
            raise self._broken(name)
        *_, name_size, extra_size = _LOCAL.unpack(header)
        begin = info.header_offset + _LOCAL.size + name_size + extra_size
        found = data[begin : begin + info.compress_size]
        if found.size != info.compress_size:
            raise self._broken(name)
        if info.compress_type == zipfile.ZIP_STORED:
            if info.file_size != info.compress_size:
                raise self._broken(name)
            return found
        if info.compress_type != zipfile.ZIP_DEFLATED:
            raise self.source.error(f"the archive's member '{name}' is compressed unusually")
        least, most = MOST_SHRUNK
        if info.file_size > max(least, most * info.compress_size):
            raise self.source.error(
                f"the archive's member '{name}' inflates to more than {most} times its size"
            )
        self._inflated += info.file_size
        if self._inflated > MOST_INFLATED:
            raise self.source.error("the archive's members inflate to more than 4 GiB")
        try:
            inflater = zlib.decompressobj(-15)
            plain = inflater.decompress(found.tobytes(), info.file_size + 1)
        except zlib.error:
            raise self._broken(name) from None
        if len(plain) != info.file_size:
            raise self._broken(name)
        return np.frombuffer(plain, np.uint8)

    def _broken(self, name: str):
        return self.source.error(f"the archive's member '{name}' is broken")
