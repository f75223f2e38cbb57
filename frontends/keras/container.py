"""The two kinds of files: a zip with a configuration and weights, and HDF5 with both in one."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np

from ..common.source import Source
from ..wire import hdf5
from ..wire.archive import Archive
from .layer import ROWS

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
MOST_TEXT = 1 << 28
"""The most bytes of a configuration; the largest known one has a hundredth of it."""

RENAMED = {"GroupQueryAttention": "GroupedQueryAttention"}
"""Classes whose weights are stored under another name than their configuration."""

KERAS_PACKAGES = ("", "keras", "tf_keras")
REGISTERED_BY_KERAS = {"Custom>CustomScaleLayer"}
"""Classes of Keras 2's applications, which it registers as users do theirs."""

WRAPPERS_OWN = ("vector_u", "vector_u:0", "sn_u:0")
"""Weights that a wrapper uses in training only."""


class Weights(Protocol):
    """The weights of a layer, or of the layers of a model."""

    def of_layers(
        self, layers: Sequence[Mapping[str, Any]], again: Sequence[bool] = ()
    ) -> list[Weights]:
        """The weights of each layer of a model, by the layers' configurations; `again` says which
        ones are stored in another model of the file.
        """
        ...

    def inside(self, *path: str) -> Weights:
        """The weights of a part of a layer."""
        ...

    def arrays(self) -> list[np.ndarray]:
        """The layer's own weights, in the order in which it made them."""
        ...

    def text(self, name: str) -> str | None:
        """A text stored beside the layer's weights; None if there is none."""
        ...


@dataclass
class Container:
    """The contents of a file: the model's configuration, its weights, and the version of Keras."""

    config: Mapping[str, Any]
    weights: Weights
    version: str


def open_container(source: Source) -> Container:
    """Open a model file. Raises NncError if it has no model."""
    if source.object is not None:
        return open_container(_saved(source))
    if source.head.startswith(hdf5.SIGNATURE):
        return _open_hdf5(source)
    archive = Archive(source)
    config, notes = (_json(source, archive.read(name)) for name in (CONFIG, "metadata.json"))
    if WEIGHTS not in archive:
        raise source.error(f"the archive has no '{WEIGHTS}'; save the model with its weights")
    root = hdf5.Group.open(archive.read(WEIGHTS), source.error)
    return Container(config, Tree(archive, root), str(notes.get("keras_version", "")))


def _saved(source: Source) -> Source:
    """A live model, saved by Keras."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        try:
            source.object.save(path)
        except Exception as error:
            raise source.error(f"Keras cannot save the model: {error}") from None
        found = Source(path.read_bytes())
    found.name = source.name
    return found


def _json(source: Source, data: np.ndarray | str) -> dict[str, Any]:
    if len(data) > MOST_TEXT:
        raise source.error("the configuration is too long")
    try:
        text = data if isinstance(data, str) else data.tobytes().decode("utf-8")
        found = json.loads(text)
    except ValueError as error:
        raise source.error(f"the configuration is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise source.error("the configuration is not a JSON object")
    return found


def _open_hdf5(source: Source) -> Container:
    root = hdf5.Group.open(source.data, source.error)
    config = root.attribute("model_config")
    weights = root.group("model_weights")
    if config is None or weights is None:
        if root.group("layers") is not None or root.attribute("layer_names") is not None:
            raise source.error("the file has weights only; save the whole model: model.save(..)")
        raise source.error("the file has no model of Keras: attribute 'model_config' is missing")
    version = root.attribute("keras_version") or weights.attribute("keras_version") or ""
    return Container(_json(source, str(config)), Named(source, weights), str(version))


class Tree:
    """The weights of Keras 3: a tree of groups, named by the layers' classes."""

    def __init__(self, archive: Archive, group: hdf5.Group | None, path: str = "assets") -> None:
        self._archive = archive
        self._group = group
        self._path = path

    def of_layers(
        self, layers: Sequence[Mapping[str, Any]], again: Sequence[bool] = ()
    ) -> list[Weights]:
        group = None if self._group is None else self._group.group("layers")
        if group is None and self._group is not None:  # Keras 2.12
            group = self._group.group("_layer_checkpoint_dependencies")
        names = unique_names(layers)
        if any(again) and group is not None:
            names = _numbers(names, layers, again, group.names())
        return [
            Tree(self._archive, group and group.group(name), f"{self._path}/layers/{name}")
            for name in names
        ]

    def inside(self, *path: str) -> Weights:
        group = self._group
        for name in path:
            if group is not None:
                group = group.group(name) or group.group("_" + name)
        return Tree(self._archive, group, "/".join((self._path, *path)))

    def arrays(self) -> list[np.ndarray]:
        group = self._group and self._group.group("vars")
        if group is None:
            return []
        found = []
        for name in sorted(group.names(), key=lambda name: (len(name), name)):
            array = group.array(name)
            if array is None:
                text = f"the weights have a group '{name}', expected a dataset"
                raise self._archive.source.error(text)
            found.append(array)
        return found

    def text(self, name: str) -> str | None:
        member = f"{self._path}/{name}"
        if member not in self._archive:
            return None
        data = self._archive.read(member)
        if len(data) > MOST_TEXT:
            raise self._archive.source.error(f"'{member}' is too long")
        return data.tobytes().decode("utf-8", "surrogateescape")


