"""The schedules that the device policy could write for a kernel, the default first."""

from __future__ import annotations

from ...ir.decisions import Terms
from ...targets.groups import GroupMachine
from ..model.plan import Plan
from .choices import Choices, Told
from .groups import GroupCandidate, Writing, best, candidates
from .variants import NESTING, Variants


class GroupVariants(Variants):
    """The distinct schedules of one device kernel."""

    machine: GroupMachine

    def _found(self) -> tuple[GroupCandidate, list[str]]:
        """(the policy's candidate, the names of all legal candidates, the chosen one's first)."""
        choices = Choices(found=self._models)
        found = candidates(self.kernel, self.block, self.machine, choices=choices)
        chosen = best(found, self.machine)
        legal = sorted((one for one in found if not one.fault), key=lambda one: one.cycles)
        return chosen, list(dict.fromkeys([chosen.policy, *(one.policy for one in legal)]))

    def _write(self, told: Told) -> tuple[GroupCandidate, dict[str, int]]:
        choices = Choices(told, self._models)
        writing = Writing(self.kernel, self.block, self.machine, choices)
        found = writing.named(self._ways[told.get(NESTING, 0)])
        asked = {k: n for k, n in choices.asked.items() if k.split()[0] not in self.left}
        return found, {NESTING: len(self._ways) - 1, **asked}

    def _expected(self, plan: Plan) -> Terms:
        """None: the device's model knows the schedules that it wrote."""
        return Terms()
