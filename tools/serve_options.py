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
        help="where the service keeps what it has (default: nnc/serve in XDG_DATA_HOME or "
        f"~/.local/share); before it an operator's command: {ACTIONS}",
    )
    add("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1, this machine)")
    add("--port", type=int, default=8080, help="and at which port (default: 8080)")
    add(
        "--url",
        help="the address that browsers use, as https://nnc.example.org; needed beyond this "
        "machine",
    )
    add("--certificate", metavar="FILE", help="of TLS, with those that signed it, as PEM")
    add("--key", metavar="FILE", help="of that certificate")
    add(
        "--behind-tls",
        action="store_true",
        help="a proxy in front adds TLS and passes requests on with their header Host",
    )
    add(
        "--database",
        metavar="URL",
        help="postgresql://USER@HOST/NAME (default: SQLite in the folder); the environment's "
        "NNC_DATABASE says it without showing a password to other users of this machine",
    )
    add(
        "--blobs",
        metavar="URL",
        help="s3://BUCKET/PREFIX?endpoint=URL, a store for files (default: in the folder)",
    )
    _add_jobs(sub)
    _add_users(sub)


def _add_jobs(sub: argparse.ArgumentParser) -> None:
    jobs = sub.add_argument_group("jobs", "which are carried out by confined commands")
    jobs.add_argument(
        "--unconfined",
        action="store_true",
        help="start even where this machine cannot confine commands: a model can then do all that "
        "this user can",
    )
    jobs.add_argument(
        "--looks",
        type=int,
        metavar="N",
        help="models that are looked at side by side (default: half of the processors)",
    )
    jobs.add_argument(
        "--scheduler",
        metavar="tls://HOST:PORT",
        help="of a fleet, whose workers carry out jobs for other targets than host",
    )
    jobs.add_argument("--certificates", metavar="FOLDER", help="the fleet's key")


def _add_users(sub: argparse.ArgumentParser) -> None:
    users = sub.add_argument_group("users", "of `user add`")
    users.add_argument("--bytes", type=int, help="that the user may keep (default: 10 GB)")
    users.add_argument("--jobs", type=int, help="that may wait or run (default: 100)")
    users.add_argument("--seconds", type=int, help="that a job may take (default: 1800)")
    users.add_argument("--operator", action="store_true", help="may read metrics")
