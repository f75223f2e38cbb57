"""The tuner's side of a fleet: the workers at a Dask scheduler, and their experiments.

If a worker dies, hangs, or turns out to have another processor, its experiment is given to another
worker. Only workers of one machine, one processor and this nnc are used.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...ir.diagnostics import NncError
from ...targets.attribute import detailed
from ...targets.base import Target
from . import fleet_board
from .experiments import ExperimentError, LostError, OverError
from .fleet_membership import connection, quiet_logs
from .fleet_messages import Identity, MessageError, this_nnc

if TYPE_CHECKING:
    from distributed import Client, Future

Say = Callable[[str], None]


@dataclass(frozen=True)
class Patience:
    """How long a tuner waits: for a scheduler, for a first worker, for another worker when none is
    left, and for an answer beyond the requested time. Units: seconds.
    """

    scheduler: float = 15.0
    first: float = 20.0
    another: float = 60.0
    answer: float = 300.0


LOOK = 0.1
"""Seconds between polls of workers and answers."""


PART = 16 << 20
"""The bytes of a file that are sent at once."""

_FETCH = 2.0
"""Seconds within which a finished answer must arrive from a worker."""


@dataclass
class Member:
    """A worker as the tuner knows it. `refused` is the reason why it gets no experiments."""

    address: str
    asked: Future
    since: float
    identity: Identity | None = None
    refused: str = ""
    busy: bool = False
    limits: dict[str, float] = field(default_factory=dict)
    """The time limit of an experiment, in seconds, for each job that the worker is ready for."""

    @property
    def about(self) -> str:
        """A description of the worker."""
        if self.refused or self.identity is None:
            return self.refused or "a worker that has not answered yet"
        return f"{self.identity.machine} on {self.identity.processor}"


class Fleet:
    """The workers at a scheduler. At most `most` of them are used at once; None for all."""

    def __init__(
        self,
        address: str,
        certificates: Path | None,
        most: int | None = None,
        say: Say = lambda message: None,
        patience: Patience | None = None,
    ) -> None:
        given = connection(address, certificates)
        import distributed

        quiet_logs()
        self.address, self.patience = address, patience or Patience()
        self._most, self._say = most, say
        self._members: dict[str, Member] = {}
        self._lock = Lock()
        self._looked = self._heard = time.monotonic()
        try:
            self._client: Client = distributed.Client(
                address, timeout=self.patience.scheduler, set_as_default=False, **given
            )
        except (OSError, TimeoutError) as error:
            raise NncError(
                f"no scheduler answers at {address} ({_first_line(error)}); it may be another "
                "address, or be of a fleet with another key"
            ) from None

    def close(self) -> None:
        """Disconnect from the scheduler; running experiments are forgotten."""
        with suppress(Exception):  # whatever has become of the scheduler by now
            self._client.close(timeout=2)

    # -- members ---------------------------------------------------------------------------------

    def choose(self, wanted: Target) -> tuple[Target, str]:
        """The target of a search, and the processor that it is measured on.

        Both are those of some workers: of workers whose target is exactly `wanted` if there are
        any, else of workers whose target has the same name but other numbers; if these differ, of
        the most common kind. Raises NncError if there are no such workers.
        """
        deadline = time.monotonic() + self.patience.first
        while True:
            self._refresh()
            known = [one for one in self._all() if one.identity and not one.refused]
            identities = [one.identity for one in known if one.identity]
            exact = [one for one in identities if one.machine == detailed(wanted)]
            found = exact or [one for one in identities if one.measured.name == wanted.name]
            silent = any(not one.identity and not one.refused for one in self._all())
            if (found and not silent) or time.monotonic() > deadline:
                break
            time.sleep(LOOK)
        if not found:
            text = f"no worker at {self.address} is for {detailed(wanted)}"
            raise NncError(f"{text}; {self.joined()}")
        kinds = Counter((one.machine, one.processor) for one in found)
        (machine, processor), count = kinds.most_common(1)[0]
        self._say(f"{count} workers for {machine} on {processor}; {self.joined()}")
        return next(one for one in found if one.machine == machine).measured, processor

    def joined(self) -> str:
        """A description of all workers."""
        about = Counter(one.about for one in self._all())
        listed = ", ".join(f"{count} x {text}" for text, count in about.items())
        return f"joined are: {listed}" if listed else "none has joined"

    def _all(self) -> list[Member]:
        with self._lock:
            return list(self._members.values())

    def usable(self, machine: str, processor: str) -> list[Member]:
        """The workers that may run experiments for a machine now. Raises OverError."""
        self._refresh()
        wanted = (machine, processor)
        found = [
            one
            for one in self._all()
            if one.identity
            and not one.refused
            and (one.identity.machine, one.identity.processor) == wanted
        ]
        return found if self._most is None else found[: self._most]

    def free(self) -> list[Member]:
        """The workers that are idle now. Raises OverError."""
        self._refresh()
        found = [one for one in self._all() if one.identity and not one.refused and not one.busy]
        return found if self._most is None else found[: self._most]

    def targets(self) -> set[str]:
        """The names of the targets that workers exist for. Raises OverError."""
        self._refresh()
        known = (one.identity for one in self._all() if not one.refused)
        return {identity.measured.name for identity in known if identity}

    def _refresh(self) -> None:
        """Update the workers that came, went, or identified themselves. Raises OverError."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked < LOOK and self._members:
                return
            self._looked = now
            try:
                there = set(self._client.nthreads())  # type: ignore[arg-type]  # not async
                self._heard = now
            except Exception as error:  # of many kinds, by where the connection was cut
                if time.monotonic() - self._heard > self.patience.scheduler:
                    raise OverError(f"the scheduler {self.address} is gone") from error
                return
            for gone in self._members.keys() - there:
                del self._members[gone]
            for new in sorted(there - self._members.keys()):
                self._members[new] = Member(new, self._submit(new, fleet_board.identify), now)
            for one in self._members.values():
                if one.identity is None and not one.refused:
                    self._hear(one, now)

    def _hear(self, one: Member, now: float) -> None:
        """Record the identity of a new worker."""
        if now - one.since > self.patience.answer:
            one.refused = "a worker that does not answer"
        if not one.asked.done():
            return
        try:
            identity = Identity.read(_value(one.asked.result(timeout=_FETCH)))
        except TimeoutError:
            return
        except Exception as error:  # what it raises is up to the worker
            one.refused = f"a worker that cannot be used ({_first_line(error)})"
            return
        one.identity = identity
        if identity.nnc != this_nnc():
            one.refused = f"a worker with another nnc ({identity.nnc}, here {this_nnc()})"

    def reserve(self, members: Iterable[Member]) -> Member | None:
        """An idle worker, which is now busy; None if all are busy."""
        with self._lock:
            one = next((one for one in members if not one.busy), None)
            if one is not None:
                one.busy = True
            return one

    def refuse(self, one: Member, why: str) -> None:
        """Stop giving experiments to a worker."""
        one.refused = f"a worker that {why}"
        self._say(f"worker {one.address} is not used any more: it {why}")

    # -- calls -----------------------------------------------------------------------------------

    def _submit(self, address: str, function: Callable[..., Any], *arguments: Any) -> Future:
        return self._client.submit(
            function, *arguments, workers=[address], allow_other_workers=False, pure=False
        )

    def call(
        self,
        one: Member,
        seconds: float,
        wanted: Callable[[], bool],
        function: Callable[..., Any],
        *arguments: Any,
    ) -> Any:
        """The result of a function on a worker.

        It may take `seconds` seconds. Raises LostError if the worker is gone, does not answer in
        time or is unable, or the answer is no longer wanted; ExperimentError if the experiment
        failed; OverError if the scheduler is gone.
        """
        future = None
        deadline = time.monotonic() + seconds + self.patience.answer
        try:
            future = self._submit(one.address, function, *arguments)
            while True:
                if future.done():
                    # A worker that dies now takes the answer along, for which one would wait long.
                    with suppress(TimeoutError):
                        return _value(future.result(timeout=_FETCH))
                if not wanted():
                    raise LostError("it is not wanted any more")
                if time.monotonic() > deadline:
                    self.refuse(one, "did not answer in time")
                    raise LostError("its worker did not answer")
                self._refresh()
                if self._members.get(one.address) is not one:
                    raise LostError("its worker is gone")
                time.sleep(LOOK)
        except (ExperimentError, OverError):
            raise
        except _UnableError as error:
            self.refuse(one, f"is unable: {error}")
            raise LostError(f"its worker is unable: {error}") from None
        except Exception as error:  # a worker may raise anything, a cut connection much
            raise LostError(f"its worker is gone ({_first_line(error)})") from None
        finally:
            if future is not None:
                with suppress(Exception):
                    future.cancel()

    def send(self, one: Member, files: Mapping[str, Path], wanted: Callable[[], bool]) -> None:
        """Send files to a worker by their digests, except those that it has.

        Raises as `call` does.
        """
        for digest in self.call(one, 0, wanted, fleet_board.missing, list(files)):
            path, offset, last = files[digest], 0, False
            size = path.stat().st_size
            with path.open("rb") as file:
                while not last:
                    part = file.read(PART)
                    last = offset + len(part) >= size
                    self.call(one, 0, wanted, fleet_board.store, digest, part, offset, last)
                    offset += len(part)


def digest_of(path: Path) -> str:
    """The SHA-256 by which workers know a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


class _UnableError(Exception):
    pass


def _value(message: Any) -> Any:
    """The value in a worker's answer. Raises ExperimentError, _UnableError, MessageError."""
    if not isinstance(message, Mapping):
        raise MessageError("it answers in no way that is known")
    if "failed" in message:
        raise ExperimentError(str(message["failed"]))
    if "unable" in message:
        raise _UnableError(str(message["unable"]))
    if "value" not in message:
        raise MessageError("it answers in no way that is known")
    return message["value"]


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
