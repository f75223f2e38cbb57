"""Searches for text with a small decoder, against ONNX Runtime."""

import nnc
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from .models import run

F, I32 = TensorProto.FLOAT, TensorProto.INT32
WORDS, WIDTH, LAYERS = 13, 8, 2
RANDOM = np.random.default_rng(11)


def decoder(name: str, seed: int = 0):
    """Layers of attention with one head, which sees what the mask lets it and no later tokens.

    Scores need no causal mask: only those of the last token count, of which all others are before.
    """
    random = np.random.default_rng(seed)
    nodes, weights = [], {}

    def weight(name, *shape):
        weights[name] = (random.standard_normal(shape) * 1.5).astype(np.float32)
        return name

    def node(op_type, inputs, output, **attributes):
        nodes.append(helper.make_node(op_type, inputs, [output], **attributes))
        return output

    def axes(*values):
        weights["axes" + "".join(map(str, values))] = np.array(values, np.int64)
        return "axes" + "".join(map(str, values))

    weights["one"], weights["far"] = np.float32(1), np.float32(-1e4)
    node("Gather", [weight("words", WORDS, WIDTH), "input_ids"], "w")
    node("Gather", [weight("places", 20, WIDTH), "position_ids"], "p")
    x = node("Add", ["w", "p"], "x")
    node("Cast", ["attention_mask"], "counts", to=F)
    node("Sub", ["one", "counts"], "hidden")
    node("Mul", ["hidden", "far"], "far_away")
    node("Unsqueeze", ["far_away", axes(1)], "bias")  # [B, 1, T]
    for i in range(LAYERS):
        parts = {}
        for part in "qkv":
            parts[part] = node("MatMul", [x, weight(f"{part}w{i}", WIDTH, WIDTH)], f"{part}{i}")
        for part in "kv":
            node("Unsqueeze", [parts[part], axes(0, 2)], f"{part}5{i}")  # [1, B, 1, S, D]
        node("Concat", [f"k5{i}", f"v5{i}"], f"kv{i}", axis=0)
        node("Concat", [f"past_{i}", f"kv{i}"], f"present_{i}", axis=3)
        nodes.append(helper.make_node("Split", [f"present_{i}"], [f"ks{i}", f"vs{i}"], axis=0))
        for part in "kv":
            node("Squeeze", [f"{part}s{i}", axes(0, 2)], f"{part}3{i}")  # [B, T, D]
        node("Transpose", [f"k3{i}"], f"kt{i}", perm=[0, 2, 1])
        node("MatMul", [parts["q"], f"kt{i}"], f"raw{i}")
        node("Add", [f"raw{i}", "bias"], f"scores{i}")
        node("Softmax", [f"scores{i}"], f"shares{i}", axis=-1)
        node("MatMul", [f"shares{i}", f"v3{i}"], f"seen{i}")
        node("Tanh", [f"seen{i}"], f"bent{i}")
        x = node("Add", [x, f"bent{i}"], f"x{i}")
    node("MatMul", [x, weight("out", WIDTH, WORDS)], "logits")
    caches = [
        helper.make_tensor_value_info(f"{kind}_{i}", F, [2, "B", 1, f"{kind}_length", WIDTH])
        for kind in ("past", "present")
        for i in range(LAYERS)
    ]
    return helper.make_graph(
        nodes,
        name,
        [
            *(
                helper.make_tensor_value_info(n, I32, ["B", "S"])
                for n in ("input_ids", "position_ids")
            ),
            helper.make_tensor_value_info("attention_mask", I32, ["B", "T"]),
            *caches[:LAYERS],
        ],
        [helper.make_tensor_value_info("logits", F, ["B", "S", WORDS]), *caches[LAYERS:]],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in weights.items()],
    )


