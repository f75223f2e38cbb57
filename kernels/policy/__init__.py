"""The choice of a kernel's schedule, by models of the machine."""

from __future__ import annotations

from importlib import import_module
from typing import Any

POLICIES = {"processor": ".candidates", "groups": ".groups", "pipelines": ".pipelines"}
"""The modules that write schedules, by their names in targets.

Each has `candidates(kernel, block, machine, every)`, which writes schedules for the stages of a
block and predicts their cycles, and `best(found, machine)`, which chooses one. If it has
`margin(machine)` too, choices can be explained: a later candidate is taken if its cycles are below
this fraction of an earlier one's. If `READS_REUSE` is True, `candidates` also takes, after `every`,
the reuse distances of the kernel's arguments.
"""
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
