"""The command line of `nnc remote`: its actions and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable

MODEL = "a model of yours on the server, by its name or its id"
JOB = "a job, or an order of one job, by its id"


def add_remote(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `nnc remote`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (help, add_options) in ACTIONS.items():
        sub = actions.add_parser(name, help=help, description=help, allow_abbrev=False)
        if name not in ("login", "logout"):
            sub.add_argument(
                "--server",
                metavar="URL",
                help="one of the servers that you have signed in to (default: the environment "
                "variable NNC_REMOTE, else the one signed in to last)",
            )
        add_options(sub)


def _nothing(sub: argparse.ArgumentParser) -> None:
    """Add nothing: an action without options."""


def _add_login(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("url", metavar="URL", help="https://HOST, or http://127.0.0.1:PORT")
    sub.add_argument(
        "--certificates",
        metavar="FILE.pem",
        help="the authority that signed the server's certificate, if it is a private one",
    )
    sub.add_argument(
        "--plain-http",
        action="store_true",
        help="allow http:// to another machine; the token can be read on the way",
    )


def _add_logout(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "url", nargs="?", metavar="URL", help="the server (default: the one signed in to last)"
    )


def _add_upload(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("path", metavar="MODEL", help="a model's file or folder")
    sub.add_argument("--name", help="the model's name on the server (default: the file's name)")
    _add_quiet(sub)


def _add_model(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("model", metavar="MODEL", help=MODEL)


def _add_show(sub: argparse.ArgumentParser) -> None:
    _add_model(sub)
    sub.add_argument("--json", action="store_true", help="print all that the server knows, as JSON")


def _add_explore(sub: argparse.ArgumentParser) -> None:
    _add_model(sub)
    _add_output(sub, "PAGE.html")


def _add_output(sub: argparse.ArgumentParser, name: str) -> None:
    sub.add_argument("-o", "--output", required=True, metavar=name, help="the file to write")


def _add_order_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of an order."""
    add = sub.add_argument
    add(
        "--target",
        default="host",
        metavar="NAME,..",
        help="what to compile for, names that `nnc remote targets` lists (default: host, the "
        "server itself)",
    )
    add(
        "--precision",
        default="f32",
        metavar="NAME,..",
        help="the precisions of the weights (default: f32)",
    )
    add(
        "--threads",
        dest="thread_counts",
        default="1",
        metavar="N,..",
        help="measure with these numbers of threads (default: 1)",
    )
    add(
        "--seconds",
        type=int,
        default=0,
        help="how long to search faster schedules for each target (default: 0)",
    )
    add(
        "--engines",
        default="",
        metavar="NAME,..",
        help="the engines to measure, names that `nnc remote engines` lists (default: all)",
    )
    add("--inputs", metavar="FILE.npz", help="inputs to measure on (default: random values)")


def _add_order(sub: argparse.ArgumentParser) -> None:
    _add_model(sub)
    _add_order_options(sub)
    sub.add_argument(
        "--wait",
        action="store_true",
        help="wait until all jobs are done; exit code 1 if one failed",
    )
    _add_quiet(sub)


def _add_package(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("path", metavar="MODEL", help="a model's file or folder on this machine")
    _add_output(sub, "PACKAGE.zip")
    _add_order_options(sub)
    _add_quiet(sub)


def _add_watch(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("order", metavar="ORDER", help="an order, by its id")


def _add_job(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("job", metavar="JOB", help=JOB)


def _add_download(sub: argparse.ArgumentParser) -> None:
    _add_job(sub)
    _add_output(sub, "PACKAGE.zip")
    _add_quiet(sub)


def _add_report(sub: argparse.ArgumentParser) -> None:
    _add_job(sub)
    _add_output(sub, "REPORT.html")


def _add_cancel(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("what", metavar="JOB|ORDER", help="a job, or all jobs of an order, by its id")


def _add_delete(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "what",
        metavar="MODEL|ORDER|UPLOAD",
        help="a model by its name or its id, an order or an unfinished upload by its id",
    )


def _add_tokens(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--new", metavar="NAME", help="make a token of this name, which is shown only once"
    )
    sub.add_argument(
        "--days", type=int, help="with --new: days until the token expires (default: never)"
    )
    sub.add_argument("--delete", metavar="ID", help="revoke a token")


def _add_quiet(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-q", "--quiet", action="store_true", help="no progress messages")


ACTIONS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "login": (
        "Sign in to a server: the token is asked for, or read from standard input.",
        _add_login,
    ),
    "logout": ("Forget a server's token on this machine; the token stays valid.", _add_logout),
    "me": ("Show your account on the server: your name, your limits, and what you use.", _nothing),
    "upload": (
        "Send a model; an interrupted upload resumes where it stopped.",
        _add_upload,
    ),
    "models": ("List your models and unfinished uploads.", _nothing),
    "show": ("Show what the server found in a model.", _add_show),
    "explore": ("Download the page that shows the inside of a model.", _add_explore),
    "order": ("Order packages of a model: one for each target and precision.", _add_order),
    "orders": ("List your orders with their jobs.", _nothing),
    "watch": (
        "Follow an order until all of its jobs are done. Exit code 1 if one failed.",
        _add_watch,
    ),
    "download": ("Download a job's package.", _add_download),
    "report": ("Download a job's report.", _add_report),
    "log": ("Print the output of a job's command.", _add_job),
    "cancel": ("Cancel a job, or all jobs of an order.", _add_cancel),
    "delete": (
        "Delete a model with its orders, an order with its packages, or an unfinished upload.",
        _add_delete,
    ),
    "tokens": ("List your tokens, make one, or delete one.", _add_tokens),
    "targets": (
        "List the targets that the server compiles for, and which of them it can measure.",
        _nothing,
    ),
    "engines": ("List the engines that the server can measure.", _nothing),
    "package": (
        "Do all in one: upload a model, order a package for one target, wait, download it.",
        _add_package,
    ),
}
"""Each action's help and options."""
