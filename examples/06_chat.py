"""Generate tokens with a GGUF model: the most likely one each time, with a key-value cache.

    python examples/06_chat.py [MODEL.gguf] [--tokens 1 15 27] [--count 16]

Without a model, it takes a tiny one from the tests. Tokens are numbers; there is no tokenizer here.
"""

import argparse
from pathlib import Path

import nnc
import numpy as np

TINY = Path(__file__).parent.parent / "test/frontends/gguf/files/llama.gguf"

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", nargs="?", type=Path, default=TINY)
parser.add_argument("--tokens", type=int, nargs="+", default=[3, 17, 40])
parser.add_argument("--count", type=int, default=8)
arguments = parser.parse_args()

model = nnc.compile(arguments.model)
tokens = np.array([arguments.tokens])
types = dict(zip(model.input_names, model.input_types, strict=True))
del types["tokens"]
past = {  # the cache, empty at first
    name: np.zeros([extent or 0 for extent in type.shape], np.float32)
    for name, type in types.items()
}
made = []
for _ in range(arguments.count):
    results = model.run({"tokens": tokens} | past)
    tokens = results.pop("logits")[:, -1:].argmax(-1)
    past = {name.replace("present", "past"): array for name, array in results.items()}
    made.append(int(tokens[0, 0]))
print("tokens:", *made)
