"""BERT and GPT-2 from `transformers`, with random but realistic weights, as plain tensor functions.

Each class is a module whose arguments and results are tensors only, as those of ONNX models are.
`attention` is "eager", which exports to MatMul and Softmax, or "sdpa", PyTorch's fused attention,
whose export also guards against rows that are completely masked.
"""

import math

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, DynamicCache, GPT2Config, GPT2LMHeadModel
from transformers.pytorch_utils import Conv1D


class Encoder(nn.Module):
    """BERT's encoder: from tokens and their mask to the last hidden state."""

    def __init__(self, tiny: bool, attention: str) -> None:
        super().__init__()
        size = (
            {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
            | {"intermediate_size": 256, "vocab_size": 500, "max_position_embeddings": 64}
            if tiny
            else {}
        )
        self.config = BertConfig(attn_implementation=attention, **size)
        self.model = BertModel(self.config, add_pooling_layer=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


class Decoder(nn.Module):
    """GPT-2 small on a whole sequence: from tokens to logits."""

    def __init__(self, tiny: bool, attention: str) -> None:
        super().__init__()
        size = (
            {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 500, "n_positions": 64}
            | {"bos_token_id": 0, "eos_token_id": 0}
            if tiny
            else {}
        )
        self.config = GPT2Config(attn_implementation=attention, **size)
        self.model = GPT2LMHeadModel(self.config)

    def forward(self, input_ids: Tensor) -> Tensor:
        # The mask that the model would make for itself, made here because the TorchScript exporter
        # lacks an operator (aten::diff) of the model's own way.
        T = input_ids.shape[1]
        causal = torch.full((1, 1, T, T), torch.finfo(torch.float32).min).triu(1)
        return self.model(input_ids=input_ids, attention_mask=causal, use_cache=False).logits


class DecoderStep(Decoder):
    """GPT-2 on one more token: from the token and each layer's past keys and values to the logits
    and each layer's keys and values, extended by one.
    """

    def forward(self, input_ids: Tensor, *past: Tensor) -> tuple[Tensor, ...]:
        cache = DynamicCache(list(zip(past[::2], past[1::2], strict=True)))
        result = self.model(input_ids=input_ids, past_key_values=cache, use_cache=True)
        present = [t for layer in result.past_key_values.layers for t in (layer.keys, layer.values)]
        return (result.logits, *present)


@torch.no_grad()
def settle(model: nn.Module, layers: int, width: int) -> None:
    """Give the model weights with which attention is neither uniform nor on a single token.

    Every bias, scale and shift is random too, so that none is an exact 0 or 1 that a compiler could
    fold away; layers that end a residual branch are smaller, by the number of branches.
    """
    std = 1.1 / math.sqrt(width)
    for name, module in model.named_modules():
        match module:
            case nn.Linear() | Conv1D():
                ends_branch = name.endswith(("c_proj", "output.dense"))
                nn.init.normal_(
                    module.weight, std=std / math.sqrt(2 * layers if ends_branch else 1)
                )
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=0.05)
            case nn.Embedding():
                nn.init.normal_(module.weight, std=std)
            case nn.LayerNorm():
                nn.init.uniform_(module.weight, 0.6, 1.4)
                nn.init.normal_(module.bias, std=0.1)
    model.eval()
