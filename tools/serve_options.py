"""The command line of `nnc serve`."""

from __future__ import annotations

import argparse

ACTIONS = "user add NAME, user remove NAME, user list, token NAME"


def add_serve(sub: argparse.ArgumentParser) -> None:
    """The options of `nnc serve`."""
    add = sub.add_argument
    sub.usage = (
        "nnc serve [FOLDER] [options]\n"
        "       nnc serve user (add|remove) NAME [FOLDER] [options]\n"
        "       nnc serve user list [FOLDER] [options]\n"
        "       nnc serve token NAME [FOLDER] [options]"
    )
    add(
        "words",
        nargs="*",
        metavar="FOLDER",
        help="the folder of the service's data (default: nnc/serve in XDG_DATA_HOME or "
        f"~/.local/share); an operator's command may stand before it: {ACTIONS}",
    )
    add(
        "--host",
        default="127.0.0.1",
        help="the address to listen at (default: 127.0.0.1, this machine)",
    )
    add("--port", type=int, default=8080, help="the port to listen at (default: 8080)")
    add(
        "--url",
        help="the address that browsers use, such as https://nnc.example.org; required unless only "
        "this machine uses the service",
    )
    add(
        "--certificate",
        metavar="FILE",
        help="the TLS certificate with those that signed it, as PEM",
    )
    add("--key", metavar="FILE", help="the private key of --certificate")
    add(
        "--behind-tls",
        action="store_true",
        help="a proxy in front adds TLS and passes requests on with their header Host",
    )
    add(
        "--database",
        metavar="URL",
        help="postgresql://USER@HOST/NAME (default: SQLite in the folder); the environment "
        "variable NNC_DATABASE gives it without showing a password to other users of this machine",
    )
    add(
        "--blobs",
        metavar="URL",
        help="s3://BUCKET/PREFIX?endpoint=URL, a store for files (default: in the folder)",
    )
    _add_jobs(sub)
    _add_users(sub)


def _add_jobs(sub: argparse.ArgumentParser) -> None:
    jobs = sub.add_argument_group("jobs", "How jobs are run, as confined commands.")
    jobs.add_argument(
        "--unconfined",
        action="store_true",
        help="start even if this machine cannot confine commands: a model can then do all that "
        "this user can",
    )
    jobs.add_argument(
        "--looks",
        type=int,
        metavar="N",
        help="how many models are examined at once (default: half of the processors)",
    )
    jobs.add_argument(
        "--scheduler",
        metavar="tls://HOST:PORT",
        help="the scheduler of a fleet, whose workers run jobs for targets other than host",
    )
    jobs.add_argument("--certificates", metavar="FOLDER", help="the folder with the fleet's key")


def _add_users(sub: argparse.ArgumentParser) -> None:
    users = sub.add_argument_group("users", "The limits and rights of the user of `user add`.")
    users.add_argument(
        "--bytes", type=int, help="the most bytes that the user may store (default: 10 GB)"
    )
    users.add_argument("--jobs", type=int, help="the most jobs that may wait or run (default: 100)")
    users.add_argument(
        "--seconds", type=int, help="the longest that a job may take (default: 1800)"
    )
    users.add_argument("--operator", action="store_true", help="the user may read metrics")
