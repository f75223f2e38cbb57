"""RNN, GRU and LSTM, unrolled at import or as loops, against onnxruntime."""

import nnc
import numpy as np
import onnxruntime
import pytest
from nnc.driver.compile import run_stages
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError

from .models import initializer, make_model, node, run, value

T, B, I, H = 5, 3, 4, 6
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(op_type, seed=0, lengths=None, initial=False, peepholes=False, **attributes):
    """A model with random weights, and its input."""
    random = np.random.default_rng(seed)
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    gates = GATES[op_type]

    def weight(*shape):
        return (random.standard_normal(shape) * 0.5).astype(np.float32)

    weights = {
        "w": weight(directions, gates * H, I),
        "r": weight(directions, gates * H, H),
        "b": weight(directions, 2 * gates * H),
    }
    inputs = ["x", "w", "r", "b", "", "", "", ""]
    if lengths is not None:
        weights["l"], inputs[4] = np.array(lengths, np.int32), "l"
    if initial:
        weights["h"], inputs[5] = weight(directions, B, H), "h"
        if op_type == "LSTM":
            weights["c"], inputs[6] = weight(directions, B, H), "c"
    if peepholes:
        weights["p"], inputs[7] = weight(directions, 3 * H), "p"
    while not inputs[-1]:
        inputs.pop()
    outputs = ["y", "yh", "yc"][: 3 if op_type == "LSTM" else 2]
    model = make_model(
        [node(op_type, inputs, outputs, "cell", hidden_size=H, **attributes)],
        [value("x", (T, B, I))],
        [value(name, None) for name in outputs],
        [initializer(name, array) for name, array in weights.items()],
        opset=14,
        ir_version=8,
    )
    return model, weight(T, B, I)


CASES = [
    {},
    {"initial": True},
    {"direction": "reverse"},
    {"direction": "bidirectional"},
    {"direction": "bidirectional", "initial": True, "lengths": [5, 2, 3]},
    {"lengths": [1, 5, 4]},
    {"direction": "reverse", "lengths": [1, 5, 4]},
    {"direction": "bidirectional", "initial": True, "lengths": [0, 2, 0]},
    {"clip": 0.3},
]


@pytest.mark.parametrize("op_type", GATES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_against_onnxruntime(op_type, case):
    check(*recurrent(op_type, **case))


def check(model, x):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    expected = session.run(None, {"x": x})
    for found, wanted in zip(run(model, x), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("op_type", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_weights_of_loops_are_packed(op_type, gates, monkeypatch):
    """In blocks of columns, as those outside of loops are; compiled, against onnxruntime."""
    for name, size in {"T": 40, "B": 1, "H": 32}.items():
        monkeypatch.setitem(globals(), name, size)
    late = {"linear_before_reset": 1} if op_type == "GRU" else {}
    model, x = recurrent(op_type, direction="bidirectional", initial=True, **late)
    module = run_stages(import_model(model), target="x86-64-v3", last="simplify-graph")
    text = str(module)
    assert text.count("nn.call_while") == 2
    assert text.count("nn.packed_matmul") == 4  # of the inputs and of the states
    assert f"tensor<32x{gates * 32}xf32>" not in text
    session = onnxruntime.InferenceSession(model.SerializeToString())
    found = nnc.compile(model).run({"x": x})
    for own, wanted in zip(found.values(), session.run(None, {"x": x}), strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-4, atol=1e-5)


def test_reset_after_the_product():
    check(*recurrent("GRU", linear_before_reset=1))
    check(*recurrent("GRU", linear_before_reset=1, direction="bidirectional"))


def test_peepholes_and_coupled_gates():
    check(*recurrent("LSTM", peepholes=True))
    check(*recurrent("LSTM", peepholes=True, direction="bidirectional"))
    check(*recurrent("LSTM", input_forget=1))


@pytest.mark.parametrize(
    ("op_type", "activations", "alpha", "beta"),
    [
        ("RNN", ["Relu"], None, None),
        ("RNN", ["LeakyRelu"], [0.2], None),
        ("RNN", ["Affine"], [0.5], [0.1]),
        ("GRU", ["HardSigmoid", "ScaledTanh"], [0.3, 0.7], [0.4, 0.9]),
        ("LSTM", ["HardSigmoid", "Elu", "Softsign"], [0.3, 0.5], [0.4]),
        ("LSTM", ["sigmoid", "ThresholdedRelu", "Softplus"], [0.1], None),
    ],
)
def test_activations(op_type, activations, alpha, beta):
    more = {} if alpha is None else {"activation_alpha": alpha}
    if beta is not None:
        more["activation_beta"] = beta
    check(*recurrent(op_type, activations=activations, **more))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"activations": ["Tanh", "Tanh", "Tanh"]}, "3 activations, expected 2"),
        ({"activations": ["Tanh", "Sine"]}, "activation 'Sine' is not known"),
        ({"direction": "sideways"}, "attribute 'direction' is 'sideways', expected forward"),
    ],
)
def test_what_cannot_be(attributes, message):
    model, _ = recurrent("GRU", **attributes)
    with pytest.raises(NncError, match=message):
        import_model(model)


def test_open_features():
    """The weights tell how many features the input must have."""
    model, x = recurrent("GRU")
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "features"
    check(model, x)
    with pytest.raises(NncError, match="cell"):
        nnc.compile(model)(x[:, :, :3])


OPEN_CASES = [
    {"initial": True},
    {"direction": "bidirectional", "lengths": [5, 2, 3]},
    {"direction": "reverse"},
]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("op_type", GATES)
@pytest.mark.parametrize("case", OPEN_CASES, ids=str)
def test_open_length(op_type, case):
    """The number of steps and the batch are unknown at import: a loop."""
    model, x = recurrent(op_type, **case)
    model.graph.input[0].CopyFrom(value("x", ("steps", "batch", I)))
    module = import_model(model)
    assert any(op.name == "nn.while" for op in module.walk())
    check(model, x)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    compiled = nnc.compile(model)
    given = [x] if case.get("lengths") else [x, np.concatenate([x, x]), x[:1]]
    for values in given:
        expected = session.run(None, {"x": values})
        for found, wanted in zip(compiled(values), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_long_sequence_stays_a_loop():
    model, x = recurrent("LSTM")
    model.graph.input[0].CopyFrom(value("x", (400, B, I)))
    module = import_model(model)
    assert sum(1 for _ in module.walk()) < 200
    check(model, np.tile(x, (80, 1, 1)))


def test_open_batch_of_known_first_states():
    """The states tell the batch, so that what drops dimensions of one element is known."""
    random = np.random.default_rng(2)
    w, r, h = (
        random.standard_normal(shape).astype(np.float32) * 0.5
        for shape in ((1, 3 * H, I), (1, 3 * H, H), (1, 1, H))
    )
    model = make_model(
        [
            node("GRU", ["x", "w", "r", "", "", "h"], ["y"], hidden_size=H),
            node("Squeeze", ["y"], ["z"]),
        ],
        [value("x", (1, "batch", I))],
        [value("z", None)],
        [initializer(name, array) for name, array in {"w": w, "r": r, "h": h}.items()],
        opset=14,
        ir_version=8,
    )
    x = random.standard_normal((1, 1, I)).astype(np.float32)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    compiled = nnc.compile(model)
    found = compiled(x)
    assert found.shape == expected.shape == (H,)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(NncError, match=r"\(GRU\).*initial states have a batch of 1"):
        compiled(np.concatenate([x, x], 1))
