"""`nnc serve` under load: many simultaneous uploads, many jobs, and kills of the server.

    python -m bench.service                     SQLite and a folder
    python -m bench.service --outside           PostgreSQL and a store of S3, on this machine
    python -m bench.service --uploads 50 --megabytes 20 --jobs 1000 --kills 3     the default
    python -m bench.service --waiting           jobs that do nothing but wait for 30 ms

It starts `nnc serve` as a process, sends models as 50 clients that resume interrupted uploads,
orders 1,000 packages of a small model for targets that are not measured here, kills the server with
SIGKILL as often as requested, and restarts it. At the end every model must be stored unchanged, and
every job finished once. It prints the results, and exits with 1 if something was lost or done
twice.

With `--waiting`, a dispatcher of this file runs the jobs instead of the one that starts commands:
that measures the service alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
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
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import httpx
import numpy as np
from nnc.service.catalogue import Catalogue, EngineEntry, TargetEntry
from nnc.service.jobs import Job
from nnc.service.limits import Limits, Quota
from nnc.service.service import Service
from nnc.service.storage.schema import blobs as blobs_table
from nnc.service.storage.schema import job_files, jobs
from nnc.service.storage.schema import models as models_table
from nnc.service.web.server import Listening, bind, serve
from nnc.service.web.settings import loopback_settings
from sqlalchemy import func, select

from .stores import ObjectStore, Postgres, free_port

_ROOT = Path(__file__).resolve().parent.parent
_PART = 1 << 20
"""The bytes that a client sends at once."""
_WORKERS = 4
_LEASE = 30
_WAITING = 0.03
"""The duration of a job that only waits. Units: seconds."""
_TARGETS = ("metal", "metal-m2", "hls", "hls-u50", "hls-zynq7020", "cuda-sm80", "amd-gfx942",
            "cortex-a76")  # fmt: skip
"""The targets of orders, none of which is measured on the machines that this runs on."""
_PRECISIONS = ("f32", "f16", "bf16")


@dataclass(frozen=True)
class Load:
    """The requests to the server. With `job_seconds`, jobs only wait for so long; without, they run
    as by `nnc serve`.
    """

    uploads: int = 50
    bytes: int = 20_000_000
    jobs: int = 1000
    kills: int = 3
    job_seconds: float | None = None


@dataclass
class Found:
    """The results; without complaints nothing was lost or done twice."""

    peaks: list[int] = field(default_factory=list)
    """The peak memory (VmHWM) of each server, in bytes."""
    killed: list[str] = field(default_factory=list)
    """The progress at each kill."""
    seconds: float = 0.0
    attempts: int = 0
    """The number of jobs that had to be started again."""
    left: int = 0
    """Files in the store that were not recorded when a server was killed, and that a
    sweep removes.
    """
    complaints: list[str] = field(default_factory=list)


class Server:
    """The server's process, which can be killed and restarted."""

    def __init__(
        self, folder: Path, database: str | None, blobs: str | None, seconds: float | None
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        if seconds is None:
            words = ["nnc.tools.nnc", "serve", str(folder)]
        else:
            words = ["bench.service", "--serve", str(folder), "--job-seconds", str(seconds)]
        words += ["--port", str(self.port)]
        words += ["--database", database] if database else []
        words += ["--blobs", blobs] if blobs else []
        self._command = [sys.executable, "-m", *words]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(self._command, cwd=_ROOT, stdout=subprocess.DEVNULL)
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
        """Send a signal and wait for the end; returns the peak memory in bytes."""
        process = self._process
        assert process is not None
        peak = _peak(process.pid)
        process.send_signal(with_signal)
        process.wait(60)
        self._process = None
        return peak

    def kill(self) -> None:
        """Kill the server, if it still runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _peak(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("no VmHWM")


class Client:
    """A user's program that retries after every failure."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60
        )

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The answer to a request, repeated until there is one."""
        while True:
            try:
                return self._http.request(method, path, **more)
            except httpx.TransportError:
                time.sleep(0.2)

    def upload(self, seed: int, size: int) -> tuple[str, str]:
        """Send a model; returns its id and its digest."""
        content = model(seed, size)
        digest = hashlib.sha256(content).hexdigest()
        name = f"{seed}.onnx"
        id = self._begin(name, len(content), digest)
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
        """Announce a file once, even if the answer was lost; returns the upload's id."""
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
        """Order `jobs` jobs, none twice although answers may be lost."""
        while (missing := jobs - self.jobs_ordered()) > 0:
            targets = _TARGETS[:missing]
            precisions = _PRECISIONS[: missing // len(targets)]
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
        """The number of jobs of all orders."""
        return sum(len(order["jobs"]) for order in self.orders())


def model(seed: int, size: int) -> bytes:
    """An ONNX file of about so many bytes: a product with a square matrix of random numbers."""
    from onnx import TensorProto, helper, numpy_helper

    n = int((size / 4) ** 0.5)
    numbers = np.frombuffer(random.Random(seed).randbytes(2 * n * n), np.int16)
    weights = numpy_helper.from_array(numbers.reshape(n, n).astype(np.float32) / 2**15, "w")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n]) for name in "xy")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y])
    graph.initializer.append(weights)
    ids = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=ids).SerializeToString()


