"""Writes `files/llama_cpp.npz`: what llama.cpp computes for `random_models`, logits or embeddings.

pip install llama-cpp-python==0.3.36 && python make_logits.py [name ..]

Those of T5's encoders and of architectures added in November 2026 are of the llama.cpp in xllamacpp
2026.10, called by `llama_decode` or, for T5's encoders, `llama_encode`.
"""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from frontends.gguf.random_models import file, parts
from frontends.gguf.shapes import SHAPES

FILE = Path(__file__).parent / "files" / "llama_cpp.npz"
TOKENS = [3, 17, 40, 5, 5, 29, 61, 8, 33, 12, 50, 2]


def logits(name: str) -> np.ndarray:
    with tempfile.NamedTemporaryFile(suffix=".gguf") as kept:
        Path(kept.name).write_bytes(file(name))
        embeds = any("pooling_type" in key for key in parts(name)[0])
        model = llama_cpp.Llama(
            kept.name, logits_all=True, embedding=embeds, n_ctx=64, type_k=0, type_v=0, flash_attn=False, n_threads=1,
            verbose=False,
        )  # fmt: skip
        if embeds:
            return embeddings(model, parts(name)[0])
        model.eval(TOKENS)
        return np.array(model.scores[: len(TOKENS)])


def embeddings(model: llama_cpp.Llama, metadata: Mapping[str, Any]) -> np.ndarray:
    """Those of all tokens, or the one that they are pooled to, or its scores."""
    model._batch.reset()
    model._batch.add_sequence(TOKENS, 0, True)
    model._ctx.decode(model._batch)
    context, width = model._ctx.ctx, model.n_embd()
    if model.pooling_type() == llama_cpp.LLAMA_POOLING_TYPE_RANK:
        width = max([len(v) for key, v in metadata.items() if "output_labels" in key], default=1)
    if model.pooling_type() == llama_cpp.LLAMA_POOLING_TYPE_NONE:
        found = [llama_cpp.llama_get_embeddings_ith(context, i)[:width] for i in range(len(TOKENS))]
    else:
        found = [llama_cpp.llama_get_embeddings_seq(context, 0)[:width]]
    return np.array(found, np.float32)


if __name__ == "__main__":
    names = sys.argv[1:] or list(SHAPES)
    found = dict(np.load(FILE)) if FILE.exists() else {}
    for name in names:
        found[name] = logits(name)
    np.savez_compressed(FILE, **found, **({} if "tokens" in found else {"tokens": TOKENS}))