def compare(op_type, inputs, outputs, shapes=None, **attributes):
    """The outputs of a search, exact for integers."""
    names = [name if array is not None else "" for name, array in inputs.items()]
    node = helper.make_node(
        op_type, names, list(outputs), "search", domain="com.microsoft", decoder=decoder("step"),
        **attributes,
    )  # fmt: skip
    given = {name: array for name, array in inputs.items() if array is not None}
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in given.items()
        ],
        [helper.make_tensor_value_info(n, kind, None) for n, kind in outputs.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    expected = session.run(None, given)
    found = run(model, *given.values())
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        if other.dtype.kind == "i":
            # What is behind the end of the last sequence, ONNX Runtime does not write.
            last = np.flatnonzero(one.reshape(-1, one.shape[-1]).any(0))[-1] + 1
            np.testing.assert_array_equal(one[..., :last], other[..., :last])
            assert not one[..., last:].any()
        else:
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    return model, given, expected


def numbers(*values):
    return np.array(values, np.int32)


PAD, END = 0, 1
TOKENS = {"pad_token_id": PAD, "eos_token_id": END}


def prompt(batch=3, length=4):
    ids = RANDOM.integers(2, WORDS, (batch, length)).astype(np.int32)
    ids[0, :2] = PAD
    return ids


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_sampling_of_the_best(temperature):
    """Where only one token is left to be drawn; which ones else is up to the generator."""
    given = {"ids": prompt(), "most": numbers(9)}
    more = {"top_p": 1e-5, "temperature": temperature}
    compare("Sampling", given, {"sequences": I32}, **TOKENS, **more)


@pytest.mark.parametrize(
    ("penalty", "least", "masks", "more"),
    [
        (None, None, False, {}),
        (1.7, None, False, {}),
        (None, 9, True, {}),
        (1.2, 8, False, {"no_repeat_ngram_size": 2}),
    ],
)
def test_greedy_search(penalty, least, masks, more):
    ids = prompt()
    mask, first = (RANDOM.integers(0, 2, shape).astype(np.int32) for shape in (WORDS, (3, WORDS)))
    mask[2:6] = first[:, 3] = 1
    compare(
        "GreedySearch",
        {
            "ids": ids,
            "most": numbers(12),
            "least": None if least is None else numbers(least),
            "penalty": None if penalty is None else np.array([penalty], np.float32),
            "mask": mask if masks else None,
            "first": first if masks else None,
        },
        {"sequences": I32},
        **TOKENS,
        **more,
    )


@pytest.mark.thorough
def test_compiled_search():
    """With a batch and a length that are known at run time only."""
    given = {"ids": prompt(), "most": numbers(9)}
    model, given, (expected,) = compare("GreedySearch", given, {"sequences": I32}, **TOKENS)
    for i, name in enumerate(("batch", "length")):
        model.graph.input[0].type.tensor_type.shape.dim[i].dim_param = name
    found = nnc.compile(model)(*given.values())
    last = np.flatnonzero(found.any(0))[-1] + 1
    np.testing.assert_array_equal(found[:, :last], expected[:, :last])


@pytest.mark.parametrize(
    ("beams", "returned", "length_penalty", "more"),
    [
        (2, 1, 1.0, {}),
        (4, 3, 0.6, {}),
        (3, 3, 2.0, {"early_stopping": 1}),
        (1, 1, 1.0, {}),
        (4, 2, 1.0, {"no_repeat_ngram_size": 2}),
    ],
)
def test_beam_search(beams, returned, length_penalty, more):
    given = {
        "ids": prompt(),
        "most": numbers(11),
        "least": numbers(5),
        "beams": numbers(beams),
        "returned": numbers(returned),
        "length_penalty": np.float32([length_penalty]),
        "penalty": np.float32([1.3]) if more else None,
    }
    compare("BeamSearch", given, {"sequences": I32, "best": F}, **TOKENS, **more)


def test_scores_of_a_beam_search():
    """Of searches that go on to the last step: what is scored behind an end means nothing."""
    given = {"ids": prompt(), "most": numbers(9), "least": numbers(9), "beams": numbers(3)}
    given |= {"returned": numbers(1), "length_penalty": np.float32([1])}
    compare("BeamSearch", given, {"sequences": I32, "best": F, "scores": F}, **TOKENS)
