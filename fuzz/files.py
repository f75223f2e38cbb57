"""Break model files of any format, and check what reading them does.

    python -m fuzz.files *.pt2 --count 10000
    python -m fuzz.files *.param --beside .bin --count 10000
    python -m fuzz.files saved_model/ --count 10000

A finding is an exception that is no error message, the end of the process, a case of more than
`--seconds` of processor time, a file opened elsewhere, anything written, a program started, or an
object unpickled. Each is written once to `-o`: the broken file and a report. Case `N` of a seed is
always the same, `--case N` repeats it. `--compile` is the share of the changed models that are also
compiled, if they can be read, and run on zeros.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2s
from pathlib import Path
from typing import Any

from nnc.ir.cache_home import cache_home

from .broken import broken

MEMORY = 2 << 30
"""The bytes of address space that a reading process may add to what it has at its start."""

AT_ONCE = 1000
"""The number of cases of a process."""

FAULT = 70
"""The exit code of a process in which the fuzzer itself fails."""

MOST_ELEMENTS = 1 << 20
"""The most elements of an input with which a model is run."""

# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """The files of a folder; `main` is the one to read, or "." for the whole folder."""

    home: Path
    main: str
    files: tuple[str, ...]

    @staticmethod
    def of(path: Path, beside: Sequence[str]) -> Model:
        """A folder with all its files, or a file and those of the same name."""
        path = path.resolve()
        home = path if path.is_dir() else path.parent
        files = [one for one in home.rglob("*") if one.is_file()]
        if home != path:
            files = [path, *(p for suffix in beside if (p := path.with_suffix(suffix)).is_file())]
        names = tuple(sorted(str(one.relative_to(home)) for one in files))
        return Model(home, str(path.relative_to(home)), names)


@dataclass(frozen=True)
class Run:
    """Cases made from models, and how they are checked."""

    models: tuple[Model, ...]
    seed: int
    seconds: float
    output: Path
    compiled: float = 0.0

    def make(self, number: int, folder: Path) -> str:
        """Write the files of a case; returns the name of the broken one."""
        choice, model = self._drawn(number)
        name = choice.choice(model.files)
        for other in model.files:
            data = (model.home / other).read_bytes()
            path = folder / other
            path.parent.mkdir(parents=True, exist_ok=True)
            # A new file: models that were read may still lie in the mapped old one.
            path.unlink(missing_ok=True)
            path.write_bytes(broken(data, choice) if other == name else data)
        return name

    def _drawn(self, number: int) -> tuple[random.Random, Model]:
        choice = random.Random(f"{self.seed}:{number}")
        return choice, self.models[number % len(self.models)]

    def read(self, number: int, folder: Path) -> str | None:
        """Read the model of a case; returns a report of a finding, or None."""
        import nnc

        path = folder / self._drawn(number)[1].main
        try:
            with watched(folder):
                module = nnc.load(path)
                module.verify()
            if random.Random(f"compiled {number}").random() < self.compiled:
                _run(nnc.compile(path, cache=False))
        except nnc.NncError as error:
            return _complaint(str(error))
        except BaseException:
            return traceback.format_exc()
        return None

    def save(self, number: int, report: str, folder: Path) -> None:
        """Save a finding if it is the first of its kind."""
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
        """Read `count` cases; returns the number of kinds of findings."""
        before = len(list(self.output.glob("*/report.txt")))
        with tempfile.TemporaryDirectory() as scratch:
            folder, number = Path(scratch), 0
            while number < count:
                number = self._process(number, min(count, number + AT_ONCE), folder) + 1
                shutil.rmtree(folder)
                folder.mkdir()
        return len(list(self.output.glob("*/report.txt"))) - before

    def _process(self, first: int, count: int, folder: Path) -> int:
        """Run one process until it ends; returns the number of the last case that it began."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            try:
                self._work(range(first, count), folder, writer)
            except BaseException:  # the fuzzer's own
                traceback.print_exc()
            os._exit(FAULT)
        os.close(writer)
        number, status = self._watch(pid, reader)
        os.close(reader)
        if status == FAULT << 8:
            raise SystemExit("the fuzzer itself is at fault")
        if status != 0:
            how = f"the process was ended by signal {status & 127}, or left with {status >> 8}"
            self.save(number, how if status != _HANGS else "it takes too long", folder)
        return number

    def _work(self, numbers: range, folder: Path, writer: int) -> None:
        most = (
            MEMORY + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        )
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(ImportError):
            import h5py  # noqa: F401  # asks a program for the processor's name, once

        sys.addaudithook(_hook)
        for number in numbers:
            os.write(writer, struct.pack("q", number))
            self.make(number, folder)
            report = self.read(number, folder)
            if report is not None:
                self.save(number, report, folder)
        sys.stdout.flush()
        os._exit(0)

    def _watch(self, pid: int, reader: int) -> tuple[int, int]:
        """The number of the last case that a process began, and the process's exit status."""
        os.set_blocking(reader, False)
        number, since = 0, 0.0
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            with suppress(BlockingIOError):
                if found := os.read(reader, 1 << 16):
                    (number,) = struct.unpack("q", found[-8:])
                    since = 0.0 if done else _processor_time(pid)
            if done:
                return number, status
            if _processor_time(pid) - since > self.seconds:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return number, _HANGS
            time.sleep(0.02)


