"""Lists the diagnostics that no test provokes; see README.md of this folder."""

import sys
from pathlib import Path

if __package__:
    from .recorder import provoked
    from .sites import Site, sites
else:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from diagnostics.recorder import provoked
    from diagnostics.sites import Site, sites
    from diagnostics.unreachable import UNREACHABLE


def unprovoked(lines: set[tuple[str, int]]) -> list[Site]:
    """The sites in none of whose lines an error was made."""
    by_file: dict[str, set[int]] = {}
    for file, line in lines:
        by_file.setdefault(file, set()).add(line)
    return [
        site
        for site in sites()
        if not by_file.get(site.file, set()) & set(range(site.first, site.last + 1))
    ]


def main(folder: Path) -> int:
    """Print what is missing; 1 when that is not what the table of unreachable ones says."""
    missing = unprovoked(provoked(folder))
    unknown = [site for site in missing if site.key not in UNREACHABLE]
    stale = set(UNREACHABLE) - {site.key for site in missing}
    for site in unknown:
        print(f"no test provokes {site}")
    for key in sorted(stale):
        print(f"unreachable.py lists what is provoked or gone: {key}")
    total = len(sites())
    print(
        f"{total - len(missing)} of {total} diagnostics provoked, {len(UNREACHABLE)} have a reason"
    )
    return 1 if unknown or stale else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
