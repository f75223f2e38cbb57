"""The command line of the sweep; see the package."""

from __future__ import annotations

import argparse

from . import __doc__ as about


def main() -> None:
    """Run the command line: `run`, `table` or `store`."""
    parser = argparse.ArgumentParser(
        "python -m bench.formats.sweep", None, about, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run what has no result yet")
    run.add_argument("framework")
    run.add_argument("--subject", default="*", help="names of subjects, with * for any text")
    run.add_argument("--strength", type=int, default=2, help="parameters combined in all ways")
    run.add_argument("--most", type=int, default=10_000, help="configurations of a subject")
    run.add_argument("--again", default="", metavar="wrong,crash", help="verdicts to run again")
    run.add_argument("--interpreted", action="store_true", help="by the interpreter: tenfold speed")
    commands.add_parser("table", help="write docs/sweep.md")
    store = commands.add_parser("store", help="store a sample for the tests")
    store.add_argument("framework")
    store.add_argument("--count", type=int, default=90)
    given = parser.parse_args()
    if given.command == "run":
        from .run import run as run_cases

        options = given.strength, given.most, given.again, given.interpreted
        run_cases(given.framework, given.subject, *options)
    elif given.command == "table":
        from .table import write

        write()
    else:
        from .stored import store as store_cases

        store_cases(given.framework, given.count)


if __name__ == "__main__":
    main()
