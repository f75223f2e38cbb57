"""Which processor `host` means in tests: one typical of this machine's level, whatever it is.

Two machines of a level so get the same schedules. NNC_TEST_PROCESSOR=haswell makes it a Haswell,
NNC_TEST_PROCESSOR=native this machine with its own caches, cores and name.

It replaces what LLVM says of this machine, in the tests' process alone: code is made and
scheduled as for that processor, and code for a higher level is refused as it would be there.
Caches are those of the processor's level. No machine code runs that this machine has not.
"""

from __future__ import annotations

import re

import pytest

# Which level of x86 each is. Of level 4, one has two units of full width, one halves vectors.
LEVELS = {
    "x86-64": 1,
    "nehalem": 2,
    "haswell": 3,
    "znver3": 3,
    "skylake-avx512": 4,
    "znver4": 4,
}

_TYPICAL = {
    0: "native",
    1: "x86-64",
    2: "nehalem",
    3: "haswell",
    4: "skylake-avx512",
    5: "skylake-avx512",  # tile registers are hidden, as few machines have them
}
_CORES = 2
_machine_level: int | None = None  # before another was pretended

# Those of them that multiply bytes.
_BYTE_PRODUCTS = {"znver4"}

# Features that only levels from this one on have.
_SINCE = {
    4: re.compile(r"avx512|avx10|evex"),
    3: re.compile(r"avx|fma|f16c|bmi|lzcnt|movbe|xop|vaes|vpclmul|sha512|sm3|sm4"),
    2: re.compile(r"sse3|ssse3|sse4|popcnt|cx16|sahf|aes|pclmul|gfni|sha|crc32"),
}


def runnable(*names: str) -> list[str]:
    """Those targets whose code runs on this machine; `host` always does."""
    from nnc.targets.base import target

    return [name for name in names if target(name).obstacle() is None]


def machine_level() -> int:
    """The level of x86 that this machine has, whatever `host` means in tests: what other processes
    find. 0 on other machines."""
    from nnc.targets.base import find_host

    return _machine_level if _machine_level is not None else getattr(find_host(), "level", 0)


def typical() -> str:
    """The processor that stands for this machine's level; the machine itself if it is no x86."""
    from nnc.targets.base import find_host

    here = find_host()
    return _TYPICAL[getattr(here, "level", 0)]


def pretend(name: str) -> None:
    """From now on, this machine is a processor of that name."""
    import llvmlite.binding as llvm
    from nnc.targets.base import find_host
    from nnc.targets.llvm import host

    if name not in LEVELS:
        raise pytest.UsageError(f"NNC_TEST_PROCESSOR={name}: choose one of {', '.join(LEVELS)}")
    global _machine_level
    here, level = find_host(), LEVELS[name]
    if here is None or here.family != "x86" or here.level < level:
        raise pytest.UsageError(f"NNC_TEST_PROCESSOR={name}: this machine cannot run its code")
    _machine_level = here.level
    features = llvm.get_host_cpu_features()
    for since, names in _SINCE.items():
        if level < since:
            features.update({one: False for one in features if names.match(one)})
    hidden = ("amx",) if name in _BYTE_PRODUCTS else ("amx", "vnni", "avx512bf16")
    features.update({one: False for one in features if any(part in one for part in hidden)})
    patch = pytest.MonkeyPatch()
    patch.setattr(llvm, "get_host_cpu_name", lambda: name)
    patch.setattr(llvm, "get_host_cpu_features", lambda: features)
    patch.setattr(host, "_cache_sizes", dict)
    patch.setattr(host, "_cores", lambda: _CORES)
    find_host.cache_clear()
    found = find_host()
    assert found is not None and found.level == level
