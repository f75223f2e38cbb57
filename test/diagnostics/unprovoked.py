"""Lists the diagnostics that no test provokes; see README.md of this folder."""

import sys
from pathlib import Path

if __package__:
    from .recorder import provoked
    from .sites import Site, sites
    from .unreachable import UNREACHABLE, WAITING, waiting
else:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from diagnostics.recorder import provoked
    from diagnostics.sites import Site, sites
    from diagnostics.unreachable import UNREACHABLE, WAITING, waiting


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


def main(folder: Path, update: bool) -> int:
    """Print what is missing; 1 where neither table has it."""
    missing = {site.key: site for site in unprovoked(provoked(folder))}
    missing = {key: site for key, site in missing.items() if key not in UNREACHABLE}
    if update:
        WAITING.write_text("".join(f"{key}\n" for key in sorted(missing)), encoding="utf-8")
    unknown = [site for key, site in missing.items() if key not in waiting()]
    for site in unknown:
        print(f"no test provokes {site}")
    for key in sorted(waiting() - set(missing)):
        print(f"provoked or gone, take it out of waiting.txt: {key}")
    total = len(sites())
    print(
        f"{total - len(missing) - len(UNREACHABLE)} of {total} diagnostics provoked, "
        f"{len(UNREACHABLE)} cannot be, {len(missing)} wait for a test"
    )
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--update" in sys.argv[2:]))
