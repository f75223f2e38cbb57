"""Language models of `transformers`, small, with random weights, with and without cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import transformers as zoo
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from .rows import ROWS, Call, Spec, floats, integers, mask, ones

WORDS = 300
LAYERS, WIDTH, HEADS, HIDDEN = 2, 64, 4, 128

SMALL: dict[str, Any] = {
    "vocab_size": WORDS,
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": HIDDEN,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}

Calls = Callable[..., object]


def network(config: str, model: str, **options: Any) -> nn.Module:
    """A model of `transformers`, by the names of its configuration and its class, with eager
    attention.
    """
    made = getattr(zoo, config)(**options)
    made._attn_implementation = options.get("attn_implementation", "eager")
    made._experts_implementation = "batched_mm"  # its products are the only ones that export
    module = getattr(zoo, model)(made)
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, nn.Linear | nn.Embedding | Conv1D):
                part.weight.mul_(4.0)  # the initial 0.02 leaves attention flat
    return module


def encode(model: nn.Module, input_ids: Tensor, attention_mask: Tensor) -> object:
    """The last hidden states."""
    return model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def encoder_row(name: str, prefix: str, **options: Any) -> None:
    """Add the row of an encoder: tokens and a mask to hidden states."""

    def make() -> nn.Module:
        return Call(network(f"{prefix}Config", f"{prefix}Model", **(SMALL | options)), encode)

    tokens = integers(WORDS, "batch", "tokens")
    ROWS.add(name, make, input_ids=tokens, attention_mask=mask("batch", "tokens"))


encoder_row("bert", "Bert")
encoder_row("bert_sdpa", "Bert", attn_implementation="sdpa")
encoder_row("roberta", "Roberta", max_position_embeddings=130)
encoder_row("albert", "Albert", embedding_size=32)
encoder_row("electra", "Electra", embedding_size=32)
encoder_row("mpnet", "MPNet")
encoder_row("deberta_v2", "DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"])
encoder_row("modernbert", "ModernBert", global_attn_every_n_layers=2, local_attention=8)
encoder_row(
    "distilbert", "DistilBert", dim=WIDTH, n_layers=LAYERS, n_heads=HEADS, hidden_dim=HIDDEN
)
encoder_row("xlm_roberta", "XLMRoberta", max_position_embeddings=130)


def logits(model: nn.Module, input_ids: Tensor, attention_mask: Tensor) -> object:
    """The logits at each token, without a cache."""
    return model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).logits


def step(model: nn.Module, input_ids: Tensor, attention_mask: Tensor, *past: Tensor) -> object:
    """The logits, and each layer's keys and values with those of the new tokens appended."""
    cache = zoo.DynamicCache(list(zip(past[::2], past[1::2], strict=True)))
    found = model(
        input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True
    )
    layers = found.past_key_values.layers
    return (found.logits, *(t for layer in layers for t in (layer.keys, layer.values)))


