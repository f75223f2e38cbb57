"""Model files of any format, broken, and what reading them does.

    python -m fuzz.files model.pt2 --count 10000
    python -m fuzz.files net.prototxt --beside net.caffemodel --count 10000
    python -m fuzz.files saved_model/ --count 10000

A finding is an exception that is no message, the end of the process, or a case of more than
`--seconds`. It is written once to `-o`: the broken file and what happened. Case `N` of a seed
is always the same, `--case N` reads it once more.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import zipfile
from dataclasses import dataclass
from hashlib import blake2s
from pathlib import Path
from typing import Any

from nnc.test.frontends.mutate import mutated

MEMORY = 8 << 30
"""Bytes of address space of the process that reads."""

# -- broken files ----------------------------------------------------------------------------------


def broken(data: bytes, choice: random.Random) -> bytes:
    """The bytes of a file, changed: of an archive mostly a member, of JSON mostly values."""
    if choice.random() < 0.7:
        if data.startswith(b"PK") and (made := _archive(data, choice)) is not None:
            return made
        if (made := _json(data, choice)) is not None:
            return made
    (made,) = mutated(data, 1, seed=choice.getrandbits(32))
    return made


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


def _json(data: bytes, choice: random.Random) -> bytes | None:
    """JSON with a few values exchanged, dropped, or of another kind."""
    if data[:1] not in (b"{", b"["):
        return None
    try:
        tree = json.loads(data)
    except ValueError:
        return None
    places = list(_places(tree))
    for _ in range(choice.randint(1, 3)):
        if places:
            _change(places, choice)
    return json.dumps(tree).encode()


def _places(tree: Any) -> Any:
    """All containers with a key of theirs."""
    stack = [tree]
    while stack:
        one = stack.pop()
        for key in one if isinstance(one, dict) else range(len(one)):
            yield one, key
            if isinstance(one[key], dict | list):
                stack.append(one[key])


_VALUES = (None, True, 0, -1, 1, 2**31, 2**63, -(2**63), 1e308, 0.5, "", "x", [], {}, [0], "nan")


def _change(places: list[Any], choice: random.Random) -> None:
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
        else:
            holder[key] = choice.choice(_VALUES)
    except (LookupError, RecursionError):  # it went with another one
        pass


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """Cases of a model: the files of a folder, of which `main` is what is read."""

    home: Path
    main: str
    files: tuple[str, ...]
    seed: int
    seconds: float
    output: Path

    def make(self, number: int, folder: Path) -> str:
        """Write the files of a case; the name of the one that is broken."""
        choice = random.Random(f"{self.seed}:{number}")
        name = choice.choice(self.files)
        for other in self.files:
            data = (self.home / other).read_bytes()
            path = folder / other
            path.parent.mkdir(parents=True, exist_ok=True)
            # A new file: models that were read may still lie in the mapped old one.
            path.unlink(missing_ok=True)
            path.write_bytes(broken(data, choice) if other == name else data)
        return name

    def read(self, folder: Path) -> str | None:
        """What is wrong with how the model is read, or None."""
        import nnc

        try:
            nnc.load(folder / self.main).verify()
        except nnc.NncError as error:
            text = str(error)
            return text if "\n  File " in text or not text.strip() else None
        except BaseException:
            return traceback.format_exc()
        return None

    def save(self, number: int, report: str, folder: Path) -> None:
        """Keep a finding, the first of its kind."""
        lines = [line for line in report.splitlines() if line.startswith("  File ")]
        where = [line.partition(", in ")[0] for line in lines[-2:]] or [report]
        key = blake2s("".join(where).encode(), digest_size=5).hexdigest()
        home = self.output / key
        if home.exists():
            return
        name = self.make(number, home)
        (home / "report.txt").write_text(f"case {number}, seed {self.seed}, {name}\n{report}\n")
        print(f"{home}: {report.strip().splitlines()[-1]}", flush=True)

    def go(self, count: int) -> int:
        """Read so many cases; how many kinds of findings there are."""
        before = len(list(self.output.glob("*/report.txt")))
        with tempfile.TemporaryDirectory() as scratch:
            folder, number = Path(scratch), 0
            while number < count:
                number = self._process(number, count, folder) + 1
        return len(list(self.output.glob("*/report.txt"))) - before

    def _process(self, first: int, count: int, folder: Path) -> int:
        """One process from its start to its end; the last case that it began."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self._work(range(first, count), folder, writer)
        os.close(writer)
        number, status = self._watch(pid, reader)
        os.close(reader)
        if status != 0:
            how = f"the process was ended by signal {status & 127}, or left with {status >> 8}"
            self.save(number, how if status != _HANGS else "it takes too long", folder)
        return number

    def _work(self, numbers: range, folder: Path, writer: int) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in numbers:
            os.write(writer, struct.pack("q", number))
            self.make(number, folder)
            report = self.read(folder)
            if report is not None:
                self.save(number, report, folder)
        sys.stdout.flush()
        os._exit(0)

    def _watch(self, pid: int, reader: int) -> tuple[int, int]:
        """The last case that a process began, and how it ended."""
        os.set_blocking(reader, False)
        number, since = 0, time.monotonic()
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            try:
                found = os.read(reader, 1 << 16)
            except BlockingIOError:
                found = b""
            if found:
                (number,), since = struct.unpack("q", found[-8:]), time.monotonic()
            if done:
                return number, status
            if time.monotonic() - since > self.seconds:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return number, _HANGS
            time.sleep(0.02)


_HANGS = -1


def main() -> int:
    """Read the broken files; 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.files", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("model", type=Path, help="a file or a folder")
    parser.add_argument("--beside", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10, help="for a case")
    parser.add_argument("-o", "--output", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--case", type=int, help="read this case only")
    args = parser.parse_args()
    main_file = args.model.resolve()
    home = main_file if main_file.is_dir() else main_file.parent
    files = [path for path in home.rglob("*") if path.is_file()]
    if home != main_file:
        files = [main_file, *(path.resolve() for path in args.beside)]
    names = tuple(sorted(str(path.relative_to(home)) for path in files))
    read = str(main_file.relative_to(home))
    run = Run(home, read, names, args.seed, args.seconds, args.output)
    if args.case is not None:
        with tempfile.TemporaryDirectory() as scratch:
            print(run.make(args.case, Path(scratch)), run.read(Path(scratch)), sep="\n")
            shutil.copytree(scratch, args.output / f"case-{args.case}", dirs_exist_ok=True)
        return 0
    found = run.go(args.count)
    print(f"{args.count} broken files, {found} new findings in {args.output}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
