"""The options of `nnc tune` and of its companions: try, worker, fleet, calibrate."""

from __future__ import annotations

import argparse

from ..targets.base import HOST
from .shared_options import add_inputs, target_argument


def add_tune(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc tune`."""
    add_inputs(sub)
    sub.add_argument(
        "-o", "--output", metavar="FOLDER", help="where the schedules go; the file of --export"
    )
    sub.add_argument(
        "--seconds", type=float, default=60.0, help="how long to look for them (default: 60)"
    )
    sub.add_argument("--trials", type=int, metavar="N", help="experiments at most")
    sub.add_argument(
        "--curve",
        metavar="FILE.csv",
        help="write what was saved by when: a row for each experiment, the last one as it was "
        "compared in the whole model",
    )
    sub.add_argument(
        "--precision",
        action="store_true",
        help="also try products in other numbers: 16-bit floats or f32, integers or f32",
    )
    sub.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="experiments at once (default: 1 on this machine, where several disturb each other's "
        "times; all workers of --scheduler)",
    )
    _add_scheduler(sub, required=False)
    _add_what_is_kept(sub)


def _add_what_is_kept(sub: argparse.ArgumentParser) -> None:
    """Add the actions of `nnc tune` on stored results, instead of a search."""
    sub.add_argument(
        "--replay",
        metavar="FOLDER",
        help="search nothing: compile with the schedules of this folder, and print the digest of "
        "the code, which is the same each time",
    )
    sub.add_argument(
        "--explain",
        metavar="FOLDER",
        help="search nothing: say of each kernel what was found, whether that holds still, and how "
        "its schedule differs from the default",
    )
    sub.add_argument(
        "--prune",
        metavar="FOLDER",
        help="search nothing: remove schedules of the model's kernels that are not legal any more, "
        "or are what the default is now; --drop says what else",
    )
    sub.add_argument(
        "--drop",
        action="append",
        default=[],
        choices=("machines", "versions", "kernels"),
        help="with --prune: remove schedules of other machines, of other versions of nnc, or of "
        "kernels that the model does not have; may be given several times",
    )
    sub.add_argument(
        "--merge",
        metavar="FROM",
        help="no model: add the schedules of this folder, or of a file of --export, to the folder "
        "of -o; of two for a kernel and machine the one stays that surely saves more",
    )
    sub.add_argument(
        "--export",
        metavar="FOLDER",
        help="no model: write a folder's schedules, all measurements and this machine's numbers "
        "into the file of -o, for --merge elsewhere",
    )
    sub.add_argument(
        "--measurements",
        metavar="FILE.csv",
        help="no model: write all that was measured by now as a table, a column for each feature",
    )


def add_try(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc try`."""
    add_inputs(sub)
    add = sub.add_argument
    add(
        "--schedule",
        metavar="FILE",
        help="the edited schedule; without it the kernel's default one is printed, and without "
        "--kernel the names of the kernels that have one",
    )
    add("--kernel", metavar="NAME", help="the kernel it is for (default: the one that it names)")
    add("--seconds", type=float, default=5.0, help="of runs in turns (default: 5)")
    add(
        "--json",
        action="store_true",
        help="what it comes to as JSON, also where it is not legal or wrong: 0 then, too",
    )


def _add_scheduler(sub: argparse.ArgumentParser, *, required: bool) -> None:
    sub.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        required=required,
        help="tls://HOST:PORT of a fleet's scheduler, whose workers carry out the experiments",
    )
    sub.add_argument(
        "--certificates",
        metavar="FOLDER",
        help="the fleet's key, as `nnc fleet init FOLDER` has made it; without it only a "
        "scheduler of this machine at tcp://127.0.0.1 is spoken to",
    )


def add_worker(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc worker`."""
    _add_scheduler(sub, required=True)
    sub.add_argument(
        "--target",
        metavar="NAME",
        type=target_argument,
        default=HOST,
        help="what this machine measures for (default: host, with what was calibrated here)",
    )
    sub.add_argument(
        "--unconfined",
        action="store_true",
        help="carry out jobs of `nnc serve` even where this machine cannot confine them",
    )


def add_fleet(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc fleet`."""
    sub.add_argument(
        "action",
        choices=("init", "scheduler"),
        help="init makes the key that the members of a fleet share; scheduler is where workers "
        "and tuners meet, until Ctrl-C",
    )
    sub.add_argument("folder", metavar="FOLDER", help="with the key and its certificate")
    sub.add_argument(
        "--host", default="0.0.0.0", help="where the scheduler listens (default: everywhere)"
    )
    sub.add_argument("--port", type=int, default=8786, help="and at which port (default: 8786)")


def add_calibrate(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc calibrate`."""
    add = sub.add_argument
    add(
        "--target",
        metavar="NAME",
        type=target_argument,
        default=HOST,
        help="whose numbers to measure (default: host, which takes them from then on; named "
        "targets keep their own, unless NNC_CALIBRATION is all)",
    )
    add(
        "--seconds",
        type=float,
        default=120.0,
        help="how long to measure at most (default: 120; a quarter of it where nothing disturbs)",
    )
    add("--show", action="store_true", help="what is kept, beside the built-in numbers")
    add("--forget", action="store_true", help="remove what is kept")
    add(
        "--force",
        action="store_true",
        help="keep the numbers too whose fastest runs do not agree",
    )
    add("-q", "--quiet", action="store_true", help="no progress messages")
