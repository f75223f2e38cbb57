"""`nnc worker` and `nnc fleet`: run experiments for `nnc tune`, and manage a fleet's members."""

from __future__ import annotations

import argparse
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from ..ir.diagnostics import NncError
from ..targets.base import target as find_target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..driver.tuning.fleet import Fleet
    from ..driver.tuning.fleet_board import Board
    from .command import Streams

_PORTS = range(1 << 16)


def worker(args: argparse.Namespace, streams: Streams) -> int:
    """Run experiments, and jobs of services, until Ctrl-C."""
    from ..delivery.carrying import desk
    from ..driver.tuning.fleet_scratch import worker_scratch
    from ..driver.tuning.fleet_server import serve_worker

    target = find_target(args.target)
    with worker_scratch(), ExitStack() as opened:

        def also(worker: Any, board: Board) -> None:
            made = opened.enter_context(closing(desk.Desk(board, unconfined=args.unconfined)))
            desk.join(worker, made)

        serve_worker(args.scheduler, certificates(args, streams), target, _said(streams), also)
    return 0


def fleet(args: argparse.Namespace, streams: Streams) -> int:
    """Run an action of `nnc fleet`."""
    folder = streams.path(args.folder)
    if args.action == "scheduler":
        from ..driver.tuning.fleet_server import serve_scheduler

        if args.port not in _PORTS:
            raise NncError(f"nnc: --port is 0 to {_PORTS[-1]}, not {args.port}")
        serve_scheduler(args.host, args.port, folder, _said(streams))
        return 0
    from ..driver.tuning.fleet_membership import CERTIFICATE, KEY, make_membership

    ends = make_membership(folder)
    print(
        f"{folder}: {CERTIFICATE} and {KEY}, valid until {ends:%Y-%m-%d}. Who has the key can run "
        "code on every member: copy the folder to members only, for example by `scp -r`",
        file=streams.stdout,
    )
    return 0


def certificates(args: argparse.Namespace, streams: Streams) -> Path | None:
    """The folder that `--certificates` names."""
    return streams.path(args.certificates) if args.certificates else None


def fleet_of(
    args: argparse.Namespace, streams: Streams, say: Callable[[str], None]
) -> Fleet | None:
    """The fleet that `nnc tune` uses; None without one. Raises NncError."""
    if args.workers is not None and args.workers < 1:
        raise NncError(f"nnc: --workers is at least 1, not {args.workers}")
    if args.scheduler is None:
        if args.certificates:
            raise NncError("nnc: --certificates needs --scheduler")
        return None
    from ..driver.tuning.fleet import Fleet

    return Fleet(args.scheduler, certificates(args, streams), args.workers, say)


def _said(streams: Streams) -> Callable[[str], None]:
    return lambda text: print(text, file=streams.stdout, flush=True)