def run_load(
    load: Load, folder: Path, database: str | None = None, blobs: str | None = None
) -> Found:
    """Put a new service in a folder under load; returns the results."""
    service = Service(
        folder, catalogue=_catalogue(), database=database, blobs=blobs, limits=_limits()
    )
    user = service.accounts.add("load", _limits().quota)
    token = service.accounts.add_token(user, "load")[1]
    found, started = Found(), time.monotonic()
    server = Server(folder, database, blobs, load.job_seconds)
    ends = Ends(service, found)
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
                _wait_for(service, load, (kill + 1) / (load.kills + 1), ends)
                found.peaks.append(server.end(signal.SIGKILL))
                server.start()
            ordering.result()
            sent = [first, *(future.result() for future in sending)]
        _wait_for(service, load, 1.0, ends)
        _check(Client(server.url, token), service, sent, load, found)
        found.peaks.append(server.end(signal.SIGTERM))
    finally:
        server.kill()
        service.close()
    found.seconds = time.monotonic() - started
    return found


class Ends:
    """Checks that each job ends once and does not change afterwards."""

    def __init__(self, service: Service, found: Found) -> None:
        self._service, self.found = service, found
        self._seen: dict[str, tuple[str, float]] = {}

    def look(self) -> None:
        """Complain about jobs whose end has changed since the last call."""
        query = select(jobs.c.id, jobs.c.state, jobs.c.ended).where(jobs.c.ended.is_not(None))
        with self._service.database.read() as connection:
            now = {row.id: (row.state, row.ended) for row in connection.execute(query)}
        for id, before in self._seen.items():
            if now.get(id) != before:
                self.found.complaints.append(f"job {id} was {before}, then {now.get(id)}")
        self._seen = now


def _bytes_of(file: Path) -> int:
    """The size of a file; 0 if it no longer exists."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _wait_for(service: Service, load: Load, part: float, ends: Ends) -> None:
    """Wait until this part of the jobs, from 0 to 1, is done."""
    wanted = part * (load.jobs + load.uploads + 1)
    shown = time.monotonic()
    while True:
        counts = service.queue.counts()
        ends.look()
        uploads = sum(map(_bytes_of, (service.folder / "uploads").iterdir()))
        line = f"{counts}, {uploads / 1e6:.0f} MB under way"
        if counts.get("done", 0) + counts.get("failed", 0) >= wanted:
            ends.found.killed.append(line)
            return
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            print(line, file=sys.stderr, flush=True)
        time.sleep(0.1)


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
            complain(f"model {id}: {models[id]['state']}, {job['error']}")
        for part in service.blobs.read(_blob_of(service, id)):
            content.update(part)
        if content.hexdigest() != digest:
            complain(f"model {id} is stored with another content")
    ordered = [job for order in client.orders() for job in order["jobs"]]
    if len(ordered) != load.jobs or len({job["id"] for job in ordered}) != load.jobs:
        complain(f"{len(ordered)} jobs of {load.jobs} that were ordered")
    for job in ordered:
        if job["state"] != "done":
            complain(f"job {job['id']}: {job['state']}, {job['error']}")
        elif fault := _fault(client, job, load):
            complain(f"job {job['id']}: {fault}")
    _check_stored(service, found)


def _fault(client: Client, job: dict[str, Any], load: Load) -> str:
    """What is wrong with a job's results; empty if nothing is."""
    at = f"/jobs/{job['id']}"
    report = client.ask("GET", at).json()["report"]
    if load.job_seconds is not None:
        log = client.ask("GET", f"{at}/log").text
        return "" if log == f"{job['id']} {report['attempt']}" else f"its log is {log!r}"
    package = client.ask("GET", f"{at}/package")
    with ZipFile(BytesIO(package.content)) as opened:
        inside = json.loads(opened.read("package/report.json"))
        named = opened.read("package/README.md").decode()
    asked = job["options"]["target"], job["options"]["precision"]
    if inside != report or (inside["target"]["name"], inside["precision"]) != asked:
        return "its package is of another job"
    return "" if inside["model"]["name"] in named else "its package is of another model"


