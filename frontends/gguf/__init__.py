"""GGUF models in, a module of `nn` ops out.

`file` reads the tensors and the metadata, `blocks` knows how numbers are packed, and
`model` has one description for every architecture, as a file holds no graph; `mixers` has the
layers with states. `ops/` has the converters.

A model has the inputs `tokens` [1, length] and for each layer `past.N.key` and `past.N.value`
[1, heads, past, size], which are those of earlier tokens, of extent 0 before the first. Layers with
a state of fixed size have `past.N.conv` and `past.N.state` instead, of zeros before the first token
(see `mixers`), those of RWKV `past.N.mixed`, `past.N.fed` and `past.N.state` (see `rwkv`). Its
outputs are `logits` [1, length, vocabulary] and a `present` for each `past`, which is the past of
the next run. A model of diffusion has `logits` alone. A model of embeddings has `embeddings`, and
one that ranks texts `scores` [1, labels], without pasts.

Source: ggml's docs/gguf.md.
"""

from ..common.front_end import FrontEnd
from .layer import rows
from .model import read_model

FRONT_END = FrontEnd("GGUF", read_model, rows)

__all__ = ["FRONT_END"]
