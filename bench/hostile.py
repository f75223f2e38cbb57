"""Sends broken and malicious uploads to `nnc serve`.

    python -m bench.hostile --uploads 10000
    python -m bench.hostile --uploads 10000 --seed monday --record hostile.json

It starts the server as a process, sends the uploads (bench/hostile_files.py) as two users, and
waits until all were checked. It prints the results. It exits with 1 if the server ended or answered
with an internal error, or needed more than 500 MB; if a file of the machine or of the other user
appeared in an answer; if a job exceeded its limits; if a process of a job had a network or
remained; or if something connected to a port that only these uploads know.

The uploads are the same for the same seed. They are sent in batches, each to a new server. With
`--record`, the results are stored after each batch, and the same command resumes an interrupted
run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import httpx
from nnc.delivery.carrying.carry import LOOK_SECONDS, PAGE_SECONDS
from nnc.service.catalogue import Catalogue
from nnc.service.limits import Quota
from nnc.service.service import Service

from .hostile_archives import WRITTEN
from .hostile_files import Hostile, spread
from .hostile_models import private
from .hostile_orders import TARGET, Inputs, refused_orders
from .stores import free_port

_MOST_MEMORY = 500_000_000
_ENDING = 30.0
"""The seconds that a job may take beyond its limits, to end and to be committed on
a busy machine.
"""
_USERS = ("ann", "bob")
_DEFECTS = ("Traceback", "internal error", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE")
"""Words in error messages that show that a command crashed instead of refusing the model."""
_SLOWEST = 10
_UPLOADS_OF_AN_ORDER = 20
"""For each so many uploads, a package with malicious inputs is ordered, and one that must be
refused.
"""
_SPENT = re.compile(r"^\[.* ([\d.]+) s of processor time", re.MULTILINE)
"""The processor time of a command in a job's log."""


