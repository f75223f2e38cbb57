"""Asks Linux for the tile registers of AMX, which a process has to before it uses them."""

from __future__ import annotations

import sys

PERMISSION_CALL = (158, 0x1023, 18)
"""The numbers of arch_prctl, of its ARCH_REQ_XCOMP_PERM, and of the registers' state. Source:
Linux, Documentation/arch/x86/xstate.rst."""


def may_use_tiles() -> bool:
    """Whether this process may use the tile registers from now on.

    The system refuses where it is too old, a filter of system calls forbids to ask, or a thread's
    stack for signals is too small for the registers.
    """
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        return False
    import ctypes  # most commands do without

    return ctypes.CDLL(None).syscall(*PERMISSION_CALL) == 0
