"""Writing files atomically, one or several together: complete or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from .diagnostics import NncError

Part = str | bytes | memoryview

_spared: ContextVar[tuple[Path, ...]] = ContextVar("spared files", default=())


@contextmanager
def sparing(paths: Iterable[Path]) -> Iterator[None]:
    """A context in which writing to any of these files raises NncError."""
    token = _spared.set((*_spared.get(), *paths))
    try:
        yield
    finally:
        _spared.reset(token)


def check_spared(path: Path) -> None:
    """Raise NncError if the file is one that `sparing` protects."""
    for one in _spared.get():
        if path.exists() and one.exists() and path.samefile(one):
            raise NncError(f"cannot write '{path}': it is an input of this command")


def read_text(path: Path) -> str:
    """The text of a file. Raises NncError if it cannot be read or is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise NncError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except (OSError, ValueError) as error:  # a name with a zero is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise NncError(f"cannot read '{path}': {reason}") from None


def write_whole(path: Path, *parts: Part) -> None:
    """Write a file whole or not at all. Raises NncError."""
    write_together({path: parts})


def write_private(path: Path, *parts: Part) -> None:
    """Write a file that only its user can read, whole or not at all. Raises NncError."""
    with NewFile(path, private=True) as new:
        new.file.writelines(map(_raw, parts))
        publish([new])


def write_together(contents: Mapping[Path, Sequence[Part] | Path]) -> None:
    """Write several files, all of them or none. Raises NncError.

    A content that is a path is a finished file, which is moved. Devices and pipes are written
    directly.
    """
    with ExitStack() as stack:
        writes = []
        for path, content in contents.items():
            if is_special(path):
                _write_special(path, content)
                continue
            writes.append(stack.enter_context(NewFile(path)))
            if isinstance(content, Path):
                os.replace(content, writes[-1].temporary)
            else:
                writes[-1].file.writelines(map(_raw, content))
        publish(writes)


def check_folder(path: Path) -> None:
    """Raise NncError if the folder of the file `path` is missing or cannot be written to."""
    if not path.parent.is_dir():
        raise NncError(f"cannot write '{path}': there is no folder '{path.parent}'")
    if not is_special(path):
        check_spared(path)
    if not is_special(path) and not os.access(path.parent, os.W_OK):
        raise unwritable(path, OSError(errno.EACCES, os.strerror(errno.EACCES)))


def is_special(path: Path) -> bool:
    """Whether the path is a device such as /dev/null, a pipe or a folder, not to be replaced."""
    return path.exists() and not path.is_file()


def encoded(text: str) -> bytes:
    """A text as UTF-8, also if it has file names that are not: their bytes become escapes.

    Python represents such bytes by characters that have no encoding.
    """
    return text.encode(errors="backslashreplace")


def _raw(part: Part) -> bytes | memoryview:
    return encoded(part) if isinstance(part, str) else part


def _write_special(path: Path, content: Sequence[Part] | Path) -> None:
    try:
        made = isinstance(content, Path)
        path.write_bytes(content.read_bytes() if made else b"".join(map(_raw, content)))
    except OSError as error:
        raise unwritable(path, error) from None


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """A temporary folder in the folder of the file `path`. Raises NncError."""
    import tempfile

    try:
        home = None if is_special(path) else path.parent
        with tempfile.TemporaryDirectory(dir=home, prefix=f".{path.name}.") as name:
            yield Path(name)
    except OSError as error:
        raise unwritable(path, error) from None


@contextmanager
def folders_of(paths: Iterable[Path]) -> Iterator[None]:
    """Make the folders of these files; an exception inside the context removes the new ones.

    Raises NncError.
    """
    made: list[Path] = []
    try:
        for folder in dict.fromkeys(path.parent for path in paths):
            missing = [one for one in (folder, *folder.parents) if not one.exists()]
            for one in reversed(missing):
                try:
                    one.mkdir()
                except OSError as error:
                    raise unwritable(one, error) from None
                made.append(one)
        yield
    except BaseException:
        for one in reversed(made):
            with suppress(OSError):  # something else is in it by now
                one.rmdir()
        raise


class NewFile:
    """A file under a temporary name in the folder of its final path; removed unless published.

    A `private` one can be read by its user alone.
    """

    def __init__(self, path: Path, private: bool = False) -> None:
        self.path, self.private = path, private

    def __enter__(self) -> NewFile:
        import tempfile

        check_spared(self.path)
        try:
            handle, self.temporary = tempfile.mkstemp(
                dir=self.path.parent, prefix=f".{self.path.name}."
            )
            if not self.private:
                umask = os.umask(0)
                os.umask(umask)
                os.chmod(self.temporary, 0o666 & ~umask)
        except OSError as error:
            raise unwritable(self.path, error) from None
        self.file = os.fdopen(handle, "wb")
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if not self.file.closed:
            with suppress(OSError):  # a full disk, said already by the write before
                self.file.close()
        if os.path.exists(self.temporary):
            os.unlink(self.temporary)
        if isinstance(error, OSError):
            raise unwritable(self.path, error) from None


def publish(writes: list[NewFile]) -> None:
    """Rename complete files to their final paths, all or none. Raises NncError."""
    done: list[tuple[Path, str | None]] = []
    if not writes:
        return
    current = writes[0]
    try:
        for current in writes:
            current.file.close()
        for current in writes:
            if current.path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            kept = None
            if current.path.exists() and current is not writes[-1]:
                kept = current.temporary + ".old"
                _keep(current.path, kept)
            done.append((current.path, kept))
            os.replace(current.temporary, current.path)
    except OSError as error:
        for path, kept in done:
            if kept is not None:
                os.replace(kept, path)
                Path(kept).unlink(missing_ok=True)  # still there where both were one file
            elif path != current.path:
                os.unlink(path)
        raise unwritable(current.path, error) from None
    for _, kept in done:
        if kept is not None:
            os.unlink(kept)


def _keep(path: Path, name: str) -> None:
    """Give a file a second name by a hard link, or rename it if links are not supported."""
    try:
        os.link(path, name)
    except OSError:
        os.rename(path, name)


def unwritable(path: Path, error: OSError) -> NncError:
    """The error for a file that the system refuses to write."""
    return NncError(f"cannot write '{path}': {error.strerror or error}")
