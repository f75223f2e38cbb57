"""Sections that OpenCV does not read, against what their definitions say in NumPy.

Source of the definitions: AlexeyAB/darknet
"""

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError

from .test_darknet import written

RANDOM = np.random.default_rng(5)


def draw(*shape, low=-0.6, high=0.6):
    return RANDOM.uniform(low, high, shape).astype("f4")


def net(tmp_path, shape, sections, weights=()):
    """A compiled model of sections below [net], whose input has this shape."""
    names = ("channels", "height", "width") if len(shape) == 3 else ("inputs",)
    head = "".join(f"{k}={v}\n" for k, v in zip(names, shape, strict=True))
    numbers = np.concatenate([np.zeros(0), *(np.reshape(w, -1) for w in weights)])
    return nnc.compile(written(tmp_path, f"[net]\n{head}{sections}", numbers))


def only(model, x):
    (found,) = model.run({"data": x[None]}).values()
    return found[0]


def agree(found, wanted):
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def conv(x, weight, pad=0, stride=1):
    """x [C, H, W], weight [O, C, K, K]"""
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    size = weight.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (1, 2))
    return np.einsum("ocij,chwij->ohw", weight, windows[:, ::stride, ::stride])


# -- single elements -------------------------------------------------------------------------------


def stair(x):
    whole = np.floor(x)
    return np.where(whole % 2 == 0, np.floor(x / 2), x - whole + np.floor(x / 2))


def shared(x, powers):
    return powers / (powers.sum(0) + 1e-4)


ACTIVATIONS = {
    "logistic": sigmoid,
    "loggy": lambda x: 2 * sigmoid(x) - 1,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: x.clip(0, 6),
    "elu": lambda x: np.where(x >= 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507 * np.where(x >= 0, x, 1.6732 * np.expm1(x)),
    "relie": lambda x: np.where(x > 0, x, 0.01 * x),
    "ramp": lambda x: x * (x > 0) + 0.1 * x,
    "linear": lambda x: x,
    "tanh": np.tanh,
    "plse": lambda x: np.select(
        [x < -4, x > 4], [0.01 * (x + 4), 0.01 * (x - 4) + 1], 0.125 * x + 0.5
    ),
    "leaky": lambda x: np.where(x > 0, x, 0.1 * x),
    "stair": stair,
    "hardtan": lambda x: x.clip(-1, 1),
    "lhtan": lambda x: np.select([x < 0, x > 1], [0.001 * x, 0.001 * (x - 1) + 1], x),
    "swish": lambda x: x * sigmoid(x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "hard_mish": lambda x: np.select([x > 0, x > -2], [x, x * x / 2 + x], 0),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(0.797885 * x + 0.035677 * x**3)),
    "normalize_channels": lambda x: shared(x, np.maximum(x, 0)),
    "normalize_channels_softmax": lambda x: shared(x, np.exp(x)),
    "normalize_channels_softmax_maxval": lambda x: shared(x, np.exp(x - x.max(0))),
}


def test_activations(tmp_path):
    """All of them in one net."""
    x = draw(4, 5, 6, low=-8, high=8)
    sections = "".join(
        f"[route]\nlayers=0\n[activation]\nactivation={name}\n" for name in ACTIVATIONS
    )
    found = net(tmp_path, x.shape, "[empty]\n" + sections).run({"data": x[None]})
    for value, function in zip(found.values(), ACTIVATIONS.values(), strict=True):
        agree(value[0], function(x.astype("f8")).astype("f4"))


def test_normalization(tmp_path):
    """Windows of channels, the first of which lacks those in its second half."""
    x = draw(9, 3, 4, low=-2, high=2)
    norms, total = [], 2 + 0.3 * (x[:2] ** 2).sum(0)
    for k in range(9):
        if k:
            total = total - (0.3 * x[k - 3] ** 2 if k >= 3 else 0)
            total = total + (0.3 * x[k + 2] ** 2 if k + 2 < 9 else 0)
        norms.append(total)
    found = only(net(tmp_path, x.shape, "[lrn]\nsize=5\nalpha=0.3\nbeta=0.5\nkappa=2\n"), x)
    agree(found, x * np.array(norms) ** -0.5)


def test_shortcuts_with_weights(tmp_path):
    x, channels = draw(3, 4, 5), draw(2, 3, low=-1, high=1)
    text = "[activation]\nactivation=relu\n[activation]\nactivation=tanh\n"
    text += "[shortcut]\nfrom=-2\nweights_type={}\nweights_normalization={}\n"
    inputs = np.stack([np.tanh(np.maximum(x, 0)), np.maximum(x, 0)])
    each = channels[:, :, None, None]
    powers = np.exp(each - each.max(0))
    for how, shares in (
        ("none", each),
        ("relu", np.maximum(each, 0) / (1e-4 + np.maximum(each, 0).sum(0))),
        ("softmax", powers / (1e-4 + powers.sum(0))),
    ):
        model = net(tmp_path, x.shape, text.format("per_channel", how), [channels])
        agree(only(model, x), (inputs * shares).sum(0))
    model = net(tmp_path, x.shape, text.format("per_feature", "none"), [[0.3, -2]])
    agree(only(model, x), 0.3 * inputs[0] - 2 * inputs[1])


def test_implicit_channels(tmp_path):
    x, added, factor = draw(3, 4, 5), draw(3), draw(3)
    image = "[activation]\n[implicit]\nfilters=3\n[route]\nlayers=0\n[shift_channels]\nfrom=1\n"
    image += "[implicit_mul]\nfilters=3\n[route]\nlayers=3\n[control_channels]\nfrom=4\n"
    found = only(net(tmp_path, x.shape, image, [added, factor]), x)
    agree(found, (x + added[:, None, None]) * factor[:, None, None])


# -- images ----------------------------------------------------------------------------------------


def test_crop(tmp_path):
    x = draw(2, 7, 8)
    text = "[crop]\ncrop_height=4\ncrop_width=5\n"
    agree(only(net(tmp_path, x.shape, text), x), 2 * x[:, 1:5, 1:6] - 1)
    agree(only(net(tmp_path, x.shape, text + "noadjust=1\n"), x), x[:, 1:5, 1:6])


def test_squares_as_channels(tmp_path):
    x = draw(2, 4, 6)
    wanted = np.concatenate([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)])
    agree(only(net(tmp_path, x.shape, "[reorg3d]\nstride=2\n"), x), wanted)
    agree(only(net(tmp_path, wanted.shape, "[reorg]\nstride=2\nreverse=1\n"), wanted), x)