_HANGS = -1


def _processor_time(pid: int) -> float:
    """Seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# -- what reading may not do -----------------------------------------------------------------------

_WATCHED: list[Path] = []
_OWN = (Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[2], Path("/dev"))
_FORBIDDEN = ("subprocess.Popen", "pickle.find_class", "socket.connect", "ctypes.dlopen")
_CHANGING = re.compile(
    r"os\.(system|exec|remove|rename|mkdir|rmdir|link|symlink|truncate|chmod|fork)"
)


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Inside, files opened elsewhere and anything written raise an error."""
    _WATCHED.append(folder)
    try:
        yield
    finally:
        _WATCHED.clear()


def _hook(event: str, details: tuple[Any, ...]) -> None:
    if not _WATCHED:
        return
    if event == "open" and isinstance(details[0], str):
        if details[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise AssertionError(f"writes {details[0]}")
        path = Path(os.path.abspath(details[0]))
        if _WATCHED[0] not in path.parents and not any(
            path.is_relative_to(own) for own in (*_OWN, cache_home())
        ):
            raise AssertionError(f"opens {path}")
    elif event in _FORBIDDEN or _CHANGING.match(event):
        raise AssertionError(f"{event} {details}")


def _complaint(message: str) -> str | None:
    """The message if it is a finding: empty, or with a traceback. Else None."""
    return message if "\n  File " in message or not message.strip() else None


def _run(model: Any) -> None:
    """Run a compiled model on zeros, if its inputs are small."""
    import numpy as np
    from nnc.ir.numpy_types import type_to_numpy

    shapes = [[2 if n is None or n < 0 else n for n in type.shape] for type in model.input_types]
    if all(math.prod(shape) <= MOST_ELEMENTS for shape in shapes):
        kinds = [type_to_numpy(type.element_type) for type in model.input_types]
        model(*(np.zeros(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)))


def main() -> int:
    """Read broken files; the exit code is 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.files", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL", help="a file or a folder")
    parser.add_argument(
        "--beside", action="append", default=[], metavar="SUFFIX", help="of weights"
    )
    parser.add_argument("--count", type=int, default=1000, help="of all models together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10, help="of processor time for a case")
    parser.add_argument("--compile", type=float, default=0.02, metavar="PART")
    parser.add_argument("-o", "--output", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--case", type=int, help="read this case only")
    args = parser.parse_args()
    models = tuple(Model.of(path, args.beside) for path in args.models)
    run = Run(models, args.seed, args.seconds, args.output, args.compile)
    if args.case is not None:
        with tempfile.TemporaryDirectory() as scratch:
            name, said = run.make(args.case, Path(scratch)), run.read(args.case, Path(scratch))
            print(name, said, sep="\n")
            shutil.copytree(scratch, args.output / f"case-{args.case}", dirs_exist_ok=True)
        return 0
    found = run.go(args.count)
    print(f"{args.count} broken files, {found} new findings in {args.output}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
