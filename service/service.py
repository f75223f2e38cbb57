"""The service without its web interface: all of its state."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..delivery.carrying.kept import Kept
from ..ir.diagnostics import NncError
from .accounts import Accounts
from .catalogue import Catalogue
from .limits import Limits
from .models import Models
from .orders import Orders
from .queue import Queue
from .storage.blobs import translated
from .storage.database import Database
from .storage.files import Files
from .storage.open_blobs import open_blobs
from .uploads import Uploads


class Service:
    """The state that a server, a dispatcher and an operator's commands work on.

    In the folder: `service.sqlite` and `blobs/` unless URLs name other places, `uploads/` for
    arriving files, `work/` for running jobs, `kept/` for what jobs with the same model share.
    """

    def __init__(
        self,
        folder: Path,
        *,
        catalogue: Catalogue,
        database: str | None = None,
        blobs: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.folder = folder
        self.limits = limits or Limits()
        self.catalogue = catalogue
        with translated(f"use '{folder}'"):
            folder.mkdir(parents=True, exist_ok=True)
            os.chmod(folder, 0o700)
        self.database = Database(database or f"sqlite:///{(folder / 'service.sqlite').resolve()}")
        self.database.prepare()
        self.blobs = open_blobs(blobs, folder / "blobs")
        self.files = Files(self.database, self.blobs)
        self.accounts = Accounts(self.database, self.files, self.limits)
        self.queue = Queue(self.database, self.files, self.limits)
        self.uploads = Uploads(
            self.database, self.files, self.queue, folder / "uploads", self.limits
        )
        self.kept = Kept(folder / "kept")
        self.models = Models(self.database, self.files, self.queue, self.kept)
        self.orders = Orders(
            self.database, self.files, self.queue, self.models, catalogue, self.limits
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder for this process alone. Raises NncError if another one serves it."""
        with translated(f"use '{self.folder}'"):
            handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise NncError(f"another nnc serve uses the folder '{self.folder}'") from None
        finally:
            os.close(handle)

    def sweep(self) -> None:
        """Delete what is no longer needed: idle uploads, old sessions, orphaned blobs."""
        self.accounts.sweep()
        self.uploads.sweep()
        self.files.reap()
        self.files.sweep()
        self.kept.sweep(self.models.identifiers())

    def close(self) -> None:
        """Close the database."""
        self.database.close()
