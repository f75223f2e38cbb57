"""Exports well-known models to ONNX, as workloads for tests and measurements.

    python -m bench.models resnet18 -o resnet18.onnx [--tiny] [--batch N] [--exporter torchscript]

Weights are random with a fixed seed, and realistic: activations stay near 1, batch norms carry the
statistics of the data they see. Every export is checked against PyTorch in ONNX Runtime.
"""

import argparse
import logging
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn
from torch.export import Dim

from . import language, vision

SEED = 20
EXPORTERS = ("torchscript", "dynamo")


@dataclass(frozen=True)
class Workload:
    """A module in evaluation mode, with example arguments, and names of inputs and outputs.

    `dims` are the dimensions of every input and output that may be dynamic: their names and maxima.
    """

    module: nn.Module
    inputs: dict[str, Tensor]
    outputs: tuple[str, ...]
    dims: tuple[tuple[str, int], ...] = ()


def image_classifier(make: Callable[[bool], nn.Module]) -> Callable[[bool, int], Workload]:
    """A function that makes the workload of an image classifier."""

    def build(tiny: bool, batch: int) -> Workload:
        model = make(tiny)
        size = 64 if tiny else 224
        vision.settle(model, size)
        return Workload(model, {"image": vision.random_images(batch, size)}, ("logits",))

    return build


def bert_base(tiny: bool, batch: int, attention: str = "eager") -> Workload:
    """BERT-base on 128 tokens, of which the last ones of each row are masked."""
    model = language.Encoder(tiny, attention)
    language.settle(model, model.config.num_hidden_layers, model.config.hidden_size)
    tokens = 32 if tiny else 128
    lengths = tokens - tokens // 8 - torch.arange(batch).unsqueeze(1) % (tokens // 2)
    inputs = {
        "input_ids": torch.randint(model.config.vocab_size, (batch, tokens)),
        "attention_mask": (torch.arange(tokens) < lengths).long(),
    }
    most = model.config.max_position_embeddings
    return Workload(model, inputs, ("last_hidden_state",), (("batch", 64), ("tokens", most)))


def gpt2(tiny: bool, batch: int, attention: str = "eager") -> Workload:
    """GPT-2 small on a sequence of 64 tokens."""
    model = language.Decoder(tiny, attention)
    language.settle(model, model.config.n_layer, model.config.n_embd)
    input_ids = torch.randint(model.config.vocab_size, (batch, 16 if tiny else 64))
    dims = (("batch", 64), ("tokens", model.config.n_positions))
    return Workload(model, {"input_ids": input_ids}, ("logits",), dims)