@dataclass
class Found:
    """The results of all uploads; without complaints, all is well.

    Units: seconds, bytes.
    """

    uploads: int = 0
    states: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    orders: Counter[str] = field(default_factory=Counter)
    """The number of packages with malicious inputs, by outcome."""
    longest: float = 0.0
    slowest: list[tuple[float, str, str]] = field(default_factory=list)
    """The jobs with the most processor time: the time, the name and the outcome."""
    spent: float = 0.0
    """The processor time of all jobs' commands."""
    memory: int = 0
    processes: int = 0
    """The number of inspections of jobs' running processes."""
    seconds: float = 0.0
    complaints: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Add other results to these."""
        added = ("uploads", "states", "errors", "orders", "spent", "processes", "seconds")
        for name in (*added, "complaints"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.longest = max(self.longest, other.longest)
        self.slowest = sorted([*self.slowest, *other.slowest], reverse=True)[:_SLOWEST]
        self.memory = max(self.memory, other.memory)

    def as_json(self) -> dict[str, Any]:
        """All results as JSON data, for `read`."""
        return vars(self)

    @staticmethod
    def read(kept: dict[str, Any]) -> Found:
        """The results that `as_json` returned."""
        found = Found(**kept)
        for name in ("states", "errors", "orders"):
            setattr(found, name, Counter(getattr(found, name)))
        found.slowest = [(seconds, name, what) for seconds, name, what in found.slowest]
        return found


class _Guard(threading.Thread):
    """Inspects the processes of running jobs, and listens on the port to which uploads try to
    connect.
    """

    def __init__(self, server: int, found: Found) -> None:
        super().__init__(daemon=True)
        self._server, self._found = server, found
        self._stopping = threading.Event()
        self._ours = os.readlink("/proc/self/ns/net")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)

    def run(self) -> None:
        while not self._stopping.wait(0.05):
            self.look()

    def look(self) -> None:
        """Record complaints about jobs' processes with a network or without a
        system call filter.
        """
        for pid in descendants(self._server):
            with suppress(OSError, StopIteration):
                home = Path(f"/proc/{pid}")
                lines = (home / "status").read_text().splitlines()
                spaces = next(one for one in lines if one.startswith("NSpid")).split()
                if len(spaces) < 3:
                    continue  # of the server, or not yet confined
                self._found.processes += 1
                if os.readlink(home / "ns" / "net") == self._ours:
                    self._found.complaints.append(f"a process of a job had a network: {pid}")
                seccomp = next(one for one in lines if one.startswith("Seccomp:")).split()[1]
                if seccomp != "2" and int(spaces[-1]) > 1:
                    self._found.complaints.append(f"a process of a job was not filtered: {pid}")
        with suppress(BlockingIOError):
            self.listener.accept()
            self._found.complaints.append("something connected")

    def stop(self) -> None:
        """Stop the thread."""
        self._stopping.set()
        self.join()
        self.listener.close()


def descendants(pid: int) -> Iterator[int]:
    """The ids of all processes that a process has started, directly or indirectly."""
    waiting = [pid]
    while waiting:
        tasks = Path(f"/proc/{waiting.pop()}/task")
        with suppress(OSError):  # where it has ended meanwhile
            for name in os.listdir(tasks):
                with suppress(OSError):
                    children = (tasks / name / "children").read_text().split()
                    waiting += map(int, children)
                    yield from map(int, children)


def run_hostile(
    uploads: int,
    folder: Path,
    first: int = 0,
    seed: str = "hostile",
    clients: int = 4,
    orders: int = 0,
) -> Found:
    """Send uploads and orders to a new server; returns the results.

    Raises FileExistsError if the file that malicious uploads try to write exists already.
    """
    if WRITTEN.exists():
        raise FileExistsError(f"remove {WRITTEN}: whether uploads write it is what is to be seen")
    found, started = Found(uploads=uploads), time.monotonic()
    home = folder / "service"
    service = Service(home, catalogue=Catalogue((), ()))
    quota = Quota(bytes=1 << 40, jobs=1 << 30)
    tokens = {}
    for name in _USERS:
        user = service.accounts.add(name, quota)
        tokens[name] = service.accounts.add_token(user, "test")[1]
    service.close()
    canary = secrets.token_hex(16)
    paths = [*spread(folder, canary), home / "service.sqlite"]
    port = free_port()
    command = [sys.executable, "-m", "nnc.tools.nnc", "serve", str(home), "--port", str(port)]
    command += ["--looks", str(max(2, os.cpu_count() or 1))]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    guard = _Guard(server.pid, found)
    try:
        people = [_Person(port, tokens[name]) for name in _USERS]
        people[0].wait_until_up(server)
        guard.start()
        hostile = Hostile(paths, guard.listener.getsockname(), seed)
        for person in people:
            person.upload("private.onnx", private(person.mark))

        def send(number: int) -> str:
            return people[number % 2].upload(*hostile.upload(number))

        with ThreadPoolExecutor(clients) as pool:
            for trouble in pool.map(send, range(first, first + uploads)):
                if trouble:
                    found.complaints.append(trouble)
        people[0].wait_until_done(server, found)
        _order(people, range(first, first + orders), paths, guard.listener.getsockname(), found)
        people[0].wait_until_done(server, found)
        _check_orders(people, canary, found)
        _check(people, canary, found)
        found.memory = _peak(server.pid)
        if found.memory > _MOST_MEMORY:
            found.complaints.append(f"the server needed {found.memory / 1e6:.0f} MB")
        _check_left(server.pid, found)
        if WRITTEN.exists():
            found.complaints.append(f"{WRITTEN} was written")
            WRITTEN.unlink()
        if "Traceback" in (said := (folder / "server.log").read_text(errors="replace")):
            found.complaints.append(f"the server said {said[-2000:]!r}")
    finally:
        guard.stop()
        _stop(server, found)
    if (Path("/tmp") / "written").exists():
        found.complaints.append("a file was written elsewhere")
    found.seconds = time.monotonic() - started
    return found


def _stop(server: subprocess.Popen[bytes], found: Found) -> None:
    """End the server, and note if that does not go well."""
    server.send_signal(signal.SIGTERM)
    try:
        if server.wait(60) not in (0, -signal.SIGTERM, 130):
            found.complaints.append(f"the server ended with {server.returncode}")
    except subprocess.TimeoutExpired:
        found.complaints.append("the server does not end")
        server.kill()


class _Person:
    """A user of the REST interface; `mark` is a part of the names of all that
    belongs to this user.
    """

    def __init__(self, port: int, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._url = f"http://127.0.0.1:{port}"
        self._http = httpx.Client(base_url=f"{self._url}/api/v1", headers=headers, timeout=120)
        self.mark = secrets.token_hex(8)

    def wait_until_up(self, server: subprocess.Popen[bytes]) -> None:
        """Wait until the server answers. Raises RuntimeError if it does not start."""
        for _ in range(1200):
            with suppress(httpx.TransportError):
                if httpx.get(f"{self._url}/healthz").is_success:
                    return
            if server.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError("the server did not start")

    def wait_until_done(self, server: subprocess.Popen[bytes], found: Found) -> None:
        """Wait until no job waits or runs, or the server has ended."""
        shown = time.monotonic()
        while server.poll() is None:
            lines = httpx.get(f"{self._url}/metrics").text.splitlines()
            counts = [line for line in lines if re.match(r'nnc_jobs.*"(queued|running)"', line)]
            left = sum(float(line.rpartition(" ")[2]) for line in counts)
            if not left:
                return
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                print(f"{left:.0f} are waiting", file=sys.stderr, flush=True)
            time.sleep(min(5.0, 0.2 + left / 200))
        found.complaints.append(f"the server ended with {server.returncode}")

    def upload(self, name: str, content: bytes) -> str:
        """Send a file, with this user's mark in its name; returns what is wrong with the answers,
        or "".
        """
        path = PurePath(name)
        called = f"{path.stem[:160]}.{self.mark}{path.suffix}" if path.name == name else name
        answer = self._http.post("/uploads", json={"name": called, "bytes": len(content)})
        if answer.status_code == 422 or answer.status_code == 400:
            return ""  # a name that is none
        if answer.status_code != 201:
            return f"upload of {name!r}: {answer.status_code} {answer.text}"
        headers = {"Upload-Offset": "0", "Content-Type": "application/octet-stream"}
        where = f"/uploads/{answer.json()['id']}"
        answer = self._http.patch(where, headers=headers, content=content)
        return "" if answer.is_success else f"{name!r}: {answer.status_code} {answer.text}"

    def own_model(self) -> str:
        """The id of the user's private model."""
        return next(m["id"] for m in self.models() if m["name"] == f"private.{self.mark}.onnx")

    def upload_inputs(self, name: str, content: bytes) -> str:
        """Send a file of inputs; returns its id."""
        about = {"name": name, "bytes": len(content), "purpose": "inputs"}
        id = self._http.post("/uploads", json=about).json()["id"]
        headers = {"Upload-Offset": "0", "Content-Type": "application/octet-stream"}
        return self._http.patch(f"/uploads/{id}", headers=headers, content=content).json()["inputs"]

    def order(self, model: str, wish: Mapping[str, Any]) -> httpx.Response:
        """The answer to an order."""
        return self._http.post(f"/models/{model}/orders", json=wish)

    def get(self, path: str) -> httpx.Response:
        """The answer to a GET request."""
        return self._http.get(path)

    def models(self) -> list[dict[str, Any]]:
        """All models of the user."""
        return self.get("/models").json()