def test_poolings(tmp_path):
    x = draw(5, 6, 7)
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (1, 2))[:, ::2, ::2]
    average = only(net(tmp_path, x.shape, "[local_avg]\nsize=3\nstride=2\n"), x)
    agree(average, np.nanmean(windows, (3, 4)))
    depth = only(net(tmp_path, x.shape, "[max]\nmaxpool_depth=1\nout_channels=2\n"), x)
    agree(depth, np.stack([x[::2].max(0), x[1::2].max(0)]))
    blur = np.outer([1, 2, 1], [1, 2, 1]) / 16 * np.eye(5)[:, :, None, None]
    inner = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (1, 2))
    found = only(net(tmp_path, x.shape, "[maxpool]\nsize=3\nstride=2\nantialiasing=1\n"), x)
    agree(found, conv(np.nanmax(inner, (3, 4)), blur, 1, 2))


# -- weights ---------------------------------------------------------------------------------------


def test_binary_convolutions(tmp_path):
    x, bias, weight = draw(2, 5, 6), draw(3), draw(3, 2, 3, 3)
    signs = np.where(weight > 0, 1, -1) * np.abs(weight).mean((1, 2, 3), keepdims=True)
    text = "[conv]\nfilters=3\nsize=3\npad=1\nactivation=linear\n"
    for option, given in (("binary", x), ("xnor", np.where(x > 0, 1, -1))):
        found = only(net(tmp_path, x.shape, f"{text}{option}=1\n", [bias, weight]), x)
        agree(found, conv(given, signs, 1) + bias[:, None, None])
    turned = weight.reshape(3, -1).T
    found = only(net(tmp_path, x.shape, f"{text}flipped=1\n", [bias, turned]), x)
    agree(found, conv(x, weight, 1) + bias[:, None, None])


def test_deconvolution(tmp_path):
    x, bias, weight = draw(2, 4, 5), draw(3), draw(2, 3, 4, 4)
    text = "[deconv]\nfilters=3\nsize=4\nstride=2\npadding=1\nactivation=linear\n[l2norm]\n[logistic]\n"
    whole = np.zeros((3, 10, 12), "f4")
    for i in range(4):
        for j in range(5):
            part = np.einsum("c,cfij->fij", x[:, i, j], weight)
            whole[:, 2 * i : 2 * i + 4, 2 * j : 2 * j + 4] += part
    wanted = whole[:, 1:-1, 1:-1] + bias[:, None, None]
    wanted = sigmoid(wanted / np.sqrt((wanted**2).sum(0)))
    agree(only(net(tmp_path, x.shape, text, [bias, weight]), x), wanted)