def gpt2_step(tiny: bool, batch: int, attention: str = "eager") -> Workload:
    """GPT-2 small on one token, with the keys and values of 256 tokens before it."""
    model = language.DecoderStep(tiny, attention)
    config = model.config
    language.settle(model, config.n_layer, config.n_embd)
    inputs = {"input_ids": torch.randint(config.vocab_size, (batch, 1))}
    outputs = ["logits"]
    for layer in range(config.n_layer):
        for kind in ("key", "value"):
            shape = (batch, config.n_head, 16 if tiny else 256, config.n_embd // config.n_head)
            inputs[f"past_{kind}_{layer}"] = torch.randn(shape)
            outputs.append(f"present_{kind}_{layer}")
    return Workload(model, inputs, tuple(outputs))


MODELS: dict[str, Callable[[bool, int], Workload]] = {
    "resnet18": image_classifier(vision.resnet18),
    "resnet50": image_classifier(vision.resnet50),
    "vgg16": image_classifier(vision.vgg16),
    "mobilenet_v2": image_classifier(vision.mobilenet_v2),
    "squeezenet": image_classifier(vision.squeezenet),
    "efficientnet_b0": image_classifier(vision.efficientnet_b0),
    "bert_base": bert_base,
    "gpt2": gpt2,
    "gpt2_step": gpt2_step,
    "bert_base_sdpa": partial(bert_base, attention="sdpa"),
    "gpt2_sdpa": partial(gpt2, attention="sdpa"),
    "gpt2_step_sdpa": partial(gpt2_step, attention="sdpa"),
}


def build(name: str, tiny: bool = False, batch: int = 1) -> Workload:
    """The named workload; the same call gives the same weights and inputs."""
    torch.manual_seed(SEED)
    return MODELS[name](tiny, batch)


def export(
    workload: Workload,
    path: Path,
    exporter: str = "dynamo",
    opset: int | None = None,
    optimize: bool = True,
    symbolic: bool = False,
) -> onnx.ModelProto:
    """The ONNX model, which is also written to the path; `symbolic` makes dimensions dynamic.

    Without `optimize`, the exporter's own folding is off: batch norms and shape arithmetic remain.
    """
    for chatty in ("torch.onnx", "onnxscript", "onnx_ir"):
        logging.getLogger(chatty).setLevel(logging.ERROR)
    preserve = torch.onnx.TrainingMode.PRESERVE
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporters' advice about themselves
        torch.onnx.export(
            workload.module,
            tuple(workload.inputs.values()),
            path,
            input_names=list(workload.inputs),
            output_names=list(workload.outputs),
            opset_version=opset,
            dynamo=exporter == "dynamo",
            external_data=False,
            verbose=False,
            optimize=optimize,
            do_constant_folding=optimize,
            training=torch.onnx.TrainingMode.EVAL if optimize else preserve,
            **(open_dimensions(workload, exporter) if symbolic else {}),
        )
    model = onnx.load(path)
    strip_debug_info(model)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return model


def open_dimensions(workload: Workload, exporter: str) -> dict[str, Any]:
    """The arguments that tell an exporter which dimensions are dynamic, with their names."""
    if exporter != "dynamo":
        names = {axis: name for axis, (name, _) in enumerate(workload.dims)}
        return {"dynamic_axes": dict.fromkeys((*workload.inputs, *workload.outputs), names)}
    dims = {axis: Dim(name, max=most) for axis, (name, most) in enumerate(workload.dims)}
    return {"dynamic_shapes": tuple(dims for _ in workload.inputs)}


def strip_debug_info(model: onnx.ModelProto) -> None:
    """Remove stack traces and file names, which would make the file differ between machines."""
    graph = model.graph
    for item in (model, graph, *graph.node, *graph.value_info, *graph.input, *graph.output):
        del item.metadata_props[:]
    for node in graph.node:
        node.ClearField("doc_string")


def reference_outputs(workload: Workload) -> dict[str, np.ndarray]:
    """PyTorch's outputs by name."""
    with torch.no_grad():
        results = workload.module(*workload.inputs.values())
    results = results if isinstance(results, tuple) else (results,)
    return {name: result.numpy() for name, result in zip(workload.outputs, results, strict=True)}


def check(path: Path, workload: Workload, expected: dict[str, np.ndarray]) -> None:
    """Compare ONNX Runtime with PyTorch, and check that the outputs are suited to find errors.

    Raises AssertionError if they differ, or if an output is constant, huge or not finite.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = {name: tensor.numpy() for name, tensor in workload.inputs.items()}
    results = session.run(list(expected), inputs)
    for (name, want), got in zip(expected.items(), results, strict=True):
        assert np.isfinite(want).all(), f"{name} is not finite"
        assert 0.1 < want.std() < 10, f"{name} has standard deviation {want.std()}"
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-3, atol=1e-3, err_msg=name)


def describe(model: onnx.ModelProto) -> str:
    """The model's opset and the number of uses of each operator, on one line."""
    counts = Counter(f"{node.domain}.{node.op_type}".lstrip(".") for node in model.graph.node)
    opsets = ", ".join(f"{o.domain or 'ai.onnx'} {o.version}" for o in model.opset_import)
    return f"opset {opsets}; " + ", ".join(f"{op} {n}" for op, n in sorted(counts.items()))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.models", description="Export a well-known model to ONNX."
    )
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("-o", "--output", type=Path, help="default: MODEL.onnx")
    parser.add_argument("--tiny", action="store_true", help="a small variant, for quick tests")
    parser.add_argument("--batch", type=int, default=1, help="default: 1")
    parser.add_argument("--exporter", choices=EXPORTERS, default="dynamo")
    parser.add_argument("--opset", type=int, help="default: the exporter's")
    parser.add_argument(
        "--no-optimize", action="store_true", help="keep batch norms and what else could be folded"
    )
    parser.add_argument(
        "--symbolic", action="store_true", help="leave the batch and the number of tokens open"
    )
    parser.add_argument("--io", type=Path, help="an .npz for the inputs and PyTorch's outputs")
    options = parser.parse_args(arguments)

    path = options.output or Path(f"{options.model}.onnx")
    workload = build(options.model, options.tiny, options.batch)
    if options.symbolic and not workload.dims:
        parser.error(f"{options.model} has no dimensions that may be open")
    expected = reference_outputs(workload)
    optimize = not options.no_optimize
    model = export(workload, path, options.exporter, options.opset, optimize, options.symbolic)
    check(path, workload, expected)
    if options.io:
        inputs = {name: tensor.numpy() for name, tensor in workload.inputs.items()}
        np.savez(options.io, allow_pickle=False, **inputs, **expected)
    print(f"{path}: {describe(model)}")


if __name__ == "__main__":
    main()
