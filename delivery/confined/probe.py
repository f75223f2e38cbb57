"""The command that tests the confinement: it tries what commands must not be able to do.

python -m nnc.delivery.confined.probe SECRET
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path


def main() -> None:
    """Exit with a line that says what was possible, or with status 0."""
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
        try:
            socket.socket(family).close()
        except PermissionError:
            continue
        sys.exit(f"a socket of {family.name} could be made")
    try:
        Path(sys.argv[1]).read_bytes()
    except OSError:
        pass
    else:
        sys.exit("a file elsewhere could be read")
    Path("written").write_text("a file of its own")
    Path(sys.executable).resolve().open("rb").close()


if __name__ == "__main__":
    main()
