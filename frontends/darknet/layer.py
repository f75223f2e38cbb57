"""A converter's view of a section of Darknet."""

from __future__ import annotations

from functools import wraps

from ..common.fields import Ignored, IgnoredFields
from ..common.importer import NodeLayer
from ..common.rows import Convert, Rows
from ..common.vocabulary import *
from .weights import Weights

IGNORED = IgnoredFields(
    Ignored("layers from index weights", "read where the graph is made"),
    Ignored(
        "learning_rate* lr_* momentum decay dont* *stopbackward* onlyforward burn_in", "of training"
    ),
    Ignored(
        "jitter resize random truth_thresh ignore_thresh iou_* *_normalizer counters_*",
        "of training",
    ),
    Ignored(
        "max max_delta track_* rescore bias_match label_smooth* objectness_* *_scale",
        "of training",
        "yolo region detection Gaussian_yolo",
    ),
    Ignored(
        "softmax_* focal_loss uc_normalizer nms_kind beta_nms beta1 show_details map_* "
        "embedding_layer sim_thresh dets_for_*",
        "of training and of tools",
        "yolo region detection Gaussian_yolo",
    ),
    Ignored("absolute", "of training", "region"),
    Ignored("*", "of training", "cost contrastive"),
    Ignored("num", "as the masks or anchors tell", "yolo Gaussian_yolo"),
    Ignored("probability", "of training", "dropout"),
    Ignored("flip angle saturation exposure noadjust shift", "of training", "crop"),
    Ignored("assisted_excitation sway rotate stretch stretch_sway", "none", values=("0",)),
)
rows = Rows(__package__ or "", IGNORED)


def of_images(*kinds: str) -> Callable[[Convert], Convert]:
    """Register a function that imports these sections, whose inputs are images [N, C, H, W].

    It gets a vector [N, C] as images of one element.
    """

    def register(function: Convert) -> Convert:
        @wraps(function)
        def convert(n: DarknetLayer, *inputs: Value) -> Any:
            return function(n, *(image(n, x) for x in inputs))

        rows(*kinds)(convert)
        return function

    return register


def image(n: DarknetLayer, x: Value) -> Value:
    """A vector [N, C] as images [N, C, 1, 1]; images are unchanged."""
    return reshape(n, x, [(x, 0), (x, 1), 1, 1]) if x.type.rank == 2 else x


class DarknetLayer(NodeLayer):
    """A section; its options by name."""

    def text(self, name: str, default: str = "") -> str:
        return self.attributes.get(name, default)

    def int(self, name: str, default: int = 0) -> int:
        return int(self._number(name, default, int))

    def float(self, name: str, default: float = 0.0) -> float:
        return float(self._number(name, default, float))

    def numbers(self, name: str) -> list[float]:
        """The numbers of an option, separated by commas; text after a number is ignored."""
        words = [word.split() for word in self.text(name).split(",")]
        try:
            return [float(word[0]) for word in words if word]
        except ValueError:
            raise self.error(f"option '{name}' is {self.text(name)!r}, expected numbers") from None

    def _number(self, name: str, default: Any, kind: type) -> Any:
        text = self.attributes.get(name)
        try:
            return default if text is None else kind(text)
        except ValueError:
            raise self.error(f"option '{name}' is {text!r}, expected a number") from None

    @property
    def index(self) -> int:
        """The section's index after [net]."""
        return self.attributes["index"]

    def state(self, name: str, type: TensorType) -> Value:
        """The value that the previous run left under a name; zeros in the first run."""
        return self.builder.state(f"{self.node.name}.{name}", type)

    def set_state(self, name: str, value: Value) -> Value:
        """Leave a value for the next run."""
        self.builder.set_state(f"{self.node.name}.{name}", value)
        return value

    def finish(self) -> None:
        """Check, after the last section, that no weights are left. Raises NncError."""
        if self.index == self.weights().last:
            self.weights().check_all_taken()

    def weights(self) -> Weights:
        """The reader of the weights; sections read theirs in order."""
        return self.attributes["weights"]

    def matrix(self, name: str, *shape: int) -> Value:
        """The next weights of the file."""
        if any(d < 1 for d in shape):
            raise self.error(f"its {name} would have the shape {list(shape)}")
        array: np.ndarray = self.weights().take(self.node.name, shape)
        return self.builder.constant(array, self.loc, key=f"{self.node.name}.{name}")
