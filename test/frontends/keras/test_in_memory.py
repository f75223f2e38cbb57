"""A model of Keras in this process, against what Keras computes with it."""

import nnc
import numpy as np
import pytest

keras = pytest.importorskip("keras", reason="Keras is not installed")


@pytest.fixture
def net():
    """Shared and nested layers of random statistics."""
    layers, rng = keras.layers, np.random.default_rng(5)
    inner = keras.Sequential([layers.Input((4,)), layers.Dense(4, activation="gelu")])
    x = layers.Input((6, 6, 3), name="image")
    shared = layers.Conv2D(3, 3, padding="same", activation="relu")
    y = layers.BatchNormalization()(shared(shared(x)))
    y = layers.Dense(4)(layers.GlobalAveragePooling2D()(y))
    made = keras.Model(x, [inner(y), layers.Softmax()(y)])
    for weight in made.weights:
        weight.assign(rng.uniform(0.2, 1.0, weight.shape))
    return made


def test_outputs_are_those_of_keras(net):
    images = np.random.default_rng(6).normal(size=(2, 6, 6, 3)).astype(np.float32)
    found = nnc.compile(net)(images)
    for one, expected in zip(found, net(images), strict=True):
        expected = keras.ops.convert_to_numpy(expected)
        assert np.abs(one - expected).max() <= 1e-5 * np.abs(expected).max()


def test_the_input_has_its_name_and_its_open_batch(net):
    model = nnc.compile(net)
    assert list(model.input_names) == ["image"]
    assert model(image=np.ones((3, 6, 6, 3), np.float32))[0].shape == (3, 4)


def test_what_cannot_be_saved_is_an_error():
    class Own(keras.Model):
        def call(self, x):
            return x

    with pytest.raises(nnc.NncError, match=r"was not built|code is not in the file|cannot save"):
        nnc.compile(Own())


def test_scales_of_convnext_are_weights():
    convnext = pytest.importorskip("keras.src.applications.convnext")
    x = keras.layers.Input((5,))
    net = keras.Model(x, convnext.LayerScale(1e-6, 5)(x))
    (gamma,) = net.weights
    gamma.assign(np.arange(5))
    found = nnc.compile(net)(np.full((2, 5), 3, np.float32))
    np.testing.assert_array_equal(found, np.full((2, 5), 3) * np.arange(5))


def test_resized_bytes_are_rounded():
    """Keras resizes them as floats, rounds and saturates; ties depend on how it adds."""
    images = np.random.default_rng(7).integers(0, 256, (2, 7, 9, 3), np.uint8)
    found, real = [
        keras.Model(x, keras.layers.Resizing(5, 12)(x))
        for x in (keras.Input((7, 9, 3), dtype=dtype) for dtype in ("uint8", "float32"))
    ]
    wanted = keras.ops.convert_to_numpy(real(images.astype(np.float32)))
    is_tie = np.abs(wanted % 1 - 0.5) < 1e-3
    found = nnc.compile(found, cache=False)(images)
    assert found.dtype == np.uint8 and is_tie.mean() < 0.05
    np.testing.assert_array_equal(found[~is_tie], np.rint(wanted)[~is_tie])


def test_mel_bands_stay_powers():
    sound = keras.layers.Input((128,))
    bands = keras.layers.MelSpectrogram(
        num_mel_bins=5, fft_length=64, sequence_stride=16, sampling_rate=800, power_to_db=False
    )
    net = keras.Model(sound, bands(sound))
    given = np.random.default_rng(7).normal(size=(2, 128)).astype(np.float32)
    expected = keras.ops.convert_to_numpy(net(given))
    assert np.abs(nnc.compile(net)(given) - expected).max() <= 1e-5 * np.abs(expected).max()
