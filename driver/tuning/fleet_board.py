"""A worker of a fleet: it stores models, and runs experiments as `nnc tune` does locally.

A tuner calls the functions at the end by name. Its messages are read as text, JSON and bytes of
arrays; candidates are schedules as text. Each experiment is a process with limits.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from ...ir.cache_home import cache_home
from ...ir.diagnostics import NncError
from ...kernels.tuned import TunedSchedule
from ...targets.base import Target, processor_name
from ..cache import limit as cache_limit
from . import default
from .experiments import ExperimentError, Experiments, LostError
from .fleet_messages import Identity, MessageError, answer_message, unpacked
from .worker import Request

if TYPE_CHECKING:
    from distributed import Worker

FILES = re.compile(r"model\.(mlir|safetensors)|inputs")
"""The permitted names of a model's files, which keep uploads inside their folder."""
DIGEST = re.compile(r"[0-9a-f]{64}")
COMPILING = 1800.0
"""Seconds in which a worker must compile a model with the default schedules."""
_LEAST_SECONDS, _TIMES_DEFAULT = 60.0, 8
"""The time limit of an experiment: the least seconds, and the multiple of the default's
compilation."""


class UnableError(Exception):
    """This worker cannot run experiments on the model, whatever the candidates."""


class Board:
    """The state of a worker: files by their digests, and the model of the current experiments."""

    def __init__(self, target: Target, folder: Path | None = None) -> None:
        self.target = target
        self._files = (folder or cache_home() / "fleet") / "files"
        self._files.mkdir(parents=True, exist_ok=True)
        self._work = Path(mkdtemp(prefix="nnc-worker-"))
        self._key = ""
        self._experiments: Experiments | None = None
        self._is_closed = False

    def close(self) -> None:
        """End the current experiment, and remove its files. Later ones are lost."""
        self._is_closed = True
        self._leave_model()
        shutil.rmtree(self._work, ignore_errors=True)

    def _leave_model(self) -> None:
        if self._experiments is not None:
            self._experiments.close()
        if self._key:
            shutil.rmtree(self._work / self._key, ignore_errors=True)
        self._experiments, self._key = None, ""

    # -- files -----------------------------------------------------------------------------------

    def _held(self, digest: Any) -> Path:
        """The path of a file for the next model, which other workers here do not remove."""
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
            raise MessageError("expected the digest of a file")
        return self._work / f"held-{digest}"

    def missing(self, digests: Sequence[str]) -> list[str]:
        """The digests whose files are missing here. The others count as used now."""
        found = []
        for digest in digests:
            held, kept = self._held(digest), self._files / digest
            try:
                if not held.exists():
                    _link(kept, held)
                    os.utime(kept)
            except FileNotFoundError:
                found.append(digest)
        return found

    def store(self, digest: str, part: bytes, offset: int, last: bool) -> None:
        """Store a part of a file, which is complete with its last part. Raises MessageError if the
        whole has another digest.
        """
        held = self._held(digest)
        begun = held.with_name(f"begun-{digest}")
        with begun.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            file.write(part)
        if not last:
            return
        with begun.open("rb") as file:
            whole = file_digest(file, "sha256").hexdigest() == digest
        if not whole:
            begun.unlink()
            raise MessageError("a file came otherwise than it was sent")
        begun.replace(held)
        made = self._files / f".{digest}.{self._work.name}"
        _link(held, made)
        made.replace(self._files / digest)

    def copy(self, digest: str, path: Path) -> None:
        """Copy a stored file to a path. Raises FileNotFoundError, MessageError."""
        shutil.copyfile(self._held(digest), path)

    def trim(self) -> None:
        """Remove the least recently used files beyond the size limit of the model cache."""
        for held in self._work.glob("held-*"):
            held.unlink()
        left, files = cache_limit(), []
        for path in self._files.iterdir():
            with suppress(FileNotFoundError):  # another worker has removed it
                files.append((path.stat().st_mtime, path.stat().st_size, path))
        for _, size, path in sorted(files, reverse=True):
            left -= size
            if left < 0:
                path.unlink(missing_ok=True)

    # -- experiments -----------------------------------------------------------------------------

    def prepare(self, job: Mapping[str, Any]) -> float:
        """Prepare a model, compiled with the default schedules; returns the seconds that an
        experiment may take. Raises UnableError.
        """
        return self._ready(job).limit

    def _ready(self, job: Mapping[str, Any]) -> Experiments:
        if self._is_closed:
            raise LostError("its worker ends")
        key = sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()
        if key == self._key and self._experiments is not None:
            return self._experiments
        self._leave_model()
        self._key, is_ready = key, False
        try:
            self._experiments = self._prepared(self._work / key, job)
            is_ready = not self._is_closed
            return self._experiments
        except LostError:
            raise
        except ExperimentError as error:
            raise UnableError(f"the default program: {error}") from None
        finally:
            if not is_ready:
                self._leave_model()

    def _prepared(self, folder: Path, job: Mapping[str, Any]) -> Experiments:
        folder.mkdir()
        for name, digest in job["files"].items():
            if not FILES.fullmatch(name):
                raise MessageError(f"no file of a model is called '{name}'")
            _link(self._held(digest), folder / name)
        self.trim()
        request = Request(
            folder=folder,
            schedules=folder,
            threads=int(job["threads"]),
            seconds=float(job["seconds"]),
            tolerance=float(job["tolerance"]),
            memory=int(job["memory"]),
        )
        request.inputs.write_bytes(pickle.dumps(unpacked((folder / "inputs").read_bytes())))
        before = time.monotonic()
        with closing(Experiments(request, COMPILING, default.command())) as compiling:
            self._experiments = compiling
            compiling.run({})
        spent = time.monotonic() - before
        return Experiments(request, max(_LEAST_SECONDS, _TIMES_DEFAULT * spent))

    def measure(
        self, job: Mapping[str, Any], schedules: Sequence[str], seconds: float, whole: bool
    ) -> dict[str, Any]:
        """The answer of an experiment, as a message. Raises ExperimentError and UnableError."""
        experiments = self._ready(job)
        folder = self._work / self._key
        found = {}
        for i, text in enumerate(schedules):
            path = folder / f"sent-{i}.mlir"
            path.write_text(text, encoding="utf-8")
            one = TunedSchedule.read(path)
            found[one.kernel] = one
        return answer_message(experiments.run(found, float(seconds), bool(whole)))


