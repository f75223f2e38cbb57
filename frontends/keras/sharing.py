"""Layers that models share: an archive has their weights once, and their configuration everywhere.

Keras marks the second and later configurations of an object by a number, the first one only where
it is not inside of another model. So the first one is found by what it has in common with them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .container import Weights

NUMBER = "shared_object_id"
WRAPPED = ("layer", "backward_layer")
"""Fields of wrappers that hold another layer."""


class Places:
    """Where the weights of each layer of a file may be stored."""

    def __init__(self, whole: Mapping[str, Any], weights: Weights) -> None:
        self._found: dict[str, list[Weights]] = {}
        self._again: dict[int, list[bool]] = {}
        """For each list of layers: which of them were stored before, in the order of the file."""
        self._visit(whole, set())
        self._note(whole, weights)

    def of_layers(self, layers: Sequence[Mapping[str, Any]], weights: Weights) -> list[Weights]:
        """The weights of the layers of a model, some of which may be stored elsewhere."""
        return weights.of_layers(layers, self._again.get(id(layers), ()))

    def of_the_same(self, whole: Mapping[str, Any]) -> list[Weights]:
        """The places of the layers that may be the same object as this one; none if it is marked
        as no other one.
        """
        return self._found.get(_identity(whole), []) if NUMBER in whole else []

    def _visit(self, whole: Mapping[str, Any], seen: set[str]) -> bool:
        """Whether a layer was seen before; also notes those inside of it."""
        name = _identity(whole)
        again, config = NUMBER in whole and name in seen, whole.get("config")
        seen.add(name)
        if isinstance(config, dict):
            layers = config.get("layers")
            if isinstance(layers, list):
                self._again[id(layers)] = [self._visit(one, seen) for one in layers]
            for one in _wrapped(config):
                self._visit(config[one], seen)
        return again

    def _note(self, whole: Mapping[str, Any], weights: Weights) -> None:
        config = whole.get("config")
        if not isinstance(config, dict):
            return
        layers = config.get("layers")
        if isinstance(layers, list):
            for one, own in zip(layers, self.of_layers(layers, weights), strict=True):
                self._note(one, own)
            return
        self._found.setdefault(_identity(whole), []).append(weights)
        for name in _wrapped(config):
            self._note(config[name], weights.inside(name))


def _wrapped(config: Mapping[str, Any]) -> list[str]:
    return [name for name in WRAPPED if isinstance(config.get(name), dict)]


def _identity(whole: Mapping[str, Any]) -> str:
    """What all configurations of one object have in common."""
    return json.dumps([whole.get("class_name"), _unmarked(whole.get("config"))], sort_keys=True)


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(one) for key, one in value.items() if key != NUMBER}
    return [_unmarked(one) for one in value] if isinstance(value, list) else value
