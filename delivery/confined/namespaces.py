"""Namespaces of a command's own: processes, files, network, host name and System V objects.

No privileges are needed if the system lets users make namespaces. The command's root holds the
system's programs and libraries and Python, read-only, a small /dev, a /proc of its own processes,
and its folder, which also contains /tmp and /dev/shm, so that they count as its disk space.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from . import system
from .request import INNER, JOB, OUTER

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""The folders of programs and libraries; each may be a link, or missing."""
SETTINGS = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/os-release",
    "/opt/intel",
    "/sys/class/powercap",
    "/sys/devices/system",
    "/sys/devices/virtual/powercap",
)
"""Files about the machine that programs read: how libraries are found, processors, energy."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SCRATCH = {"/tmp": ".tmp", "/dev/shm": ".shm"}
"""The folders that programs write to, and their places in the command's folder."""


def enter(folder: str) -> None:
    """Enter new namespaces with this single-threaded process, and a process namespace for its
    children.

    The folder is given to the user that the command will run as. This process sees the same files
    as before, and has root's rights over what it starts. Raises OSError.
    """
    ready, go = os.pipe(), os.pipe()
    helper = os.fork()
    if helper == 0:
        with suppress(BaseException):
            os.close(ready[1])
            os.read(ready[0], 1)
            _map_users(os.getppid(), folder)
            os.write(go[1], b"+")
        os._exit(0)
    try:
        os.close(go[1])
        if os.geteuid() == 0:
            os.setgroups([])
        system.unshare(
            system.CLONE_NEWUSER
            | system.CLONE_NEWPID
            | system.CLONE_NEWNET
            | system.CLONE_NEWIPC
            | system.CLONE_NEWUTS
            | system.CLONE_NEWCGROUP
        )
        os.write(ready[1], b"+")
        if os.read(go[0], 1) != b"+":
            raise OSError(1, "a user of the namespace's own: not permitted")
    finally:
        for one in (*ready, go[0]):
            os.close(one)
        os.waitpid(helper, 0)


def _map_users(pid: int, folder: str) -> None:
    """Map the users of a process's new namespace to outer users. Raises OSError."""
    home = Path(f"/proc/{pid}")
    if os.geteuid() == 0:
        with suppress(OSError):  # a container's root may have no such user
            for name in ("gid_map", "uid_map"):
                (home / name).write_text(f"0 0 1\n{INNER} {OUTER} 1\n")
            _give(folder)
            return
    with suppress(FileNotFoundError):
        (home / "setgroups").write_text("deny")
    (home / "gid_map").write_text(f"{INNER} {os.getegid()} 1\n")
    (home / "uid_map").write_text(f"{INNER} {os.geteuid()} 1\n")


def _give(folder: str) -> None:
    """Give a folder with its contents to the outer user; links are not followed."""
    os.lchown(folder, OUTER, OUTER)
    for home, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.lchown(os.path.join(home, name), OUTER, OUTER)


def become_user() -> None:
    """Become the namespace's ordinary user, without root's rights. Raises OSError."""
    if os.geteuid() == 0:
        system.drop_bounding_capabilities()
        os.setresgid(INNER, INNER, INNER)
        os.setresuid(INNER, INNER, INNER)
    system.drop_capabilities()
    system.stay_visible()


def new_root(folder: str, read: Sequence[str]) -> None:
    """Switch to a root with only the system, these paths and the folder. Raises OSError."""
    system.unshare(system.CLONE_NEWNS)
    system.mount("none", "/", "", system.MS_REC | system.MS_PRIVATE)
    plain = system.MS_NOSUID | system.MS_NODEV
    system.mount("tmpfs", folder, "tmpfs", plain, "mode=0755,size=16m")
    os.chdir(folder)
    os.mkdir("old")
    system.pivot_root(".", "old")
    os.chdir("/")
    for path in (*SYSTEM, *SETTINGS):
        _bind(path, path, system.MS_RDONLY | plain)
    for path in DEVICES:
        _bind(path, path, system.MS_NOSUID | system.MS_NOEXEC)
    _bind(folder, JOB, plain)
    for path, name in SCRATCH.items():
        _bind(f"{folder}/{name}", path, plain)
    shown = [*SYSTEM, *SETTINGS]
    for path in sorted(
        set(read)
    ):  # which may lie in /tmp, where an earlier command has left a place
        if not any(Path(path).is_relative_to(one) for one in shown):
            _bind(path, path, system.MS_RDONLY | plain)
            shown.append(path)
    for name, target in (
        ("fd", "self/fd"),
        ("stdin", "self/fd/0"),
        ("stdout", "self/fd/1"),
        ("stderr", "self/fd/2"),
    ):
        os.symlink(f"/proc/{target}", f"/dev/{name}")
    os.mkdir("/proc")
    system.mount("proc", "/proc", "proc", plain | system.MS_NOEXEC)
    system.restrict_mount("/proc", system.MS_RDONLY)
    system.detach("/old")
    os.rmdir("/old")
    system.mount("none", "/", "", system.MS_REMOUNT | system.MS_BIND | system.MS_RDONLY | plain)


def _bind(source: str, target: str, flags: int) -> None:
    """Mount a path of the old root in the new one; top-level links are recreated."""
    old = f"/old{source}"
    if os.path.islink(old) and os.path.dirname(source) in ("/", "/etc"):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.readlink(old), target)
        return
    if not os.path.exists(old):
        return
    if os.path.isdir(old):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    system.mount(old, target, "", system.MS_BIND | system.MS_REC)
    system.restrict_mount(target, flags)
