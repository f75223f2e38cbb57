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
                help="one of the servers that you have signed in to (default: NNC_REMOTE, else "
                "the one signed in to last)",
            )
        add_options(sub)


def _nothing(sub: argparse.ArgumentParser) -> None:
    """Add nothing: an action without options."""


def _add_login(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("url", metavar="URL", help="https://HOST, or http://127.0.0.1:PORT")
    sub.add_argument(
        "--certificates",
        metavar="FILE.pem",
        help="who signs the server's certificate, where that is a house's own authority",
    )
    sub.add_argument(
        "--plain-http",
        action="store_true",
        help="allow http:// to another machine; the token can be read on the way",
    )


def _add_logout(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("url", nargs="?", metavar="URL", help="(default: the one signed in to last)")


def _add_upload(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("path", metavar="MODEL", help="a model's file or folder")
    sub.add_argument("--name", help="what to call it there (default: the file's name)")
    _add_quiet(sub)


def _add_model(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("model", metavar="MODEL", help=MODEL)


def _add_show(sub: argparse.ArgumentParser) -> None:
    _add_model(sub)
    sub.add_argument("--json", action="store_true", help="all that the server knows, as JSON")


def _add_explore(sub: argparse.ArgumentParser) -> None:
    _add_model(sub)
    sub.add_argument("-o", "--output", required=True, metavar="PAGE.html")


def _add_order_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of an order."""
    add = sub.add_argument
    add(
        "--target",
        default="host",
        metavar="NAME,..",
        help="what to compile for, as `nnc remote targets` lists them (default: host, which is "
        "the server)",
    )
    add("--precision", default="f32", metavar="NAME,..", help="of the weights (default: f32)")
    add(
        "--threads",
        dest="thread_counts",
        default="1",
        metavar="N,..",
        help="with how many threads to measure (default: 1)",
    )
    add(
        "--seconds",
        type=int,
        default=0,
        help="how long to look for faster schedules, for each target (default: 0)",
    )
    add(
        "--engines",
        default="",
        metavar="NAME,..",
        help="what to measure on, as `nnc remote engines` lists them (default: all)",
    )
    add("--inputs", metavar="FILE.npz", help="what to measure on (default: random values)")


def _add_order(sub: argparse.ArgumentParser) -> None:
    _add_model(sub)
    _add_order_options(sub)
    sub.add_argument(
        "--wait",
        action="store_true",
        help="until all of it is done; exit code 1 if something failed",
    )
    _add_quiet(sub)


def _add_package(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("path", metavar="MODEL", help="a model's file or folder, of this machine")
    sub.add_argument("-o", "--output", required=True, metavar="PACKAGE.zip")
    _add_order_options(sub)
    _add_quiet(sub)


def _add_watch(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("order", metavar="ORDER", help="an order by its id")


def _add_job(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("job", metavar="JOB", help=JOB)


def _add_download(sub: argparse.ArgumentParser) -> None:
    _add_job(sub)
    sub.add_argument("-o", "--output", required=True, metavar="PACKAGE.zip")
    _add_quiet(sub)


def _add_report(sub: argparse.ArgumentParser) -> None:
    _add_job(sub)
    sub.add_argument("-o", "--output", required=True, metavar="REPORT.html")


def _add_cancel(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("what", metavar="JOB|ORDER", help="a job, or all jobs of an order, by its id")


def _add_delete(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "what",
        metavar="MODEL|ORDER|UPLOAD",
        help="a model by its name or its id, an order or an unfinished upload by its id",
    )


def _add_tokens(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--new", metavar="NAME", help="make one, which is shown this once")
    sub.add_argument("--days", type=int, help="of --new: until it expires (default: never)")
    sub.add_argument("--delete", metavar="ID", help="make one good for nothing")


def _add_quiet(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-q", "--quiet", action="store_true", help="no progress messages")


ACTIONS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "login": (
        "Sign in to a server: the token is asked for, or read from standard input.",
        _add_login,
    ),
    "logout": ("Forget a server's token on this machine; the token stays valid.", _add_logout),
    "me": ("Say who you are there, what you may have, and what you have.", _nothing),
    "upload": (
        "Send a model; one that broke off goes on where it had stopped.",
        _add_upload,
    ),
    "models": ("List your models, and uploads that are not finished.", _nothing),
    "show": ("Say what the server found in a model.", _add_show),
    "explore": ("Take the page to look inside a model.", _add_explore),
    "order": ("Order packages of a model: one for each target and precision.", _add_order),
    "orders": ("List your orders with their jobs.", _nothing),
    "watch": (
        "Follow an order until all of it is done. Exit code 1 if something failed.",
        _add_watch,
    ),
    "download": ("Take a job's package.", _add_download),
    "report": ("Take a job's report.", _add_report),
    "log": ("Print what the command of a job said.", _add_job),
    "cancel": ("End a job, or an order's jobs.", _add_cancel),
    "delete": ("Delete a model with its orders, an order with its packages.", _add_delete),
    "tokens": ("List your tokens, make one, delete one.", _add_tokens),
    "targets": ("List what the server compiles for, and where it can measure.", _nothing),
    "engines": ("List what the server can measure models on.", _nothing),
    "package": (
        "The whole way in one: send a model, order a package for one target, wait, take it.",
        _add_package,
    ),
}
"""Each action's help and options."""
