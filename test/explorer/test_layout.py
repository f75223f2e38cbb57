"""Layers of graphs, and scopes made of names."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nnc.explorer.graph import Graph, Node, scopes_of, short_kind
from nnc.explorer.layout import LONGEST, Layers, layers_of
from nnc.explorer.scopes import scopes_in

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30)


def level_of(found: Layers) -> dict[int, int]:
    return {box: i for i, layer in enumerate(found.layers) for box in layer}


def crossings(found: Layers, edges: list[tuple[int, int]]) -> int:
    """By looking at each pair of pieces."""
    level = level_of(found)
    place = {box: i for layer in found.layers for i, box in enumerate(layer)}
    pieces = []
    for source, target in edges:
        line = [source, *found.routes.get((source, target), ()), target]
        for a, b in pairwise(line):
            upper, lower = (a, b) if level[a] < level[b] else (b, a)
            pieces.append((level[upper], place[upper], place[lower]))
    return sum(
        p[0] == q[0] and (p[1] - q[1]) * (p[2] - q[2]) < 0 for p, q in combinations(pieces, 2)
    )


@given(EDGES)
def test_each_box_has_one_place_and_edges_join_different_layers(edges) -> None:
    found = layers_of(12, edges)
    level = level_of(found)
    assert sorted(box for layer in found.layers for box in layer if box < 12) == list(range(12))
    for source, target in edges:
        if source == target:
            continue
        assert level[source] != level[target]
        distance = abs(level[source] - level[target]) - 1
        road = found.routes.get((source, target), [])
        assert len(road) == (distance if distance <= LONGEST else 0)
        steps = [level[source], *(level[one] for one in road), level[target]]
        if road:
            assert all(abs(a - b) == 1 for a, b in pairwise(steps))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20))
def test_edges_without_circles_point_down(edges) -> None:
    forward = [(a, b) for a, b in edges if a < b]
    level = level_of(layers_of(10, forward))
    assert all(level[a] < level[b] for a, b in forward)


def test_a_tree_is_drawn_without_crossings() -> None:
    # Given in an order that crosses: children of 0 are 3 and 4, of 1 are 2 and 5.
    edges = [(0, 3), (0, 4), (1, 2), (1, 5), (6, 0), (6, 1)]
    assert crossings(layers_of(7, edges), edges) == 0


def test_a_chain_of_5000_boxes() -> None:
    edges = [(i, i + 1) for i in range(4999)] + [(0, 4999)]
    found = layers_of(5000, edges)
    assert len(found.layers) == 5000 and (0, 4999) not in found.routes


@pytest.mark.parametrize(
    ("name", "scopes", "rest"),
    [
        ("/layer1/layer1.0/conv1/Conv", ("layer1", "0", "conv1"), "Conv"),
        ("layer1.0.conv1.conv2d", ("layer1", "0", "conv1"), "conv2d"),
        ("block::add", ("block",), "add"),
        ("conv_1", (), "conv_1"),
        ("3.14", (), "3.14"),
        ("//", (), "//"),
        ("", (), ""),
        ("a/a/b", ("a", "a"), "b"),
    ],
)
def test_scopes_of_names(name: str, scopes: tuple[str, ...], rest: str) -> None:
    assert scopes_of(name) == (scopes, rest)


def test_kinds() -> None:
    kinds = ["aten.conv2d.default", "nn.relu", "Conv", "a.b", "nn."]
    assert [short_kind(kind) for kind in kinds] == ["conv2d", "relu", "Conv", "a.b", ""]


def graph(names: list[str], edges: list[tuple[int, int]]) -> Graph:
    nodes = [Node(name, scopes_of(name)[1], "Op", scopes_of(name)[0]) for name in names]
    return Graph(nodes, edges)


def test_scopes_hold_edges_where_both_ends_are() -> None:
    made = graph(["a/x", "a/y", "b/c/z", "b/w"], [(0, 1), (1, 2), (2, 3), (0, 2)])
    top, a, b = scopes_in(made)
    assert (top.boxes, a.name, a.boxes, b.name, b.boxes) == ([-2, -3], "a", [0, 1], "b", [2, 3])
    assert (top.edges, a.edges, b.edges) == ([(0, 1)], [(0, 1)], [(0, 1)])
    assert made.nodes[2].name == "c/z"  # a scope of one box is none


@given(st.lists(st.text("ab/", min_size=1, max_size=12), max_size=20), EDGES)
def test_all_nodes_are_in_the_tree(names, edges) -> None:
    found = scopes_in(graph(names, [(a, b) for a, b in edges if max(a, b) < len(names)]))
    boxes = [box for scope in found for box in scope.boxes]
    assert sorted(boxes) == [*range(-len(found), -1), *range(len(names))]


def test_names_that_are_nested_deeply() -> None:
    made = graph(["a/" * 1500 + "x", "a/" * 1200 + "y"], [(0, 1)])
    assert sum(len(scope.boxes) == 2 for scope in scopes_in(made)) == 1
