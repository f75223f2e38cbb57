"""Linux calls that Python 3.11 does not provide. All raise OSError."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
NEW_NAMESPACES = 0x7E020000
"""All flags by which `clone` creates a namespace."""

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_SETATTR, _PIVOT_ROOT = {"x86_64": (442, 155), "aarch64": (442, 41)}.get(
    os.uname().machine, (-1, -1)
)

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(name: str, number: int, *arguments: object) -> int:
    """Make a system call by its number; `name` is for the error message."""
    if number < 0:
        raise OSError(38, f"{name}: not known on {os.uname().machine}")
    whole = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *whole), name)


def prctl(name: str, option: int, value: int = 0) -> int:
    """`prctl` with one argument."""
    zero = ctypes.c_ulong(0)
    given = _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)
    return _checked(given, name)


def unshare(flags: int) -> None:
    """Give this process namespaces of its own."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount a file system, or bind a folder."""
    given = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    _checked(given, f"mount {target}")


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def restrict_mount(target: str, flags: int) -> None:
    """Set MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC on a mount and those below it."""
    attributes = _MountAttributes(flags, 0, 0, 0)
    syscall(
        f"mount_setattr {target}",
        _MOUNT_SETATTR,
        _AT_FDCWD,
        ctypes.c_char_p(os.fsencode(target)),
        _AT_RECURSIVE,
        ctypes.byref(attributes),
        ctypes.sizeof(attributes),
    )


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root; the old root is then at `old`."""
    paths = (ctypes.c_char_p(os.fsencode(one)) for one in (new, old))
    syscall("pivot_root", _PIVOT_ROOT, *paths)


def detach(target: str) -> None:
    """Unmount a mount and those below it."""
    _checked(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def end_with_parent(signal: int) -> None:
    """Have this process get a signal when the thread that started it ends."""
    prctl("PR_SET_PDEATHSIG", _PR_SET_PDEATHSIG, signal)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parents end."""
    prctl("PR_SET_CHILD_SUBREAPER", _PR_SET_CHILD_SUBREAPER, 1)


def no_new_privileges() -> None:
    """Prevent any program started from here from gaining privileges, as setuid programs do."""
    prctl("PR_SET_NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1)


def stay_visible() -> None:
    """Keep this process's /proc entries readable after its user has changed."""
    prctl("PR_SET_DUMPABLE", _PR_SET_DUMPABLE, 1)


def drop_bounding_capabilities() -> None:
    """Prevent programs started from here from regaining root's capabilities."""
    for number in range(64):
        try:
            prctl("PR_CAPBSET_DROP", _PR_CAPBSET_DROP, number)
        except OSError:  # beyond the last one; or not allowed, where there are none to lose
            break


def drop_capabilities() -> None:
    """Drop root's capabilities for this process and all that it starts."""
    drop_bounding_capabilities()
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    none = (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref(none)), "capset")
