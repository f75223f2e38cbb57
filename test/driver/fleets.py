"""A fleet in this process: a scheduler and workers on loopback, whose boards do what tests say.

All but the experiment itself is what `nnc fleet scheduler` and `nnc worker` run. It ends with the
block that it is made in.
"""

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import distributed
from dask import config
from nnc.driver.tuning.fleet_board import Board, join
from nnc.driver.tuning.fleet_membership import membership, quiet_logs
from nnc.driver.tuning.fleet_server import NO_HTTP, SETTINGS
from nnc.driver.tuning.worker import Answer
from nnc.targets.base import host, processor_name

WAIT = 120.0


class FakeBoard(Board):
    """A board whose experiments are a function of the schedules' `told`, by kernel."""

    def __init__(self, folder, measured, processor=None, target=None):
        super().__init__(target or host(), folder)
        self.measured, self.processor = measured, processor or processor_name()

    def _prepared(self, folder, job):
        folder.mkdir()
        self.got = {name: self._held(one).read_bytes() for name, one in job["files"].items()}

        def run(found, seconds, whole):
            told = {key: one.told for key, one in found.items()}
            pairs = self.measured(told)
            if not isinstance(pairs, dict):
                return pairs
            kernels = {key: [(100.0, 100.0 * ratio)] * 9 for key, ratio in pairs.items()}
            return Answer(kernels, [(100.0, 90.0)] * 9, processor=self.processor)

        return SimpleNamespace(limit=600.0, run=run, close=lambda: None)


class InProcess:
    """The loop of a scheduler and its workers, in a thread."""

    def __init__(self, folder, protocol):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.given = {"security": membership(folder)} if protocol == "tls" else {}
        self.scheduler = self.do(self._scheduler(protocol))
        self.workers = []

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(WAIT)

    async def _scheduler(self, protocol):
        return await distributed.Scheduler(
            host="127.0.0.1", port=0, protocol=protocol, **NO_HTTP, **self.given
        )

    @property
    def address(self):
        return self.scheduler.address

    def add(self, board):
        """One more worker, with a board if it is nnc's."""

        async def made():
            worker = await distributed.Worker(
                self.address, nthreads=1, host="127.0.0.1", memory_limit=0, **NO_HTTP, **self.given
            )
            if board is not None:
                join(worker, board)
            return worker

        self.workers.append(self.do(made()))
        return self.workers[-1]

    def kill(self, worker):
        """Have a worker's connections end as when its process is killed."""

        async def cut():
            worker.batched_stream.comm.abort()
            await worker.rpc.close()

        with suppress(Exception):
            self.do(cut())

    def close_scheduler(self):
        with suppress(Exception):
            self.do(self.scheduler.close())

    def close(self):
        for worker in self.workers:
            with suppress(Exception):
                self.do(worker.close(timeout=0.1, executor_wait=False))
        self.close_scheduler()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT)


@contextmanager
def fleet_here(folder, protocol="tls"):
    """A fleet whose key is in the folder."""
    quiet_logs()
    with config.set(SETTINGS):
        made = InProcess(folder, protocol)
        try:
            yield made
        finally:
            made.close()


def later(function, *arguments):
    """What a function gives, by a thread of its own."""
    future = Future()

    def run():
        try:
            future.set_result(function(*arguments))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
