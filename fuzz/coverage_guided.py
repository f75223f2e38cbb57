"""`python -m fuzz.coverage_guided`: atheris keeps the texts that reach new code of nnc.

Arguments are libFuzzer's: `-runs=N`, `-max_total_time=S`, `-seed=N`, a folder for the corpus.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from .cases import Case
from .mutate import mutated

CHANGED_AT_ONCE = 0.7
"""The share of texts changed by our mutations, which know tokens; libFuzzer changes bytes of
others.
"""


def main() -> None:
    """Start libFuzzer, which never returns."""
    import atheris

    with atheris.instrument_imports(include=["nnc"]):
        from . import seeds
        from .oracle import check

        texts = seeds.texts()  # loads most modules, the stages of a model needing them
    scratch = Path(tempfile.mkdtemp(prefix="fuzz-"))

    def one(data: bytes) -> None:
        case = Case("nn-opt", ("%s", "--allow-unregistered-dialect"), data, round_trip=True)
        finding = check(case, scratch)
        if finding is not None:
            raise RuntimeError(f"{finding.key}\n{finding.report}")

    def change(data: bytes, size: int, seed: int) -> bytes:
        choice = random.Random(seed)
        if choice.random() > CHANGED_AT_ONCE:
            return atheris.Mutate(data, size)
        text = data.decode("utf-8", "surrogateescape") if data.strip() else choice.choice(texts)
        return mutated(choice, text, choice.choice(texts))[:size]

    atheris.Setup(sys.argv, one, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
