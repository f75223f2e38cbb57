"""Starts what runs the jobs of one server of `nnc serve`: workers, limits, the dispatcher."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ...delivery.carrying.carry import PRELOAD
from ...delivery.confined.limits import Limits
from ...delivery.confined.start import Confinement
from ..jobs import Wanted
from ..service import Service
from .dispatcher import Dispatcher, Say
from .hands import LOOKS, MEASURING, PACKAGES, PAGES, Hands, Here


@dataclass(frozen=True)
class Dispatching:
    """How jobs are run.

    `looks` is the most looks at models that this machine runs at once; also of pages about models,
    and of packages without measurements. `scheduler` is the address of a fleet's scheduler, if
    there is a fleet, with the folder of its `certificates`. `private` are folders, beside the
    service's own, that no job may see.
    """

    unconfined: bool = False
    looks: int = max(1, (os.cpu_count() or 1) // 2)
    limits: Limits = field(default_factory=Limits)
    scheduler: str | None = None
    certificates: Path | None = None
    private: Sequence[Path] = ()


def dispatching(
    how: Dispatching, say: Say
) -> Callable[[Service], AbstractContextManager[Dispatcher]]:
    """A context that runs a service's jobs while it lasts; `say` gets messages on its state.

    Entering raises NncError if commands must be confined and cannot be, or if no scheduler answers.
    """

    @contextmanager
    def run(service: Service) -> Iterator[Dispatcher]:
        with ExitStack() as opened:
            private = [service.folder, *how.private]
            confinement = opened.enter_context(
                Confinement(private, PRELOAD, unconfined=how.unconfined)
            )
            say(f"jobs are confined: {confinement.about}")
            hands: list[Hands] = [
                Here(f"{kinds[0]}-{number}", Wanted(kinds), confinement, how.limits)
                for kinds in (LOOKS, PAGES)
                for number in range(how.looks)
            ]
            measured = Wanted(MEASURING)
            if how.scheduler is not None:
                hands += _of_fleet(how, service, opened, say)
                measured = Wanted(MEASURING, ["host"], others=False)
            else:
                timed = [one.name for one in service.catalogue.targets if one.measured]
                untimed = Wanted(PACKAGES, timed)
                hands += [
                    Here(f"package-{number}", untimed, confinement, how.limits)
                    for number in range(how.looks)
                ]
            hands.append(Here("measure", measured, confinement, how.limits, service.kept))
            yield opened.enter_context(Dispatcher(service, hands, say))

    return run


def _of_fleet(how: Dispatching, service: Service, opened: ExitStack, say: Say) -> Sequence[Hands]:
    """Hands of the fleet. Raises NncError."""
    from ...driver.tuning.fleet import Fleet
    from . import fleet

    assert how.scheduler is not None
    address = how.scheduler
    members = opened.enter_context(
        closing(fleet.Members(lambda: Fleet(address, how.certificates, say=say)))
    )
    targets = [name for name in service.catalogue.target_names() if name != "host"]
    opened.enter_context(fleet.Waiting(service.queue, members, targets))
    return [fleet.OfFleet(f"fleet-{number}", members) for number in range(fleet.HANDS)]
