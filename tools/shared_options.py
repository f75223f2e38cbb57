"""Options of several nnc commands."""

from __future__ import annotations

import argparse

from ..targets.base import target as find_target


def target_argument(text: str) -> str:
    """The name of a target, checked to exist. Raises NncError."""
    find_target(text)
    return text


def targets_argument(text: str) -> str:
    """The names of targets, separated by commas, checked to exist. Raises NncError."""
    for name in text.split(","):
        find_target(name)
    return text


def seed_argument(text: str) -> int:
    """The seed of random numbers, from 0 on. Raises ArgumentTypeError."""
    if text.isdecimal():
        return int(text)
    raise argparse.ArgumentTypeError(f"a whole number from 0 on is expected, not '{text}'")


def outputs_file(text: str) -> str:
    """The path of a file for outputs, known by its suffix. Raises ArgumentTypeError."""
    if not text or text.endswith((".npy", ".npz", ".json")):  # Streams refuse empty ones.
        return text
    raise argparse.ArgumentTypeError(f"a .npy, .npz or .json file is expected, not '{text}'")


def add_inputs(sub: argparse.ArgumentParser) -> None:
    """Add the options for inputs."""
    sub.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE.npy",
        help="an input, in order or by name; .npz for a sequence, .json for values of any kind",
    )
    sub.add_argument("--random", action="store_true", help="use random values for the other inputs")
    sub.add_argument(
        "--seed", type=seed_argument, default=0, help="the seed of --random (default: 0)"
    )
    sub.add_argument("--threads", type=int, default=1, help="worker threads (default: 1)")
    sub.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="neither read nor write the cache of compiled models",
    )


def add_fallback(sub: argparse.ArgumentParser) -> None:
    """Add the option for steps that a device does not support."""
    sub.add_argument(
        "--fallback",
        choices=("cpu", "error"),
        default="cpu",
        help="what to do with steps that a device does not support: run them on the host and list "
        "them (cpu), or refuse the model (error; default: cpu)",
    )


def add_tuned(sub: argparse.ArgumentParser) -> None:
    """Add the options for schedules from `nnc tune`."""
    sub.add_argument(
        "--tuned",
        metavar="FOLDER",
        help="use the schedules that `nnc tune` wrote to this folder, where they fit",
    )
    sub.add_argument(
        "--tuned-anywhere",
        action="store_true",
        help="also use schedules of --tuned that were measured on other machines",
    )