def _numbers(
    names: Sequence[str],
    layers: Sequence[Mapping[str, Any]],
    again: Sequence[bool],
    stored: Collection[str],
) -> list[str]:
    """The names, without a number for a layer that is stored elsewhere if there is no gap for it:
    Keras 2 counts no such layers, Keras 3 does.
    """
    kept = [layer for layer, skipped in zip(layers, again, strict=True) if not skipped]
    counted = set(unique_names(kept))
    if {name for name in names if name in stored} - counted:
        return list(names)
    found = iter(unique_names(kept))
    return ["" if skipped else next(found) for skipped in again]


def unique_names(layers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keras 3's names for the weights of layers: the class, with a number from the second on.

    Operations that are no layers have no weights and do not count.
    """
    counts: dict[str, int] = {}
    names = []
    for layer in layers:
        if is_operation(layer):
            names.append("")
            continue
        kind = str(layer.get("class_name")).rpartition(">")[2]
        name = re.sub(r"\W+", "", RENAMED.get(kind, kind))
        name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
        name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
        count = counts.get(name, 0)
        counts[name] = count + 1
        names.append(f"{name}_{count}" if count else name)
    return names


def kind_of(layer: Mapping[str, Any]) -> str:
    """The class of a layer; with its package if somebody else than Keras registered it."""
    named, registered = str(layer["class_name"]), str(layer.get("registered_name") or "")
    return own_name(registered if ">" in registered else named)


def own_name(registered: str) -> str:
    """A registered name without its package if that is Keras's."""
    package, _, name = registered.rpartition(">")
    is_its_own = package.lower() in KERAS_PACKAGES or registered in REGISTERED_BY_KERAS
    return name if is_its_own else registered


def is_operation(layer: Mapping[str, Any]) -> bool:
    """Whether an entry is an operation of `keras.ops` rather than a layer."""
    if "module" in layer:
        return ".ops." in str(layer["module"])
    kind = str(layer.get("class_name")).rpartition(">")[2]
    if not ROWS.find(f"ops.{kind}") and ROWS.find(kind):
        return False
    config = layer.get("config")
    layers_have = {"trainable", "layers", "batch_shape", "batch_input_shape"}
    return isinstance(config, dict) and not layers_have & set(config)


class Named:
    """The weights of Keras 2: a list of named arrays for each layer of the model."""

    def __init__(
        self,
        source: Source,
        group: hdf5.Group,
        names: Sequence[str] = (),
        around: Sequence[Sequence[str]] = (),
    ) -> None:
        self._source = source
        self._group = group
        self._names = names
        self._around = around
        """The names of each enclosing model, from the inside. Keras 3 names the weights of a layer
        that two models share by the first of them only.
        """

    def of_layers(
        self, layers: Sequence[Mapping[str, Any]], again: Sequence[bool] = ()
    ) -> list[Weights]:
        if self._names:  # of a model in a model, whose layers stand in the weights' names
            around = (self._names, *self._around)
            return [Named(self._source, self._group, self._of(one), around) for one in layers]
        found: list[Weights] = []
        for layer in layers:
            group = self._group.group(name_of(layer))
            names = None if group is None else group.attribute("weight_names")
            found.append(Named(self._source, group or self._group, [str(n) for n in names or ()]))
        return found

    def _of(self, layer: Mapping[str, Any]) -> Sequence[str]:
        """The names of a layer's weights; all names for a nested model that is not listed."""
        for names in (self._names, *self._around):
            if found := [name for name in names if name_of(layer) in name.split("/")]:
                return found
        return self._names if "layers" in (layer.get("config") or ()) else []

    def inside(self, *path: str) -> Weights:
        """These weights, without those of a wrapper itself: names do not tell other parts apart."""
        own = [name for name in self._names if name.rpartition("/")[2] not in WRAPPERS_OWN]
        return Named(self._source, self._group, own)

    def arrays(self) -> list[np.ndarray]:
        found = []
        for name in self._names:
            array = self._group.array(name)
            if array is None:
                raise self._source.error(f"the weight '{name}' is missing")
            found.append(array)
        return found

    def text(self, name: str) -> str | None:
        return None


def name_of(layer: Mapping[str, Any]) -> str:
    """The name of a layer by its configuration."""
    config = layer.get("config")
    inner = config.get("name") if isinstance(config, dict) else None
    return str(layer.get("name") or inner)