def _order(
    people: list[_Person],
    numbers: range,
    paths: list[Path],
    address: tuple[str, int],
    found: Found,
) -> None:
    """Order packages of each user's own model with malicious inputs, and some that
    must be refused.
    """
    inputs = Inputs("x", paths, address)
    good = {"targets": [TARGET], "engines": ["nnc"]}
    own = {person: person.own_model() for person in people}
    last: dict[_Person, str] = {}
    for number in numbers:
        choice = random.Random(f"order {number}")
        person, other = people[number % 2], people[1 - number % 2]
        name, content = inputs.upload(choice)
        last[person] = person.upload_inputs(name, content)
        answer = person.order(own[person], {**good, "inputs": last[person]})
        if answer.status_code != 201:
            found.complaints.append(f"order {number}: {answer.status_code} {answer.text[:200]}")
        wish = refused_orders(choice, last.get(other, "B" * 22))
        model = own[choice.choice([other, person])] if "targets" in wish else own[person]
        answer = person.order(model, wish)
        if answer.status_code not in (400, 404, 409, 413, 422):
            said = f"{answer.status_code} {answer.text[:200]}"
            found.complaints.append(f"an order was not refused: {wish}: {said}")


def _check_orders(people: list[_Person], canary: str, found: Found) -> None:
    """Check all answers about all orders."""
    for person in people:
        secret = [canary, "root:x:0:0", *(one.mark for one in people if one is not person)]
        for listed in person.get("/orders").json():
            order = person.get(f"/orders/{listed['id']}")
            for job in order.json()["jobs"]:
                log = person.get(f"/jobs/{job['id']}/log").text
                complain = _Complaints(found, f"order {job['id']}")
                error = job["error"] or ""
                found.orders[f"{job['state']} {error.replace(person.mark, '')[:50]}"] += 1
                took = (job["ended"] or 0) - (job["started"] or 0)
                found.longest = max(found.longest, took)
                if job["state"] not in ("done", "failed"):
                    complain(f"a job that is {job['state']}")
                if any(one in text for text in (order.text, log) for one in secret):
                    complain("somebody else's file in an answer")
                if any(one in text for text in (error, log) for one in _DEFECTS):
                    complain(error[:200] or log[-400:])