def _check_stored(service: Service, found: Found) -> None:
    """Check that each job has each of its results once, and that the store has no unknown files."""
    of_models = select(func.count()).select_from(models_table)
    with service.database.read() as connection:
        found.attempts = int(connection.scalar(select(func.sum(jobs.c.attempt - 1))) or 0)
        rows = connection.execute(select(blobs_table.c.id, blobs_table.c.bytes)).all()
        files = connection.execute(select(job_files.c.job, job_files.c.name)).all()
        expected = int(connection.scalar(of_models) or 0) + len(files)
    if len(set(files)) != len(files) or len(rows) != expected:
        found.complaints.append(f"{len(rows)} files are known, of {expected}")
    if wrong := [row.id for row in rows if service.blobs.size(row.id) != row.bytes]:
        found.complaints.append(f"{len(wrong)} files are not in the store as they are noted")
    found.left = sum(1 for _ in service.blobs.identifiers()) - len(rows)


def _blob_of(service: Service, model: str) -> str:
    query = select(models_table.c.blob).where(models_table.c.id == model)
    with service.database.read() as connection:
        return str(connection.scalar(query))


def _catalogue() -> Catalogue:
    targets = [TargetEntry(name, "a target", True) for name in _TARGETS]
    return Catalogue(targets, [EngineEntry("nnc", "this compiler", True)], _PRECISIONS)


def _limits() -> Limits:
    return Limits(quota=Quota(bytes=1 << 40, jobs=100_000), free_bytes=0)


@contextmanager
def cheap_dispatcher(service: Service, seconds: float) -> Iterator[None]:
    """Run jobs, while the block runs, by waiting a little and writing one line."""
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
    with tempfile.TemporaryDirectory() as folder:
        while not stopping.is_set():
            job = service.queue.claim(name, _LEASE)
            if job is None:
                stopping.wait(0.05)
                continue
            stopping.wait(seconds)
            _finish(service, job, Path(folder))


def _finish(service: Service, job: Job, folder: Path) -> None:
    service.queue.progress(job, {"step": "wait", "done": 1.0, "text": "waited"})
    log = folder / "log"
    log.write_text(f"{job.id} {job.attempt}")
    service.queue.finish(job, "done", {"attempt": job.attempt}, {"log": log})


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
        seconds = args.job_seconds or _WAITING
        serve(service, settings, Listening(listener), (lambda it: cheap_dispatcher(it, seconds),))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="bench.service", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    for name, default in (("uploads", 50), ("megabytes", 20), ("jobs", 1000), ("kills", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--waiting", action="store_true", help="jobs that run no commands")
    parser.add_argument("--outside", action="store_true", help="PostgreSQL and a store of S3")
    for name in ("--serve", "--database", "--blobs"):
        parser.add_argument(name, help=argparse.SUPPRESS)  # of the server's own process
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--job-seconds", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        _serve(args)
        return 0
    seconds = _WAITING if args.waiting else None
    load = Load(args.uploads, args.megabytes * 10**6, args.jobs, args.kills, seconds)
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
    print(
        f"largest memory of each server: {peaks} MB; {found.attempts} jobs were begun again, "
        f"{found.left} files are left for the sweep"
    )
    print(f"{found.seconds:.0f} s; " + ("; ".join(found.complaints) or "nothing lost, none twice"))
    return 1 if found.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
