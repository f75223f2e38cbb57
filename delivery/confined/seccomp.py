"""The filter of system calls: no sockets, no namespaces, no access to other processes.

It lists the refused calls and allows all others, since engines and compilers of every kind run
under it. Calls that evade the limits are refused, too: `memfd_create` and System V shared memory
hold memory that counts for no process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from .system import NEW_NAMESPACES, syscall

_NUMBERS = {
    # name: (x86_64, aarch64); None where the processor has no such call
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "syslog": (103, 116),
    "personality": (135, 92),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "mknodat": (259, 33),
    "mknod": (133, None),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
}
_MISSING = {
    # answered as by a system that has none, so that callers take another way
    "clone3": (435, 435),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}
_IGNORED = {
    # Landlock does not stop these on foreign paths: without a root of one's own they do nothing
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "removexattrat": (466, 466),
}
_SOCKETPAIR, _CLONE, _IOCTL, _SECCOMP = (53, 199), (56, 220), (16, 29), (317, 277)

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32 = 0x40000000
_AF_UNIX = 1
_INJECTING = (0x5412, 0x541C)
"""The ioctls TIOCSTI and TIOCLINUX, which inject input into a terminal."""

_LOAD, _EQUAL, _GREATER_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
"""Offsets in the filter's view of a system call; those of arguments are of the lower halves."""
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_SET_MODE_FILTER, _SPECULATION_AS_BEFORE = 1, 4


def supported() -> bool:
    """Whether the system call numbers of this processor are known."""
    return os.uname().machine in _ARCHITECTURES


def program(machine: str, *, own_root: bool) -> bytes:
    """The filter program for a machine, in the kernel's format.

    Without a root of its own, a process may not change attributes of files it cannot open, either.
    """
    column, architecture = _ARCHITECTURES[machine]
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_EQUAL, architecture, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        lines += _where(_GREATER_EQUAL, _X32, errno.ENOSYS)
    groups = [(_NUMBERS, errno.EPERM), (_MISSING, errno.ENOSYS)]
    if not own_root:
        groups.append((_IGNORED, 0))
    for calls, answer in groups:
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                lines += _where(_EQUAL, number, answer)
    refuse = _line(_RETURN, _ERRNO | errno.EPERM)
    for number, tests in (
        (_SOCKETPAIR[column], [_line(_LOAD, _FIRST), _line(_EQUAL, _AF_UNIX, 1, 0), refuse]),
        (_CLONE[column], [_line(_LOAD, _FIRST), _line(_ANY_BIT, NEW_NAMESPACES, 0, 1), refuse]),
        (
            _IOCTL[column],
            [_line(_LOAD, _SECOND)]
            + [part for one in _INJECTING for part in (_line(_EQUAL, one, 0, 1), refuse)],
        ),
    ):
        body = [*tests, _line(_RETURN, _ALLOW)]
        lines += [_line(_EQUAL, number, 0, len(body)), *body]
    lines.append(_line(_RETURN, _ALLOW))
    return b"".join(lines)


def _line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _where(test: int, value: int, answer: int) -> list[bytes]:
    """Instructions that return an error number if the call's number matches."""
    return [_line(test, value, 0, 1), _line(_RETURN, _ERRNO | answer)]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def apply(*, own_root: bool) -> None:
    """Apply the filter to this process and all that it will start. Raises OSError.

    It needs `no_new_privileges`. Speculative execution stays as it is: what the kernel would turn
    off for filtered processes costs measured programs time.
    """
    machine = os.uname().machine
    code = program(machine, own_root=own_root)
    given = _Program(len(code) // 8, code)
    number = _SECCOMP[_ARCHITECTURES[machine][0]]
    syscall("seccomp", number, _SET_MODE_FILTER, _SPECULATION_AS_BEFORE, ctypes.byref(given))
