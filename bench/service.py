"""`nnc serve` under load: many uploads at once, many jobs, a server that is killed meanwhile.

    python -m bench.service                     SQLite and a folder
    python -m bench.service --outside           PostgreSQL and a store of S3, on this machine
    python -m bench.service --uploads 50 --megabytes 20 --jobs 1000 --kills 3     the default

It starts the server as a process, sends models as 50 clients do who resume what breaks off, orders
1,000 packages, kills the server with SIGKILL as often as asked, and starts it again. At the end
every model has to be there as it was sent, and every job finished once. Jobs are cheap ones here,
carried out by a dispatcher of this file in place of the one that runs commands: what is measured is
the service. It prints what was found, and exits with 1 where something was lost or done twice.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from nnc.service.catalogue import Catalogue, EngineEntry, TargetEntry
from nnc.service.limits import Limits, Quota
from nnc.service.queue import Job
from nnc.service.service import Service
from nnc.service.web.server import Listening, bind, serve
from nnc.service.web.settings import loopback_settings

from .stores import ObjectStore, Postgres, free_port

_ROOT = Path(__file__).resolve().parent.parent
_PART = 1 << 20
"""Bytes that a client sends at once."""
_WORKERS = 4
_LEASE = 30
_TARGETS = 8
"""Of an order; with eight precisions it is 64 jobs, as many as one may have."""


@dataclass(frozen=True)
class Load:
    """What is asked of the server; `job_seconds` is how long a worker takes for a job."""

    uploads: int = 50
    bytes: int = 20_000_000
    jobs: int = 1000
    kills: int = 3
    job_seconds: float = 0.03


@dataclass
class Found:
    """What was found; without complaints nothing was lost and nothing done twice."""

    peaks: list[int] = field(default_factory=list)
    """VmHWM of each server, in bytes."""
    killed: list[str] = field(default_factory=list)
    """How far everything was at each kill."""
    seconds: float = 0.0
    attempts: int = 0
    """Jobs that had to be begun again."""
    complaints: list[str] = field(default_factory=list)


class Server:
    """The server's process, which can be killed and started again."""

    def __init__(self, folder: Path, database: str | None, blobs: str | None, seconds: float):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        words = ["--serve", str(folder), "--port", str(self.port), "--job-seconds", str(seconds)]
        words += ["--database", database] if database else []
        words += ["--blobs", blobs] if blobs else []
        self._command = [sys.executable, "-m", "bench.service", *words]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(self._command, cwd=_ROOT)
        for _ in range(600):
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with {self._process.returncode}")
            try:
                if httpx.get(f"{self.url}/healthz", timeout=5).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def end(self, with_signal: signal.Signals) -> int:
        """Send it a signal; its largest memory until then, in bytes."""
        process = self._process
        assert process is not None
        peak = _peak(process.pid)
        process.send_signal(with_signal)
        process.wait(60)
        self._process = None
        return peak

    def kill(self) -> None:
        """Make sure that it does not outlive who measures."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _peak(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("no VmHWM")


class Client:
    """A user's program that goes on after whatever breaks."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60
        )

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """An answer, after as many tries as it takes until there is one."""
        while True:
            try:
                return self._http.request(method, path, **more)
            except httpx.TransportError:
                time.sleep(0.2)

    def upload(self, seed: int, size: int) -> tuple[str, str]:
        """Send a file; the id of the model, and its digest."""
        content = random.Random(seed).randbytes(size)
        digest = hashlib.sha256(content).hexdigest()
        name = f"{seed}.onnx"
        id = self._begin(name, size, digest)
        offset = 0
        while True:
            part = content[offset : offset + _PART]
            headers = {"Upload-Offset": str(offset), "Content-Type": "application/octet-stream"}
            answer = self.ask("PATCH", f"/uploads/{id}", headers=headers, content=part)
            if answer.status_code == 409:  # it was broken off: where was that?
                answer = self.ask("GET", f"/uploads/{id}")
            if not answer.is_success:
                raise RuntimeError(f"upload {name}: {answer.status_code} {answer.text}")
            shown = answer.json()
            if "model" in shown:
                return shown["model"], digest
            offset = shown["offset"]

    def _begin(self, name: str, size: int, digest: str) -> str:
        """Announce a file once, even if the answer was lost."""
        while True:
            for row in self.ask("GET", "/uploads").json():
                if row["name"] == name:
                    return row["id"]
            asked = {"name": name, "bytes": size, "sha256": digest}
            try:
                answer = self._http.post("/uploads", json=asked)
                answer.raise_for_status()
                return answer.json()["id"]
            except httpx.TransportError:
                time.sleep(0.2)

    def order(self, model: str, jobs: int) -> None:
        """Order so many jobs, none twice although answers may be lost."""
        while (missing := jobs - self.jobs_ordered()) > 0:
            targets = [f"t{at}" for at in range(min(missing, _TARGETS))]
            precisions = [f"p{at}" for at in range(min(missing // len(targets), _TARGETS))]
            try:
                self._http.post(
                    f"/models/{model}/orders", json={"targets": targets, "precisions": precisions}
                ).raise_for_status()
            except httpx.TransportError:
                time.sleep(0.2)

    def orders(self) -> list[dict[str, Any]]:
        """All orders with their jobs."""
        return self.ask("GET", "/orders").json()

    def jobs_ordered(self) -> int:
        """How many jobs there are of all orders."""
        return sum(len(order["jobs"]) for order in self.orders())


def run_load(
    load: Load, folder: Path, database: str | None = None, blobs: str | None = None
) -> Found:
    """Put a new service in a folder under load, and say what was found."""
    service = Service(
        folder, catalogue=_catalogue(), database=database, blobs=blobs, limits=_limits()
    )
    user = service.accounts.add("load")
    token = service.accounts.add_token(user, "load")[1]
    found, started = Found(), time.monotonic()
    server = Server(folder, database, blobs, load.job_seconds)
    try:
        server.start()
        with ThreadPoolExecutor(load.uploads + 1) as pool:
            first = Client(server.url, token).upload(-1, 1000)
            ordering = pool.submit(Client(server.url, token).order, first[0], load.jobs)
            sending = [
                pool.submit(Client(server.url, token).upload, seed, load.bytes)
                for seed in range(load.uploads)
            ]
            for kill in range(load.kills):
                _wait_for(service, load, (kill + 1) / (load.kills + 1), found)
                found.peaks.append(server.end(signal.SIGKILL))
                server.start()
            ordering.result()
            sent = [first, *(future.result() for future in sending)]
        _wait_for(service, load, 1.0, found)
        _check(Client(server.url, token), service, sent, load, found)
        found.peaks.append(server.end(signal.SIGTERM))
    finally:
        server.kill()
        service.close()
    found.seconds = time.monotonic() - started
    return found


def _wait_for(service: Service, load: Load, part: float, found: Found) -> None:
    """Wait until this part of the jobs is done."""
    wanted = part * (load.jobs + load.uploads + 1)
    while True:
        counts = service.queue.counts()
        if counts.get("done", 0) + counts.get("failed", 0) >= wanted:
            uploads = sum(file.stat().st_size for file in (service.folder / "uploads").iterdir())
            found.killed.append(f"{counts}, {uploads / 1e6:.0f} MB under way")
            return
        time.sleep(0.05)


def _check(
    client: Client, service: Service, sent: list[tuple[str, str]], load: Load, found: Found
) -> None:
    complain = found.complaints.append
    models = {row["id"]: row for row in client.ask("GET", "/models").json()}
    if set(models) != {id for id, _ in sent} or len(sent) != load.uploads + 1:
        complain(f"{len(models)} models of {load.uploads + 1} that were sent")
    for id, digest in sent:
        content = hashlib.sha256()
        job = client.ask("GET", f"/jobs/{models[id]['look_job']}").json()
        if models[id]["sha256"] != digest or job["state"] != "done":
            complain(f"model {id}: {models[id]['state']}")
        for part in service.blobs.read(_blob_of(service, id)):
            content.update(part)
        if content.hexdigest() != digest:
            complain(f"model {id} is stored with another content")
    jobs = [job for order in client.orders() for job in order["jobs"]]
    if len(jobs) != load.jobs or len({job["id"] for job in jobs}) != load.jobs:
        complain(f"{len(jobs)} jobs of {load.jobs} that were ordered")
    ledger = (service.folder / "finished").read_text().split()
    for job in jobs:
        report = client.ask("GET", f"/jobs/{job['id']}").json()["report"]
        log = client.ask("GET", f"/jobs/{job['id']}/log").text
        if job["state"] != "done" or log != f"{job['id']} {report['attempt']}":
            complain(f"job {job['id']}: {job['state']}, {log!r}")
        if ledger.count(job["id"]) > 1:
            complain(f"job {job['id']} was finished {ledger.count(job['id'])} times")
        found.attempts += report["attempt"] - 1
    with service.database.read() as connection:
        used = service.files.used(connection, service.accounts.find("load").id)
    expected = 1000 + load.uploads * load.bytes
    logs = used - expected
    if not 0 <= logs < 40 * (load.jobs + load.uploads + 1):
        complain(f"{used:,} bytes are said to be used where {expected:,} were sent")


def _blob_of(service: Service, model: str) -> str:
    from nnc.service.storage.schema import models
    from sqlalchemy import select

    with service.database.read() as connection:
        return str(connection.scalar(select(models.c.blob).where(models.c.id == model)))


def _catalogue() -> Catalogue:
    targets = [TargetEntry(f"t{at}", "a target", True) for at in range(_TARGETS)]
    precisions = [f"p{at}" for at in range(_TARGETS)]
    return Catalogue(targets, [EngineEntry("nnc", "this compiler", True)], precisions)


def _limits() -> Limits:
    return Limits(quota=Quota(bytes=1 << 40, jobs=100_000), free_bytes=0)


@contextmanager
def cheap_dispatcher(service: Service, seconds: float) -> Iterator[None]:
    """Carry out jobs by waiting a little and writing one line."""
    stopping = threading.Event()
    names = [f"load:{number}" for number in range(_WORKERS)]
    threads = [
        threading.Thread(target=_work, args=(service, name, seconds, stopping)) for name in names
    ]
    for name in names:
        service.queue.release(name)
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


def _work(service: Service, name: str, seconds: float, stopping: threading.Event) -> None:
    ledger = (service.folder / "finished").open("a", buffering=1)
    with ledger, tempfile.TemporaryDirectory() as folder:
        while not stopping.is_set():
            job = service.queue.claim(name, _LEASE)
            if job is None:
                stopping.wait(0.05)
                continue
            stopping.wait(seconds)
            if _finish(service, job, Path(folder)):
                ledger.write(f"{job.id}\n")


def _finish(service: Service, job: Job, folder: Path) -> bool:
    service.queue.progress(job, {"step": "wait", "done": 1.0, "text": "waited"})
    log = folder / "log"
    log.write_text(f"{job.id} {job.attempt}")
    return service.queue.finish(job, "done", {"attempt": job.attempt}, {"log": log})


def _serve(args: argparse.Namespace) -> None:
    service = Service(
        Path(args.serve),
        catalogue=_catalogue(),
        database=args.database,
        blobs=args.blobs,
        limits=_limits(),
    )
    with service.alone(), bind("127.0.0.1", args.port) as listener:
        settings = loopback_settings(args.port)
        seconds = args.job_seconds
        serve(service, settings, Listening(listener), (lambda it: cheap_dispatcher(it, seconds),))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="bench.service", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    for name, default in (("uploads", 50), ("megabytes", 20), ("jobs", 1000), ("kills", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--job-seconds", type=float, default=0.03)
    parser.add_argument("--outside", action="store_true", help="PostgreSQL and a store of S3")
    for name in ("--serve", "--database", "--blobs"):
        parser.add_argument(name, help=argparse.SUPPRESS)  # of the server's own process
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        _serve(args)
        return 0
    load = Load(args.uploads, args.megabytes * 10**6, args.jobs, args.kills, args.job_seconds)
    with ExitStack() as stack:
        database = blobs = None
        if args.outside:
            database = stack.enter_context(Postgres()).new_database()
            blobs = stack.enter_context(ObjectStore()).new_bucket()
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        found = run_load(load, Path(folder) / "service", database, blobs)
    for at, line in enumerate(found.killed):
        print(f"{'killed' if at < load.kills else 'at the end'}: {line}")
    peaks = ", ".join(f"{peak / 1e6:.0f}" for peak in found.peaks)
    print(f"largest memory of each server: {peaks} MB; {found.attempts} jobs were begun again")
    print(f"{found.seconds:.0f} s; " + ("; ".join(found.complaints) or "nothing lost, none twice"))
    return 1 if found.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
