"""The steps of a process from its start to the command: it drops its privileges one by one."""

from __future__ import annotations

import os
import resource
import runpy
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import NoReturn

from . import landlock, namespaces, seccomp, system
from .limits import Limits
from .request import Request

_REPORT = 3
"""The file descriptor for errors that occur before the command begins."""

_SHARED = 4
"""The factor on the limit of processes if the kernel counts those of other commands too; the
supervisor counts the command's own."""

_PROC = ("cpuinfo", "meminfo", "stat", "filesystems", "version", "sys/kernel", "sys/vm", "loadavg")
"""The parts of /proc that a process without its own root may read, besides its own entry."""


def begin(request: Request, output: int, error: int, report: int) -> NoReturn:
    """Become the command. It does not return: this process ends here."""
    status = 125
    try:
        system.end_with_parent(signal.SIGKILL)
        _descriptors(output, error, report)
        _confine(request)
        if request.mode == "namespaces":
            _be_init()
        status = _run(request)
    except BaseException as problem:
        with suppress(OSError):
            text = problem.strerror if isinstance(problem, OSError) else None
            os.write(_REPORT, f"{text or problem or type(problem).__name__}".encode()[:500])
    finally:
        os._exit(status)


def _descriptors(output: int, error: int, report: int) -> None:
    """Keep the output, error and report, and an empty standard input; close all others."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    high = [os.dup(one) for one in (nothing, output, error, report)]
    for target, one in enumerate(high):
        while one <= _REPORT:
            one = os.dup(one)
        high[target] = one
    for target, one in enumerate(high):
        os.dup2(one, target, inheritable=target != _REPORT)
    os.closerange(_REPORT + 1, 1 << 20)


def _confine(request: Request) -> None:
    """Drop everything that the request does not grant. Raises OSError."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory ends, commands end first
    if request.nice:
        os.nice(request.nice)
    if request.mode == "namespaces":
        namespaces.new_root(request.folder, request.read)
        namespaces.become_user()
        system.end_with_parent(signal.SIGKILL)  # forgotten when the user changes
    elif request.mode == "landlock":
        system.drop_capabilities()
    os.chdir(request.home)
    os.umask(0o022)
    processes = request.limits.processes
    if request.mode != "namespaces":
        processes = _threads_of_user() + _SHARED * processes
    _limit(request.limits, processes)
    system.no_new_privileges()
    if request.mode == "none":
        return
    if request.mode == "landlock" or landlock.version():
        _open_only(request)
    seccomp.apply(own_root=request.mode == "namespaces")


def _open_only(request: Request) -> None:
    proc = ["/proc"]
    scratch = list(namespaces.SCRATCH)
    if request.mode == "landlock":
        proc = [f"/proc/{os.getpid()}", *(f"/proc/{name}" for name in _PROC)]
        scratch = []
    read = [*namespaces.SYSTEM, *namespaces.SETTINGS, *request.read, *proc]
    landlock.restrict(read, [request.home, *scratch], namespaces.DEVICES)


def _limit(limits: Limits, processes: int) -> None:
    """Set the limits that the system enforces; `processes` limits all threads of the user."""
    processor = max(1, round(limits.processor_seconds))
    pairs = [
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_CORE, 0),
    ]
    for kind, most in pairs:
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails instead


def _threads_of_user() -> int:
    """The number of this user's threads, also in other processes."""
    total, user = 0, os.getuid()
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                total += len(os.listdir(f"/proc/{name}/task"))
    return total


def _be_init() -> None:
    """Continue as a child; this process, the first of its namespace, waits for all descendants.

    When it ends, the kernel ends whatever is left there.
    """
    child = os.fork()
    if child == 0:
        return
    os.closerange(0, _REPORT + 1)
    while True:
        pid, how = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(how)
            os._exit(code if code >= 0 else 128 - code)


def _environment(request: Request) -> dict[str, str]:
    home = request.home
    programs = [os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]
    temporary = "/tmp" if request.mode == "namespaces" else f"{home}/.tmp"
    return {
        "HOME": f"{home}/.home",
        "TMPDIR": temporary,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_DATA_HOME": f"{home}/.data",
        "LANG": "C.UTF-8",
        "LOGNAME": "nnc",
        "USER": "nnc",
        "PATH": os.pathsep.join(dict.fromkeys(programs)),
        **{k: v for k in ("PYTHONPATH", "PYTHONUSERBASE") if (v := os.environ.get(k))},
        **request.environment,
    }


def _run(request: Request) -> int:
    """Run the module; returns its exit status, unless another program replaces this process."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    environment = _environment(request)
    if request.fresh:
        command = [sys.executable, "-P", "-m", request.module, *request.arguments]
        os.execve(sys.executable, command, environment)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    os.close(_REPORT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return _called(request)


def _called(request: Request) -> int:
    import atexit
    import warnings

    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115 - what was there is the server's
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    sys.argv[1:] = request.arguments
    status = 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the module is imported already
            runpy.run_module(request.module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as done:
        status = done.code if isinstance(done.code, int) else int(done.code is not None)
    except BaseException:
        traceback.print_exc()
    with suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return status & 0xFF