def decoder_rows(
    name: str, prefix: str, model: str = "ForCausalLM", heads: int = HEADS, **options: Any
) -> None:
    """Add two rows of a decoder: on a whole sequence, and on one more token with a cache."""
    options = SMALL | options
    head = options.get("head_dim", WIDTH // HEADS)

    def make(call: Calls) -> nn.Module:
        return Call(network(f"{prefix}Config", f"{prefix}{model}", **options), call)

    ROWS.add(
        name,
        partial(make, logits),
        input_ids=integers(WORDS, "batch", "tokens"),
        attention_mask=ones("batch", "tokens"),
    )
    past: dict[str, Spec] = {
        f"past_{kind}_{layer}": floats("batch", heads, "past", head)
        for layer in range(LAYERS)
        for kind in ("key", "value")
    }
    ROWS.add(
        f"{name}_step",
        partial(make, step),
        input_ids=integers(WORDS, "batch", 1),
        attention_mask=ones("batch", "past+1"),
        **past,
    )


_GROUPED: dict[str, Any] = {"num_key_value_heads": 2, "heads": 2}
_GPT: dict[str, Any] = {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": 128}
decoder_rows("gpt2", "GPT2", "LMHeadModel", **_GPT)
decoder_rows("llama", "Llama", **_GROUPED)
decoder_rows("mistral", "Mistral", **_GROUPED, sliding_window=None)
decoder_rows("qwen2", "Qwen2", **_GROUPED)
decoder_rows("qwen3", "Qwen3", **_GROUPED, head_dim=16)
decoder_rows("gemma", "Gemma", **_GROUPED, head_dim=16)
decoder_rows("gemma2", "Gemma2", **_GROUPED, head_dim=16, sliding_window=64)
decoder_rows("phi3", "Phi3", **_GROUPED)
decoder_rows("gpt_neox", "GPTNeoX")
decoder_rows("opt", "OPT", ffn_dim=HIDDEN, word_embed_proj_dim=WIDTH)
decoder_rows("falcon", "Falcon", num_kv_heads=1, heads=1, new_decoder_architecture=False)
decoder_rows("bloom", "Bloom", n_layer=LAYERS, n_head=HEADS)
decoder_rows("mixtral", "Mixtral", **_GROUPED, num_local_experts=4, sliding_window=None)


def sequence_to_sequence(
    model: nn.Module, input_ids: Tensor, attention_mask: Tensor, decoder_input_ids: Tensor
) -> object:
    """The decoder's logits and the encoder's hidden states."""
    found = model(
        input_ids=input_ids,
        attention_mask=attention_mask,
        decoder_input_ids=decoder_input_ids,
        use_cache=False,
    )
    return found.logits, found.encoder_last_hidden_state


_T5: dict[str, Any] = {"vocab_size": WORDS, "d_model": WIDTH, "d_kv": 16, "d_ff": HIDDEN}
_T5 |= {"num_layers": LAYERS, "num_heads": HEADS, "decoder_start_token_id": 0}
_BART: dict[str, Any] = {"vocab_size": WORDS, "d_model": WIDTH, "max_position_embeddings": 128}
for _side in ("encoder", "decoder"):
    _BART |= {f"{_side}_layers": LAYERS, f"{_side}_attention_heads": HEADS}
    _BART |= {f"{_side}_ffn_dim": HIDDEN}
_BART |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
for _name, _prefix, _model, _options in (
    ("t5", "T5", "ForConditionalGeneration", _T5),
    ("t5_gated", "T5", "ForConditionalGeneration", {**_T5, "feed_forward_proj": "gated-gelu"}),
    ("bart", "Bart", "ForConditionalGeneration", {**_BART, "forced_eos_token_id": 2}),
    ("marian", "Marian", "MTModel", {**_BART, "forced_eos_token_id": 2}),
):
    _make = partial(network, f"{_prefix}Config", f"{_prefix}{_model}", **_options)
    ROWS.add(
        _name,
        lambda make=_make: Call(make(), sequence_to_sequence),
        input_ids=integers(WORDS, "batch", "tokens"),
        attention_mask=mask("batch", "tokens"),
        decoder_input_ids=integers(WORDS, "batch", "prompt"),
    )


def only_tokens(model: nn.Module, input_ids: Tensor) -> object:
    """The logits of a model that takes no mask."""
    return model(input_ids=input_ids, use_cache=False).logits


_STATE: dict[str, Any] = {"vocab_size": WORDS, "hidden_size": WIDTH, "num_hidden_layers": LAYERS}
_STATE |= {"state_size": 8}
_MAMBA2 = {**_STATE, "num_heads": 8, "head_dim": 16, "n_groups": 1, "chunk_size": 8}
ROWS.add(
    "mamba",
    lambda: Call(network("MambaConfig", "MambaForCausalLM", **_STATE), only_tokens),
    input_ids=integers(WORDS, "batch", "tokens"),
)
ROWS.add(
    "mamba2",
    lambda: Call(network("Mamba2Config", "Mamba2ForCausalLM", **_MAMBA2), only_tokens),
    input_ids=integers(WORDS, "batch", "tokens"),
)


class Tagger(nn.Module):
    """A tagger of tokens: an embedding, a bidirectional recurrent network, a linear layer."""

    def __init__(self, kind: type[nn.RNNBase], layers: int = 1) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 32)
        self.recurrent = kind(32, 24, layers, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(48, 9)

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.tags(self.recurrent(self.embedding(input_ids))[0])


for _kind in (nn.LSTM, nn.GRU, nn.RNN):
    ROWS.add(
        f"{_kind.__name__.lower()}_tagger",
        partial(Tagger, _kind, 2 if _kind is nn.LSTM else 1),
        input_ids=integers(WORDS, "batch", "tokens"),
    )


class Characters(nn.Module):
    """A character-level LSTM whose states are inputs and outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 32)
        self.recurrent = nn.LSTM(32, 24, 1, batch_first=True)
        self.words = nn.Linear(24, WORDS)

    def forward(self, input_ids: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, ...]:
        y, (h, c) = self.recurrent(self.embedding(input_ids), (h, c))
        return self.words(y), h, c


ROWS.add(
    "lstm_stream",
    Characters,
    input_ids=integers(WORDS, "batch", "tokens"),
    h=floats(1, "batch", 24),
    c=floats(1, "batch", 24),
)


class Translator(nn.Module):
    """PyTorch's own transformer encoder, with a padding mask."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, batch_first=True)
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.encoder(self.embedding(input_ids), src_key_padding_mask=attention_mask == 0)


ROWS.add(
    "torch_transformer",
    Translator,
    input_ids=integers(WORDS, "batch", "tokens"),
    attention_mask=mask("batch", "tokens"),
)
