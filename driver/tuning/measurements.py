"""The log of all measurements of a user's tuning, over all models and runs.

A file of lines, each one measurement with a digest of itself. It is only appended to, until it is
large: then the older half is removed. A damaged line affects only itself.
"""

from __future__ import annotations

import csv
import errno
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from pathlib import Path

from ...ir.cache_home import cache_home
from ...ir.diagnostics import NncError
from ...ir.files import folders_of, unwritable, write_whole
from ...ir.sealed_json import sealed, unsealed
from ...kernels.policy.features import VERSION

LIMIT = 64 << 20
"""The size in bytes at which the older half of the log is removed; a measurement takes some 2 kB.
"""


SWITCH = "NNC_MEASUREMENTS"
"""The environment variable with another log file than the user's; `off` disables the log."""


@dataclass(frozen=True)
class Measurement:
    """A kernel's schedule relative to the default one, as measured in a model.

    `kernel` is the fingerprint, `label` a name for people, `told` are the decisions other than the
    default. `ratio` is its time over the default's, with a 95 % interval from `low` to `high`;
    `default` is the time of one call of the default, 0 if unknown. Units: nanoseconds.
    """

    kernel: str
    label: str
    machine: str
    nnc: str
    threads: int
    told: str
    ratio: float
    low: float
    high: float
    default: float
    features: Mapping[str, float] = field(default_factory=dict)
    version: int = VERSION
    """The version of the features."""

    @property
    def predicted(self) -> float:
        """The ratio that the analytical model expects."""
        return 2.0 ** self.features.get("predicted", 0.0)


_TYPES = {
    name: {"str": str, "int": int, "float": (int, float)}.get(str(kind), dict)
    for name, kind in ((one.name, one.type) for one in fields(Measurement))
}


def _read(line: bytes) -> Measurement:
    """The measurement in a line. Raises ValueError for a damaged line."""
    about = unsealed(line)
    for name, kind in _TYPES.items():
        if not isinstance(about.get(name), kind):
            raise ValueError(f"'{name}' is missing, or not of its type")
    numbers = [about["ratio"], about["low"], about["high"], about["default"]]
    numbers += about["features"].values()
    if not all(isinstance(n, int | float) and isfinite(n) for n in numbers) or about["ratio"] <= 0:
        raise ValueError("it has numbers that nothing takes")
    return Measurement(**{name: about[name] for name in _TYPES})


class Log:
    """The measurements in a file, by default the user's."""

    def __init__(self, path: Path | None = None, limit: int = LIMIT) -> None:
        self.path = path or cache_home() / "tuning" / "measurements.jsonl"
        self.limit = limit

    def read(self) -> list[Measurement]:
        """All measurements, the oldest first; damaged lines are skipped with a warning.

        Raises NncError where the file cannot be read.
        """
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise NncError(f"cannot read '{self.path}': {error.strerror or error}") from None
        found, damaged = parsed(text.splitlines())
        if damaged:
            warnings.warn(
                f"{self.path}: {damaged} damaged lines of measurements are skipped",
                RuntimeWarning,
                stacklevel=2,
            )
        return found

    def append(self, measurements: Sequence[Measurement]) -> None:
        """Add measurements, all or none of them. Raises NncError."""
        if not measurements:
            return
        data = "".join(f"{line(one)}\n" for one in measurements).encode()
        with folders_of([self.path]):
            try:
                self._append(data)
            except OSError as error:
                raise unwritable(self.path, error) from None

    def _append(self, data: bytes) -> None:
        with _locked(self.path) as file:
            before = os.fstat(file).st_size
            # What a crash has cut ends with its own line.
            data = data if not before or _last_byte(self.path) == b"\n" else b"\n" + data
            try:
                if os.write(file, data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                with suppress(OSError):
                    os.ftruncate(file, before)
                raise
            if before + len(data) > self.limit:
                lines = self.path.read_bytes().splitlines(keepends=True)
                write_whole(self.path, b"".join(lines[len(lines) // 2 :]))


def log_of_user() -> Log | None:
    """The user's log; None if the user has turned it off."""
    given = os.environ.get(SWITCH, "").strip()
    return None if given == "off" else Log(Path(given) if given else None)


def open_log() -> tuple[Log | None, list[Measurement]]:
    """The user's log and its contents; None, with a warning, if it cannot be read."""
    log = log_of_user()
    try:
        return log, log.read() if log is not None else []
    except NncError as error:
        text = f"{error.message}; what is measured is not kept"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return None, []


def line(one: Measurement) -> str:
    """A measurement as a line of the log, without its end."""
    return sealed(asdict(one))


def parsed(lines: Iterable[bytes]) -> tuple[list[Measurement], int]:
    """The measurements in the lines of a log, and the number of damaged lines."""
    found, damaged = [], 0
    for one in filter(None, lines):
        try:
            found.append(_read(one))
        except (ValueError, TypeError, RecursionError):
            damaged += 1
    return found, damaged


def table(measurements: Sequence[Measurement]) -> str:
    """The measurements as CSV: a row for each, a column for each feature."""
    own = [one.name for one in fields(Measurement) if one.name != "features"]
    names = sorted({name for one in measurements for name in one.features})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*own, *names])
    for one in measurements:
        row = [getattr(one, name) for name in own]
        writer.writerow([*row, *(one.features.get(name, 0) for name in names)])
    return text.getvalue()


def write_table(path: Path, measurements: Sequence[Measurement]) -> None:
    """Write the measurements as a CSV file, whole. Raises NncError."""
    write_whole(path, table(measurements))


def unknown(measurements: Iterable[Measurement], known: Iterable[Measurement]) -> list[Measurement]:
    """The measurements that are not among the known ones, without duplicates."""
    seen = {line(one) for one in known}
    found = {line(one): one for one in measurements}
    return [one for text, one in found.items() if text not in seen]


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, opened for appending; locked against other processes if the system has locks."""
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o666)
        try:
            _lock(file)
            # Another process may have put a shorter file in its place meanwhile.
            if os.path.samestat(os.fstat(file), os.stat(path)):
                yield file
                return
        except FileNotFoundError:
            continue
        finally:
            os.close(file)


def _lock(file: int) -> None:
    """Lock a file until it is closed."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX)
