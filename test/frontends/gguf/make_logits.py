"""Writes `files/llama_cpp.npz`: the logits that llama.cpp computes for `random_models`.

pip install llama-cpp-python==0.3.36 && python make_logits.py [name ..]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from llama_cpp import Llama
from random_models import SHAPES, file

FILE = Path(__file__).parent / "files" / "llama_cpp.npz"
TOKENS = [3, 17, 40, 5, 5, 29, 61, 8, 33, 12, 50, 2]


def logits(name: str) -> np.ndarray:
    with tempfile.NamedTemporaryFile(suffix=".gguf") as kept:
        Path(kept.name).write_bytes(file(name))
        model = Llama(
            kept.name, logits_all=True, n_ctx=64, type_k=0, type_v=0, flash_attn=False, n_threads=1,
            verbose=False,
        )  # fmt: skip
        model.eval(TOKENS)
        return np.array(model.scores[: len(TOKENS)])


if __name__ == "__main__":
    names = sys.argv[1:] or list(SHAPES)
    found = dict(np.load(FILE)) if FILE.exists() else {}
    for name in names:
        found[name] = logits(name)
    np.savez_compressed(FILE, **found, **({} if "tokens" in found else {"tokens": TOKENS}))