def test_shared_weights_and_blur(tmp_path):
    x, bias, weight = draw(2, 6, 6), draw(2), draw(2, 2, 3, 3)
    text = "[conv]\nfilters=2\nsize=3\npad=1\nactivation=linear\n"
    text += text + "share_index=-1\nantialiasing=2\nstride=2\n"
    first = conv(x, weight, 1) + bias[:, None, None]
    second = conv(first, weight, 1) + bias[:, None, None]
    blur = np.full((2, 2), 0.25) * np.eye(2)[:, :, None, None]
    agree(only(net(tmp_path, x.shape, text, [bias, weight]), x), conv(second, blur, 0, 2))


def test_connected_with_batch_norm(tmp_path):
    x = draw(7)
    bias, weight, scale, mean = draw(4), draw(4, 7), draw(4), draw(4)
    variance = draw(4, low=0.5, high=1.5)
    text = "[conn]\noutput=4\nbatch_normalize=1\nactivation=relie\n"
    model = net(tmp_path, x.shape, text, [bias, weight, scale, mean, variance])
    wanted = (weight @ x - mean) / np.sqrt(variance + 1e-6) * scale + bias
    agree(only(model, x), np.where(wanted > 0, wanted, 0.01 * wanted))


# -- recurrence ------------------------------------------------------------------------------------


def steps(model, inputs, **states):
    """The outputs of some steps, each of which gets the states that the one before left."""
    found = []
    for x in inputs:
        result = model.run({"data": x[None]} | states)
        states = {name: value for name, value in result.items() if "." in name}
        found += [value[0] for name, value in result.items() if "." not in name]
    return found


def test_rnn(tmp_path):
    inputs = draw(3, 4)
    own = [draw(5), draw(5, 4), draw(5), draw(5, 5), draw(2), draw(2, 5)]
    text = "[rnn]\nhidden=5\noutput=2\nactivation=leaky\nlogistic=1\nshortcut=1\n"
    found = steps(net(tmp_path, (4,), text, own), inputs)
    leaky = ACTIVATIONS["leaky"]
    state = np.zeros(5)
    for x, value in zip(inputs, found, strict=True):
        state = state + leaky(own[1] @ x + own[0]) + sigmoid(own[3] @ state + own[2])
        agree(value, leaky(own[5] @ state + own[4]))


def test_crnn(tmp_path):
    inputs = draw(3, 2, 4, 5)
    own = [draw(3), draw(3, 2, 3, 3), draw(3), draw(3, 3, 3, 3), draw(2), draw(2, 3, 3, 3)]
    text = "[crnn]\nhidden=3\noutput=2\nsize=3\npad=1\nactivation=tanh\n"
    found = steps(net(tmp_path, (2, 4, 5), text, own), inputs)
    state = np.zeros((3, 4, 5))
    for x, value in zip(inputs, found, strict=True):
        part = np.tanh(conv(x, own[1], 1) + own[0][:, None, None])
        state = part + np.tanh(conv(state, own[3], 1) + own[2][:, None, None])
        agree(value, np.tanh(conv(state, own[5], 1) + own[4][:, None, None]))


@pytest.mark.parametrize("tanh", [0, 1])
def test_gru(tmp_path, tanh):
    inputs = draw(3, 4)
    own = [w for size in (4,) * 3 + (5,) * 3 for w in (draw(5), draw(5, size))]
    text = f"[gru]\noutput=5\ntanh={tanh}\n"
    found = steps(net(tmp_path, (4,), text, own), inputs)
    product = [lambda v, i=i: own[2 * i + 1] @ v + own[2 * i] for i in range(6)]
    h = np.zeros(5)
    for x, value in zip(inputs, found, strict=True):
        z, r = (sigmoid(product[i](x) + product[3 + i](h)) for i in range(2))
        new = product[2](x) + product[5](r * h)
        h = z * h + (1 - z) * (np.tanh(new) if tanh else sigmoid(new))
        agree(value, h)


