"""Landlock: restricts the files that a process and its children may open, without privileges."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress

from .system import syscall

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ALL_OF_1 = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_TCP = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

SCOPES = 6
"""The Landlock version that restricts signals and abstract sockets, which the mode `landlock`
needs."""


def version() -> int:
    """The kernel's version of Landlock; 0 if it has none."""
    try:
        return syscall("landlock_create_ruleset", _CREATE, None, 0, _VERSION)
    except OSError:
        return 0


def restrict(read: Iterable[str], write: Iterable[str], devices: Iterable[str]) -> None:
    """Let this process open only files below these paths, of those that exist. Raises OSError.

    It needs `no_new_privileges`. TCP, abstract sockets and signals to others are refused as far as
    the kernel's version can.
    """
    known = version()
    if known < 1:
        raise OSError(38, "this kernel has no Landlock")
    handled = _ALL_OF_1
    for since, bit in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        handled |= bit if known >= since else 0
    fields = [handled]
    if known >= 4:
        fields.append(_TCP)
    if known >= SCOPES:
        fields.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    rules = syscall("landlock_create_ruleset", _CREATE, attributes, len(attributes), 0)
    try:
        for paths, rights in (
            (read, _EXECUTE | _READ_FILE | _READ_DIR),
            (write, handled & ~_IOCTL_DEV),
            (devices, _READ_FILE | _WRITE_FILE | _IOCTL_DEV),
        ):
            for path in paths:
                with suppress(FileNotFoundError):
                    _allow(rules, path, rights & handled)
        syscall("landlock_restrict_self", _RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, handle)
        syscall("landlock_add_rule", _ADD_RULE, rules, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(handle)