def _check(people: list[_Person], canary: str, found: Found) -> None:
    """Check all answers about all models."""
    for person in people:
        others = [other.mark for other in people if other is not person]
        secret = [canary, "root:x:0:0", *others]
        for listed in person.models():
            complain = _Complaints(found, listed["name"])
            model = person.get(f"/models/{listed['id']}")
            job = person.get(f"/jobs/{listed['look_job']}")
            log = person.get(f"/jobs/{listed['look_job']}/log").text
            texts = [model.text, job.text, log]
            if listed["pages"]["explore"]:
                texts.append(person.get(f"/models/{listed['id']}/explore").text)
            about = job.json()
            found.states[about["state"]] += 1
            error = about["error"] or ""
            found.errors[error.replace(person.mark, "")[:60]] += 1
            took = (about["ended"] or 0) - (about["started"] or 0)
            found.longest = max(found.longest, took)
            spent = sum(map(float, _SPENT.findall(log)))
            found.spent += spent
            found.slowest.append((spent, listed["name"], error or about["state"]))
            if about["state"] not in ("done", "failed"):
                complain(f"a job that is {about['state']}")
            if took > LOOK_SECONDS * 2 + PAGE_SECONDS + _ENDING:
                complain(f"a job of {took:.0f} s")
            if any(one in text for text in texts for one in secret):
                complain("somebody else's file in an answer")
            if any(one in text for text in (error, log) for one in _DEFECTS):
                complain(error[:200] or log[-400:])
    found.slowest = sorted(found.slowest, reverse=True)[:_SLOWEST]


@dataclass(frozen=True)
class _Complaints:
    """Records complaints about one upload."""

    found: Found
    name: str

    def __call__(self, text: str) -> None:
        self.found.complaints.append(f"{self.name!r}: {text}")


def _check_left(server: int, found: Found) -> None:
    """Complain if processes other than the fork server remain."""
    deadline = time.monotonic() + 10
    while len(left := list(descendants(server))) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    if len(left) > 1:
        found.complaints.append(f"{len(left) - 1} processes were left over")


def _peak(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * int(next(one for one in lines if one.startswith("VmHWM:")).split()[1])


def main() -> int:
    """Run, and print what was found."""
    parser = argparse.ArgumentParser(prog="bench.hostile", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--uploads", type=int, default=10_000)
    parser.add_argument("--seed", default="hostile", help="another one makes other uploads")
    parser.add_argument("--first", type=int, default=0, help="the number of the first upload")
    parser.add_argument("--batch", type=int, default=2500, help="uploads to one server")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep here what was found")
    args = parser.parse_args()
    key = f"{args.seed} {args.first}"
    found = Found()
    if args.record and args.record.exists():
        kept = json.loads(args.record.read_text())
        if kept["of"] != key:
            sys.exit(f"error: {args.record} is of --seed, --first {kept['of']}, not {key}")
        found = Found.read(kept["found"])
    while (left := args.uploads - found.uploads) > 0:
        with tempfile.TemporaryDirectory(prefix="nnc-hostile-") as folder:
            number, count = args.first + found.uploads, min(left, args.batch)
            found.add(
                run_hostile(
                    count, Path(folder), number, args.seed, orders=count // _UPLOADS_OF_AN_ORDER
                )
            )
        if args.record:
            args.record.write_text(json.dumps({"of": key, "found": found.as_json()}, indent=1))
        print(f"{found.uploads} uploads in {found.seconds:.0f} s", file=sys.stderr, flush=True)
    print(f"{found.uploads} uploads in {found.seconds:.0f} s: {dict(found.states)}")
    each = found.spent / max(1, found.uploads)
    print(f"{found.spent:.0f} s of processor time in commands, {each:.2f} s for an upload")
    print(f"longest job {found.longest:.1f} s; server {found.memory / 1e6:.0f} MB at most")
    print(f"{found.processes} looks at processes of jobs")
    for error, count in found.errors.most_common(20):
        print(f"{count:6} {error}")
    for became, count in found.orders.most_common(20):
        print(f"{count:6} packages with hostile inputs: {became}")
    for spent, name, became in found.slowest:
        print(f"{spent:6.1f} s of processor time: {name!r}: {became[:80]}")
    for complaint in found.complaints:
        print(f"COMPLAINT: {complaint}")
    return 1 if found.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