def _link(source: Path, path: Path) -> None:
    try:
        os.link(source, path)
    except FileNotFoundError:
        raise
    except OSError:  # another file system
        shutil.copyfile(source, path)


# -- what a tuner calls ----------------------------------------------------------------------------


def board_of(worker: Worker) -> Board:
    """The board that `join` gave this worker. Raises LookupError for other programs' workers."""
    found = getattr(worker, "nnc_board", None)
    if not isinstance(found, Board):
        raise LookupError("this worker was not started by `nnc worker`")
    return found


def join(worker: Worker, board: Board) -> None:
    """Enable a Dask worker to run experiments."""
    worker.nnc_board = board  # type: ignore[attr-defined]


def _answered(do: Callable[[Board], Any]) -> dict[str, Any]:
    """The result as `value`, or the reason of a failure: `failed` if the experiment is at fault,
    `unable` if the worker is.
    """
    from distributed import get_worker

    try:
        return {"value": do(board_of(get_worker()))}
    except (LostError, UnableError) as error:
        return {"unable": str(error)}
    except (ExperimentError, NncError) as error:
        return {"failed": str(error)}
    except (OSError, LookupError, TypeError, ValueError) as error:
        return {"unable": f"{type(error).__name__}: {error}"}


def identify() -> dict[str, Any]:
    """The worker's identity, see `Identity`."""
    return _answered(lambda board: Identity.of(board.target, processor_name()).message())


def missing(digests: Sequence[str]) -> dict[str, Any]:
    """The digests of the files that must be sent."""
    return _answered(lambda board: board.missing(digests))


def store(digest: str, part: bytes, offset: int, last: bool) -> dict[str, Any]:
    """Store a part of a file."""
    return _answered(lambda board: board.store(digest, part, offset, last))


def prepare(job: Mapping[str, Any]) -> dict[str, Any]:
    """Prepare a model for experiments."""
    return _answered(lambda board: board.prepare(job))


def measure(
    job: Mapping[str, Any], schedules: Sequence[str], seconds: float, whole: bool
) -> dict[str, Any]:
    """Run an experiment, see `read_answer`."""
    return _answered(lambda board: board.measure(job, schedules, seconds, whole))
