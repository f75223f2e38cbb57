"""The long-running processes of a fleet: its scheduler and its workers.

Both are Dask's, without Dask's HTTP server, which has neither encryption nor a password.
"""

from __future__ import annotations

import asyncio
import os
import platform
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from ...ir.diagnostics import NncError
from ...targets.base import Target
from .fleet_board import Board, join
from .fleet_membership import connection, is_loopback, membership, quiet_logs

Say = Callable[[str], None]

NO_HTTP = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""Dask always opens an HTTP port: here on loopback, and without a dashboard."""
SETTINGS = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,  # it takes samples while experiments are timed
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.scheduler.allowed-failures": 0,  # the tuner says where a lost experiment goes
}
"""Dask's settings in the processes of a fleet."""
_JOINING = 20.0
"""Seconds in which a worker must reach its scheduler."""


def serve_scheduler(host: str, port: int, folder: Path, say: Say) -> None:
    """Run the scheduler of the fleet of a folder until Ctrl-C or SIGTERM. Raises NncError."""
    security = membership(folder)
    import distributed
    from dask import config

    async def serve() -> None:
        try:
            scheduler = await distributed.Scheduler(
                host=host, port=port, protocol="tls", security=security, **NO_HTTP
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise NncError(f"cannot listen at {host}:{port}: {_cause(error)}") from None
        asked = _termination()
        say(f"the scheduler is {scheduler.address}")
        try:
            await _finished_or_terminated(scheduler, asked)
        finally:
            await scheduler.close()

    quiet_logs()
    with config.set(SETTINGS):
        asyncio.run(serve())


def serve_worker(
    address: str,
    certificates: Path | None,
    target: Target,
    say: Say,
    also: Callable[[Any, Board], None] = lambda worker, board: None,
) -> None:
    """Run experiments for a target until Ctrl-C or SIGTERM.

    `also` gets Dask's worker and its board before the first experiment. Raises NncError if code for
    the target does not run here, and if there is no scheduler (any more).
    """
    if why := target.not_timed():
        raise NncError(f"nnc worker measures, and code for '{target.name}' cannot be: {why}")
    given = connection(address, certificates)
    from dask import config

    quiet_logs()
    with config.set(SETTINGS), TemporaryDirectory(prefix="nnc-worker-") as folder:
        board = Board(target)
        try:
            terminated = asyncio.run(_work(address, given, board, Path(folder), say, also))
        finally:
            board.close()
    if not terminated:
        raise NncError(f"the scheduler {address} is gone")


async def _work(
    address: str,
    given: dict[str, Any],
    board: Board,
    folder: Path,
    say: Say,
    also: Callable[[Any, Board], None],
) -> bool:
    """Run a worker; returns whether it was told to end, rather than left by its scheduler."""
    import distributed

    host = urlsplit(address).hostname or ""
    try:
        worker = await distributed.Worker(
            address,
            nthreads=1,
            name=f"{platform.node()}-{os.getpid()}",
            host="127.0.0.1" if is_loopback(host) else None,
            local_directory=str(folder),
            memory_limit=0,
            death_timeout=_JOINING,
            **NO_HTTP,
            **given,
        )
    except (OSError, TimeoutError, RuntimeError, ValueError) as error:
        raise NncError(f"no scheduler answers at {address} ({_cause(error)})") from None
    join(worker, board)
    also(worker, board)
    asked = _termination()
    say(f"joined {address} for '{board.target.name}'")
    try:
        return await _finished_or_terminated(worker, asked)
    finally:
        board.close()
        with suppress(Exception):  # the scheduler may be gone
            await worker.close(timeout=2, executor_wait=False)


def _termination() -> asyncio.Event:
    """An event that is set when SIGTERM asks this process to end."""
    asked = asyncio.Event()
    with suppress(NotImplementedError):  # Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    return asked


async def _finished_or_terminated(server: Any, asked: asyncio.Event) -> bool:
    """Wait until a server has ended or is asked to; returns whether it was asked."""
    tasks = [asyncio.ensure_future(server.finished()), asyncio.ensure_future(asked.wait())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    return asked.is_set()


def _cause(error: BaseException) -> str:
    """The root cause of a Dask error, in one line; for a timeout, the error that was waited on."""
    while below := error.__cause__ or (None if str(error) else error.__context__):
        error = below
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