def test_lstm(tmp_path):
    inputs = draw(3, 4)
    own = [w for size in (5,) * 4 + (4,) * 4 for w in (draw(5), draw(5, size))]
    found = steps(net(tmp_path, (4,), "[lstm]\noutput=5\n", own), inputs)
    h, c = np.zeros(5), np.zeros(5)
    for x, value in zip(inputs, found, strict=True):
        parts = [own[2 * i + 1] @ (h if i < 4 else x) + own[2 * i] for i in range(8)]
        f, i, g, o = (a + b for a, b in zip(parts[:4], parts[4:], strict=True))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        agree(value, h)


@pytest.mark.parametrize("peephole", [0, 1])
def test_conv_lstm(tmp_path, peephole):
    inputs = draw(2, 2, 4, 5)
    counts = (3,) * 3 * peephole + (3,) * 4 + (2,) * 4
    own = [(draw(3), draw(3, count, 3, 3)) for count in counts]
    text = f"[conv_lstm]\noutput=3\nsize=3\npad=1\npeephole={peephole}\n"
    model = net(tmp_path, (2, 4, 5), text, [w for pair in own for w in pair])
    found = steps(model, inputs)

    def part(i, v):
        return conv(v, own[i][1], 1) + own[i][0][:, None, None]

    first = 3 * peephole
    h = c = np.zeros((3, 4, 5))
    for x, value in zip(inputs, found, strict=True):
        f, i, g, o = (part(first + j, h) + part(first + 4 + j, x) for j in range(4))
        if peephole:
            f, i = f + part(0, c), i + part(1, c)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        o = o + part(2, c) if peephole else o
        h = sigmoid(o) * np.tanh(c)
        agree(value, h)


# -- boxes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("point", "move"), [("center", 0), ("left_top", 0.5)])
def test_gaussian_yolo(tmp_path, point, move):
    """Scores fall by the mean of how uncertain the four numbers of a box are."""
    anchors, classes = np.array([[4, 5], [8, 7]]), 2
    x = draw(2 * (9 + classes), 3, 4, low=-2, high=2)
    text = "[empty]\n[Gaussian_yolo]\nmask=0,1\nanchors=4,5, 8,7\nclasses=2\nnum=2\nscale_x_y=1.1\n"
    model = net(tmp_path, x.shape, f"{text}thresh=0.1\nyolo_point={point}\n")
    (found,) = model.run({"data": x[None]}).values()
    cells = x.reshape(2, 11, 3, 4).transpose(2, 3, 0, 1).astype("f8")
    rows, columns = np.indices((3, 4))
    place = sigmoid(cells[..., [0, 2]]) * 1.1 - 0.05
    center = (place + np.stack([columns, rows], -1)[:, :, None]) / [4, 3]
    size = np.exp(cells[..., [4, 6]]) * anchors / [4, 3]
    doubt = sigmoid(cells[..., [1, 3, 5, 7]])
    sure = sigmoid(cells[..., 8:9])
    likely = sure * sigmoid(cells[..., 9:]) * (1 - doubt.mean(-1, keepdims=True))
    likely = np.where(likely > 0.1, likely, 0)
    wanted = np.concatenate([center + size * move, size, sure, likely], -1)
    agree(found, wanted.reshape(-1, 7).astype("f4"))


