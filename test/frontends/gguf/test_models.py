"""Decoders of all architectures: their logits are those of transformers, see make.py."""

from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.tools.nnc import main

from .running import Model

FILES = Path(__file__).parent / "files"
EXPECTED = dict(np.load(FILES / "logits.npz"))
TOKENS = EXPECTED.pop("tokens")


def check(got: np.ndarray, wanted: np.ndarray) -> None:
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_logits_of_a_whole_text(name):
    check(Model(FILES / f"{name}.gguf")(TOKENS), EXPECTED[name])


@pytest.mark.parametrize("name", ["llama", "gemma2", "gpt2", "gemma3n", "llama4"])
def test_parts_of_a_text_follow_on_their_cache(name):
    model = Model(FILES / f"{name}.gguf")
    assert model.names[:3] == ["tokens", "past.0.key", "past.0.value"]
    assert model.results[:3] == ["logits", "present.0.key", "present.0.value"]
    parts = [model(TOKENS[:, a:b]) for a, b in ((0, 7), (7, 8), (8, 12))]
    check(np.concatenate(parts, 1), EXPECTED[name])


@pytest.mark.parametrize("name", ["llama3", "packed", "qwen2moe"])
def test_compiled(name):
    model = Model(FILES / f"{name}.gguf", compiled=True)
    parts = [model(TOKENS[:, a:b]) for a, b in ((0, 11), (11, 12))]
    check(np.concatenate(parts, 1), EXPECTED[name])


def test_a_cache_that_is_left_out_is_empty(tmp_path):
    model = nnc.compile(FILES / "llama.gguf")
    found = model(TOKENS[:, :7])[0]
    check(found, EXPECTED["llama"][:, :7])
    first = model.run({"tokens": TOKENS[:, :4]})
    past = {name.replace("present", "past"): v for name, v in first.items() if name != "logits"}
    check(model.run({"tokens": TOKENS[:, 4:]} | past)["logits"], EXPECTED["llama"][:, 4:])
    np.save(tmp_path / "tokens.npy", TOKENS)
    wanted = tmp_path / "wanted.npz"
    arguments = [str(FILES / "llama.gguf"), f"--input=tokens={tmp_path}/tokens.npy"]
    assert main(["run", *arguments, "-q", f"--output={wanted}"]) == 0
    check(np.load(wanted)["logits"], EXPECTED["llama"])
