"""`Confinement`: how commands are isolated on this machine, and how they are started."""

from __future__ import annotations

import os
import shutil
import site
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from ...ir.diagnostics import NncError
from . import landlock, seccomp
from .limits import Ended, Limits, Mode
from .request import Request
from .running import Pipes, Say

_PROBE = Limits(seconds=60, processor_seconds=60, memory=1 << 30, disk=64 << 20)


class Confinement:
    """Starts commands, in the strongest mode that works here.

    `private` are folders that no command may see; `preload` are modules that commands need,
    imported once. It is thread-safe; close it in the end.
    """

    def __init__(
        self,
        private: Iterable[Path] = (),
        preload: Sequence[str] = (),
        *,
        unconfined: bool = False,
        modes: Sequence[Mode] = ("namespaces", "landlock"),
    ) -> None:
        """Raises NncError if commands cannot be confined here, unless it is `unconfined`."""
        self._code = Path(mkdtemp(prefix="nnc-code-"))
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._preload: Sequence[str] = ()
        self.mode: Mode = "none"
        try:
            self._read = self._readable()
            if not unconfined:
                self._check_private(private)
                self.mode = self._strongest(modes)
        except BaseException:
            self.close()
            raise
        self._restart(preload)

    def close(self) -> None:
        """End the fork server, and with it all commands."""
        with self._lock:
            self._stop()
        shutil.rmtree(self._code, ignore_errors=True)

    def __enter__(self) -> Confinement:
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    @property
    def cache(self) -> Path:
        """`XDG_CACHE_HOME` of the fork server, with the files that its imports made."""
        return self._code / "cache"

    @property
    def about(self) -> str:
        """The mode in words."""
        return {
            "namespaces": "namespaces, seccomp" + (", Landlock" if landlock.version() else ""),
            "landlock": "Landlock, seccomp",
            "none": "not at all",
        }[self.mode]

    # -- what commands see -----------------------------------------------------------------------

    def _readable(self) -> list[str]:
        """The folders of Python, its packages and nnc; nnc is linked into a folder of its own."""
        package = Path(__file__).resolve().parents[2]
        (self._code / __name__.partition(".")[0]).symlink_to(package)
        os.chmod(self._code, 0o755)
        paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable)]
        paths += [sysconfig.get_path(one) for one in ("purelib", "platlib", "stdlib")]
        if site.ENABLE_USER_SITE:
            paths.append(site.getusersitepackages())
        paths += [str(package), str(self._code)]
        whole = [variant for one in paths for variant in (one, os.path.realpath(one))]
        return [one for one in dict.fromkeys(whole) if os.path.isdir(one) and one != "/"]

    def _check_private(self, private: Iterable[Path]) -> None:
        from .namespaces import SETTINGS, SYSTEM

        seen = [Path(os.path.realpath(one)) for one in (*self._read, *SYSTEM, *SETTINGS)]
        for folder in private:
            for path in seen:
                if folder.resolve().is_relative_to(path):
                    raise NncError(
                        f"'{folder}' lies within '{path}', which commands that are confined may "
                        "read: use another folder"
                    )

    def _strongest(self, modes: Sequence[Mode]) -> Mode:
        """The first of these modes in which a command runs and is confined."""
        reasons = []
        for mode in modes:
            if not seccomp.supported():
                reasons.append(f"seccomp is not known here for {os.uname().machine}")
            elif mode == "landlock" and os.geteuid() == 0:
                reasons.append("Landlock: not for root, who can make any number of processes")
            elif mode == "landlock" and landlock.version() < landlock.SCOPES:
                reasons.append("Landlock: it needs Linux 6.12, with Landlock among its modules")
            else:
                self.mode = mode
                ended = self._probe()
                if ended.good:
                    return mode
                lines = ended.error.decode(errors="replace").strip().splitlines()
                reasons.append(f"{mode}: {lines[-1] if lines and not ended.cause else ended.about}")
        self.mode = "none"
        raise NncError(
            f"commands cannot be confined on this machine ({'; '.join(reasons)}). {_advice()}; or "
            "run them without by --unconfined, for models that you trust"
        )

    def _probe(self) -> Ended:
        """The result of a command that tries what it must not be able to do."""
        with TemporaryDirectory(prefix="nnc-probe-") as home:
            secret, folder = Path(home) / "secret", Path(home) / "job"
            secret.write_text("a file of somebody else's")
            folder.mkdir()
            return self.run(f"{__package__}.probe", [str(secret)], folder, _PROBE)

    # -- commands --------------------------------------------------------------------------------

    def run(
        self,
        module: str,
        arguments: Sequence[str],
        folder: Path,
        limits: Limits,
        *,
        environment: Mapping[str, str] | None = None,
        fresh: bool = True,
        nice: int = 0,
        say: Say | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Ended:
        """Run a Python module as `python -m` does, and wait for its end.

        It starts in `folder`, which must exist, is the only place that it may write to, and is
        given to its user; relative paths mean the same inside and outside. With `fresh`, it runs in
        a new interpreter, else in a fork of one that has imported the modules of `preload`.
        """
        request = Request(
            self.mode,
            module,
            arguments,
            os.path.realpath(folder),
            self._read,
            environment or {},
            limits,
            fresh,
            nice,
        )
        pipes = Pipes()
        try:
            with suppress(OSError):
                self._send(request.encoded(), pipes.given)
        finally:  # where nothing was sent, the pipes end at once, and so does the command
            pipes.sent()
        return pipes.follow(limits.output, say, cancelled)

    def _send(self, data: bytes, handles: Sequence[int]) -> None:
        """Send a request, twice if the fork server had ended. Raises OSError."""
        with self._lock:
            try:
                socket.send_fds(self._started(), [data], handles)
            except (BrokenPipeError, ConnectionError):
                socket.send_fds(self._started(), [data], handles)

    # -- the fork server -------------------------------------------------------------------------

    def _restart(self, preload: Sequence[str]) -> None:
        with self._lock:
            self._stop()
            self._preload = preload

    def _stop(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._server is not None:
            with suppress(ProcessLookupError):
                self._server.kill()
            self._server.wait()
        self._channel = self._server = None

    def _started(self) -> socket.socket:
        """A socket to a running fork server; the caller holds the lock. Raises OSError."""
        if self._server is not None and self._server.poll() is None and self._channel:
            return self._channel
        self._stop()
        ours, others = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        module = f"{__package__}.fork_server"
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(self._code),
            "XDG_CACHE_HOME": str(self._code / "cache"),
            "PYTHONPATH": str(self._code),
            "OPENBLAS_NUM_THREADS": "1",  # it is copied, which threads are not
            "OMP_NUM_THREADS": "1",
        }
        if site.ENABLE_USER_SITE:
            environment["PYTHONUSERBASE"] = site.getuserbase()
        with others:
            self._server = subprocess.Popen(
                [sys.executable, "-P", "-m", module, *self._preload],
                stdin=others.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=self._code,
                start_new_session=True,
            )
        if ours.recv(1) != b"+":
            raise OSError("the fork server did not start")
        self._channel = ours
        return ours


def _advice() -> str:
    """What to do so that commands can be confined here."""
    if os.geteuid() == 0 and landlock.version() >= landlock.SCOPES:
        return (
            "Start the server as another user than root (`runuser -u USER -- nnc serve FOLDER`, "
            "`docker run --user`), which needs no namespaces"
        )
    return (
        "Allow namespaces (`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container "
        "`--security-opt seccomp=unconfined --security-opt systempaths=unconfined`), see "
        "docs/confinement.md"
    )