def test_detection(tmp_path):
    """The first YOLO: classes of cells, then how sure boxes are, then boxes."""
    side, count, classes = 3, 2, 4
    x = draw(side * side * (classes + 5 * count), low=0, high=1)
    text = f"[detection]\nclasses={classes}\ncoords=4\nside=3\nnum=2\nsqrt=1\nthresh=0.3\n"
    (found,) = net(tmp_path, x.shape, "[activation]\n" + text).run({"data": x[None]}).values()
    wanted = []
    for i in range(side * side):
        for k in range(count):
            sure = x[side * side * classes + i * count + k]
            b = x[side * side * (classes + count) + (i * count + k) * 4 :][:4]
            likely = sure * x[i * classes : (i + 1) * classes]
            center = [(b[0] + i % side) / side, (b[1] + i // side) / side]
            likely = np.where(likely > 0.3, likely, 0)
            wanted.append([*center, b[2] ** 2, b[3] ** 2, sure, *likely])
    agree(found, np.array(wanted, "f4"))


def test_options_of_training(tmp_path):
    """As Darknet's own yolo-voc.cfg and darknet19.cfg have them; a comma may be missing."""
    x = draw(12, 2, 2)
    text = "[empty]\n[region]\nanchors=1.0,1.5 9, 2.5,2.0\nnum=2\nclasses=1\nthresh=0.1\n"
    found = [
        only(net(tmp_path, x.shape, text + more), x)
        for more in ("", "absolute=1\nbias_match=1\nrescore=1\n")
    ]
    agree(*found)
    agree(only(net(tmp_path, x.shape, "[activation]\n[cost]\ntype=sse\n"), x), x)


def test_weights_of_branches(tmp_path):
    """Weights stand in the order of the sections, whichever branch needs them first."""
    x, weights = draw(2, 4, 4), [w for _ in range(3) for w in (draw(2), draw(2, 2, 1, 1))]
    one = "[conv]\nfilters=2\nsize=1\nactivation=linear\n"
    text = f"{one}{one}[route]\nlayers=0\n{one}[route]\nlayers=-1,1\n"
    first, second, third = (
        lambda v, i=i: conv(v, weights[2 * i + 1]) + weights[2 * i][:, None, None] for i in range(3)
    )
    found = only(net(tmp_path, x.shape, text, weights), x)
    agree(found, np.concatenate([third(first(x)), second(first(x))]))


def test_numbers_of_weights(tmp_path):
    """The weights of all gates are needed."""
    text = "[lstm]\noutput=2\n"
    count = 4 * (2 + 2 * 2) + 4 * (2 + 2 * 3)
    assert net(tmp_path, (3,), text, [draw(count)])
    with pytest.raises(nnc.NncError, match="the file ends inside the weights of layer 'lstm_0'"):
        net(tmp_path, (3,), text, [draw(count - 1)])


# -- what OpenCV does otherwise than Darknet -------------------------------------------------------


def test_softmax_of_images(tmp_path):
    """Over all elements of an image, not of its channels."""
    x = draw(3, 2, 4)
    powers = np.exp(x / 2)
    agree(only(net(tmp_path, x.shape, "[softmax]\ntemperature=2\n"), x), powers / powers.sum())


def test_padding_is_dilated(tmp_path):
    """`pad=1` pads by half of the window's reach, and `padding` counts for nothing beside it."""
    x, weight = draw(2, 5, 6), draw(3, 2, 3, 3)
    wide = np.zeros((3, 2, 5, 5), "f4")
    wide[:, :, ::2, ::2] = weight
    text = "[convolutional]\nfilters=3\nsize=3\npad=1\npadding=7\ndilation=2\nactivation=linear\n"
    found = only(net(tmp_path, x.shape, text, [np.zeros(3), weight]), x)
    agree(found, conv(x, wide, pad=2))


def test_dilation_of_single_elements(tmp_path):
    x, weight = draw(2, 3, 3), draw(4, 2, 1, 1)
    text = "[convolutional]\nfilters=4\ndilation=2\nactivation=linear\n"
    agree(only(net(tmp_path, x.shape, text, [np.zeros(4), weight]), x), conv(x, weight))


def test_windows_of_one_element_by_default(tmp_path):
    x = draw(2, 3, 4)
    agree(only(net(tmp_path, x.shape, "[maxpool]\n"), x), x)


@pytest.mark.parametrize("section", ["maxpool", "avgpool", "upsample\nstride=1", "reorg"])
def test_vectors_are_images_of_one_element(tmp_path, section):
    x, weight = draw(2, 2, 2), draw(4, 8)
    name, _, options = section.partition("\n")
    text = f"[connected]\noutput=4\nactivation=linear\n[{name}]\n{options}\n[shortcut]\nfrom=0\n"
    found = only(net(tmp_path, x.shape, text, [np.zeros(4), weight]), x)
    agree(found, 2 * (weight @ x.reshape(-1))[:, None, None])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[maxpool]\nsize=4\npadding=0\n", "windows of 4 do not fit into"),
        ("[convolutional]\nsize=4\nstride=2\n", "windows of 4 do not fit into"),
        ("[convolutional]\nsize=2\ndilation=2\n", "needs a padding of half the size"),
        ("[empty]\n[route]\nlayers=0\ngroups=2\n", r"group 0 of 2 in layers of \[3\] channels"),
    ],
)
def test_errors_of_windows_and_groups(tmp_path, text, message):
    with pytest.raises(NncError, match=message):
        net(tmp_path, (3, 3, 3), text, [draw(1), draw(3, 4, 4)])
