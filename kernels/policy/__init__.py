"""The choice of a kernel's schedule, by models of the machine."""

from __future__ import annotations

from importlib import import_module
from typing import Any

POLICIES = {"processor": ".candidates", "groups": ".groups", "pipelines": ".pipelines"}
"""The modules that write schedules, by what targets call them. Each has `candidates(kernel, block,
machine, every)`, which writes schedules for the stages of a block and says what they take, and
`best(found, machine)`, which takes one of them. One that has `margin(machine)` too can be asked for
its reasons: a later candidate is taken if its cycles are below this part of an earlier one's.
One whose `READS_REUSE` is True takes, after `every`, the reuse distances of the
kernel's arguments."""
VARIANTS = {
    "processor": (".variants", "Variants"),
    "groups": (".group_variants", "GroupVariants"),
}
"""The classes that make the schedules beside the default, of policies whose decisions can be
overridden: modules and names."""


def policy_of(name: str) -> Any:
    """The module of a policy."""
    return import_module(POLICIES[name], __package__)


def variants_of(name: str) -> Any:
    """The policy's subclass of `Variants` (`variants.py`), or None if it has none."""
    module, found = VARIANTS.get(name, ("", ""))
    return getattr(import_module(module, __package__), found) if module else None
