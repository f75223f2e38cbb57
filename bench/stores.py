"""PostgreSQL and an S3 store on this machine, for measurements and tests.

They need PostgreSQL's `initdb` and `pg_ctl`, and `pip install 'nnc[service-test]'`.
"""

from __future__ import annotations

import logging
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

_KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


def free_port() -> int:
    """An unused port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Postgres:
    """A PostgreSQL cluster in a folder of its own, which ends with the context.

    PostgreSQL refuses to run as root: then it runs as `postgres` or as `nobody`.
    """

    def __enter__(self) -> Postgres:
        self.folder = Path(tempfile.mkdtemp(prefix="nnc-postgres-", dir="/tmp"))
        self.port = free_port()
        self._as: dict[str, Any] = {}
        if os.getuid() == 0:
            user = _other_user()
            shutil.chown(self.folder, user)
            group = pwd.getpwnam(user).pw_gid
            self._as = {"user": user, "group": group, "extra_groups": []}
        data = self.folder / "data"
        self._run("initdb", "-D", data, "-U", "nnc", "--auth=trust", "--no-sync", "-E", "UTF8")
        options = (
            f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off "
            "-c max_connections=200 -c shared_buffers=32MB"
        )
        self._run("pg_ctl", "-D", data, "-l", self.folder / "log", "-o", options, "-w", "start")
        return self

    def __exit__(self, *_: object) -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_database(self) -> str:
        """The URL of an empty database."""
        import psycopg

        name = f"test_{secrets.token_hex(6)}"
        at = f"host=127.0.0.1 port={self.port} user=nnc dbname=postgres"
        with psycopg.connect(at, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return f"postgresql://nnc@127.0.0.1:{self.port}/{name}"

    def _run(self, tool: str, *arguments: object) -> None:
        command = [_tool(tool), *map(str, arguments)]
        output = self.folder / "output"  # a pipe would be held open by the server
        with output.open("w") as file:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                check=False,
                cwd="/",
                **self._as,
            )
        if done.returncode:
            raise RuntimeError(f"{tool}: {output.read_text()}")


def _other_user() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _tool(name: str) -> str:
    if found := shutil.which(name):
        return found
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not versions:
        raise RuntimeError("PostgreSQL is not installed; `.ci/run service` installs it")
    return str(versions[-1])


class ObjectStore:
    """moto's S3 server on a port of this machine."""

    def __enter__(self) -> ObjectStore:
        os.environ.update(_KEYS)
        os.environ["MOTO_S3_DEFAULT_KEY_BUFFER_SIZE"] = str(1 << 20)  # larger ones are on disk
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it has a line for each request
        self._server = ThreadedMotoServer("127.0.0.1", free_port(), verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.endpoint = f"http://{host}:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def new_bucket(self) -> str:
        """The URL of an empty bucket."""
        import boto3

        name = f"test-{secrets.token_hex(6)}"
        client = boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1")
        client.create_bucket(Bucket=name)
        return f"s3://{name}/files?endpoint={self.endpoint}"
