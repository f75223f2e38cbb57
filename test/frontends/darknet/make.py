"""Writes `files/`: small nets with random weights, and what OpenCV makes of them.

Run with a Python that has OpenCV before 5: `python test/frontends/darknet/make.py`.
"""

from pathlib import Path

import cv2
import numpy as np

FILES = Path(__file__).parent / "files"

YOLO = """[net]
width=32
height=32
channels=3

[convolutional]  # 0
batch_normalize=1
filters=8
size=3
stride=2
pad=1
activation=leaky

[convolutional]
filters=4
size=1
activation=mish

[convolutional]
filters=8
size=3
padding=1
groups=2
activation=swish

[shortcut]
from=-3
activation=linear

[maxpool]
size=2
stride=2

[route]
layers=-1
groups=2
group_id=1

[maxpool]
size=3
stride=1

[avgpool]

[convolutional]
filters=4
size=1
activation=logistic

[scale_channels]
from=-3
activation=linear

[upsample]
stride=2

[route]
layers=-1,-8

[convolutional]
batch_normalize=1
filters=21
size=1
stride=2
activation=linear

[yolo]
mask=0,1,2
anchors=4,5, 8,7, 12,20, 30,30
classes=2
num=4
thresh=0.1

[route]
layers=-4

[convolutional]
filters=7
size=1
activation=linear

[yolo]
mask=3
anchors=4,5, 8,7, 12,20, 30,30
classes=2
num=4
scale_x_y=1.1
thresh=0.3
nms_threshold=0.3
"""

REGION = """[net]
width=16
height=16
channels=2
[convolutional]
batch_normalize=1
filters=4
size=3
pad=1
activation=relu
[maxpool]
size=2
stride=2
[reorg]
stride=2
[convolutional]
filters=24
size=1
activation=linear
[region]
anchors=1.0,1.5, 2.5,2.0, 0.5,0.7
num=3
classes=3
coords=4
softmax=1
thresh=0.05
"""

CLASSES = """[net]
width=8
height=8
channels=2
[convolutional]
batch_normalize=1
filters=4
size=3
pad=1
activation=leaky
[dropout]
probability=.5
[connected]
output=6
activation=leaky
[connected]
output=5
activation=linear
[softmax]
groups=1
"""


# How many vectors of a length, how many statistics and matrices, in order; by hand.
def parts(name: str) -> list[tuple[str, int]]:
    def conv(filters: int, inner: int, size: int, normalizes: bool) -> list[tuple[str, int]]:
        found = [("bias", filters)]
        if normalizes:
            found += [("scale", filters), ("mean", filters), ("variance", filters)]
        return [*found, ("weight", filters * inner * size * size)]

    def connected(inputs: int, outputs: int) -> list[tuple[str, int]]:
        return [("bias", outputs), ("weight", inputs * outputs)]

    return {
        "yolo": [
            *conv(8, 3, 3, True),
            *conv(4, 8, 1, False),
            *conv(8, 2, 3, False),
            *conv(4, 4, 1, False),
            *conv(21, 12, 1, True),
            *conv(7, 4, 1, False),
        ],
        "region": [*conv(4, 2, 3, True), *conv(24, 16, 1, False)],
        "classes": [*conv(4, 2, 3, True), *connected(256, 6), *connected(6, 5)],
    }[name]


def write(name: str, text: str) -> None:
    random = np.random.default_rng(len(text))
    data = np.array([0, 2, 5], "<i4").tobytes() + bytes(8)
    for kind, count in parts(name):
        low, high = (0.5, 1.5) if kind in ("scale", "variance") else (-0.5, 0.5)
        data += random.uniform(low, high, count).astype("<f4").tobytes()
    cfg, weights = FILES / f"{name}.cfg", FILES / f"{name}.weights"
    cfg.write_text(text)
    weights.write_bytes(data)
    net = cv2.dnn.readNetFromDarknet(str(cfg), str(weights))
    width, height, channels = (int(line.split("=")[1]) for line in text.split("\n")[1:4])
    x = random.normal(size=(1, channels, height, width)).astype("f4")
    net.setInput(x)
    found = net.forward(net.getUnconnectedOutLayersNames())
    results = {f"result{i}": np.asarray(v) for i, v in enumerate(found)}
    np.savez_compressed(FILES / f"{name}.npz", data=x, **results)
    print(name, [v.shape for v in found])


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for name, text in (("yolo", YOLO), ("region", REGION), ("classes", CLASSES)):
        write(name, text)
