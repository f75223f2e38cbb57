"""Features and linear models of ai.onnx.ml, as far as they are numeric."""

from __future__ import annotations

from ...common.formulas import assured
from ...common.scores import transformed, two_classes
from ...common.strings import ids, lookup, scalar_string, strings
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter

Labels = tuple[int, ...] | tuple[str, ...]


def labels_of(n: Node, ints: str, strings: str) -> Labels:
    """The classes' labels. Raises NncError if there are none."""
    found = n.ints(ints) or n.strings(strings)
    if not found:
        raise n.error(f"neither '{ints}' nor '{strings}' is given")
    return found


def class_of(n: Node, index: Term, labels: Labels) -> Value:
    """The labels at indices."""
    if isinstance(labels[0], str):
        return constant(n, np.array(labels, object)).gather(index).value
    return constant(n, np.array(labels, np.int64)).gather(index).value


DOMAIN = "ai.onnx.ml"


def rows_of(n: Node, x: Value) -> Term:
    """x as rows of f32, or of f64 if it is that."""
    rows = Term(n, x) if x.type.rank != 1 else Term(n, x).spread(1, 0)
    return rows if rows.element is f64 else rows.cast(f32)


def floats_of(n: Node, name: str, like: Term) -> Term:
    """The numbers of an attribute, in the type of a term."""
    return constant(n, np.array(n.floats(name) or (), type_to_numpy(like.element)))


# -- features ------------------------------------------------------------------------------------


@converter("ArrayFeatureExtractor", domain=DOMAIN)
def array_feature_extractor(n: Node, x: Value, places: Value) -> Value:
    """Elements of the last dimension by index; a vector is one row."""
    rows = Term(n, x) if x.type.rank > 1 else Term(n, x).spread(1, 0)
    return rows.gather(Term(n, places).flattened(places.type.rank).column(0), rows.rank - 1).value


@converter("Binarizer", domain=DOMAIN)
def binarizer(n: Node, x: Value) -> Value:
    above = Term(n, x) > n.float("threshold")
    return above.cast(x.type.element_type).value


@converter("Scaler", domain=DOMAIN)
def scaler(n: Node, x: Value) -> Value:
    rows = Term(n, x).cast(f32)
    return ((rows - floats_of(n, "offset", rows)) * floats_of(n, "scale", rows)).value


@converter("Normalizer", domain=DOMAIN)
def normalizer(n: Node, x: Value) -> Value:
    """Rows divided by their norm; rows whose norm is 0 are unchanged."""
    norm = n.string("norm", "MAX", ("MAX", "L1", "L2"))
    rows = rows_of(n, x)
    axis = rows.rank - 1
    if norm == "MAX":
        size = rows.largest(axis, keep=True)
    else:
        kind = nn.ReduceL1 if norm == "L1" else nn.ReduceL2
        size = Term(n, reduced(n, rows.value, kind, (axis,), keep=True))
    return (rows / size.equals(0.0).choose(1.0, size)).cast(f32).value


@converter("Imputer", domain=DOMAIN)
def imputer(n: Node, x: Value) -> Value:
    data = Term(n, x)
    if isinstance(data.element, FloatType):
        replaced, given = n.float("replaced_value_float"), n.floats("imputed_value_floats")
    else:
        replaced, given = n.int("replaced_value_int64"), n.ints("imputed_value_int64s")
    if not given:
        raise n.error("no imputed values of the input's type are given")
    lacking = data.function(nn.IsNan) if replaced != replaced else data.equals(replaced)
    values = given[0] if len(given) == 1 else np.array(given)
    return lacking.choose(constant(n, values, data.element), data).value


@converter("OneHotEncoder", domain=DOMAIN)
def one_hot_encoder(n: Node, x: Value) -> Value:
    """One-hot vectors of categories; without `zeros`, each element has to be a category."""
    categories = n.ints("cats_int64s")
    if x.type.element_type is nn.string:
        words = n.strings("cats_strings") or ()
        x, categories = ids(n, x, words), range(len(words))
    if not categories:
        raise n.error("no categories of the input's type are given")
    values = Term(n, x).cast(i64).spread(0, 1)
    hits = values.equals(constant(n, np.array(categories, np.int64)))
    if not n.int("zeros", 1):
        known = hits.cast(i32).largest(hits.rank - 1) > 0
        hits = assured(hits, known, "an element is none of the categories")
    return hits.cast(f32).value


@converter("LabelEncoder", domain=DOMAIN)
def label_encoder(n: Node, x: Value) -> Value:
    """The value of each key, found by a binary search among the sorted keys.

    The search is unrolled: each step halves the range of the keys, which are known at import.
    """
    keys, values = _mapping(n, "keys"), _mapping(n, "values")
    if len(keys) != len(values) or not len(keys):
        raise n.error(f"{len(keys)} keys and {len(values)} values")
    default = _default(n, values.dtype)
    if "O" in (keys.dtype.kind, values.dtype.kind):
        return lookup(n, x, keys, values, default)
    _, first = np.unique(keys, return_index=True)
    keys, values = keys[first], values[first]
    data = Term(n, x)
    table = constant(n, keys, data.element)
    at = (data.equals(data)).cast(i64) * 0
    for bit in reversed(range((len(keys) - 1).bit_length())):
        ahead = (at + (1 << bit)).min(len(keys) - 1)
        at = (table.gather(ahead) <= data).choose(ahead, at)
    found = table.gather(at)
    same = found.equals(data)
    if keys.dtype.kind == "f" and np.isnan(keys[-1]):
        # NaN is sorted last, and no comparison finds it.
        unknown = data.function(nn.IsNan)
        at, same = unknown.choose(len(keys) - 1, at), same | unknown
    mapped = constant(n, values).gather(at)
    return same.choose(mapped, default).value


def _default(n: Node, dtype: np.dtype) -> np.ndarray:
    """The result of a LabelEncoder for an element that is no key."""
    given = n.tensor("default_tensor")
    if given is not None:
        return given.reshape(()).astype(dtype)
    if dtype.kind == "O":
        return scalar_string(n.string("default_string", "_Unused"))
    number = n.float("default_float", -0.0) if dtype.kind == "f" else n.int("default_int64", -1)
    return np.array(number, dtype)


def _mapping(n: Node, what: str) -> np.ndarray:
    """The keys or values of a LabelEncoder."""
    tensor = n.tensor(f"{what}_tensor")
    if tensor is not None:
        return tensor.reshape(-1)
    if words := n.strings(f"{what}_strings"):
        return strings(words)
    integers = n.ints(f"{what}_int64s")
    if integers is not None:
        return np.array(integers, np.int64)
    return np.array(n.floats(f"{what}_floats") or (), np.float32)


@converter("FeatureVectorizer", domain=DOMAIN)
def feature_vectorizer(n: Node, *inputs: Value) -> Value:
    """The first columns of each input, as many as `inputdimensions` says, side by side."""
    sizes = n.ints("inputdimensions") or [x.type.shape[-1] for x in inputs]
    parts = [Term(n, x).cast(f32) for x in inputs]
    parts = [part if part.rank == 2 else part.spread(1, 0) for part in parts]
    if None in sizes:
        raise n.error("the inputs' numbers of columns must be known")
    return joined([p.part(1, 0, size) for p, size in zip(parts, sizes, strict=True)], 1).value


# -- linear models ---------------------------------------------------------------------------------


def _linear(n: Node, x: Value, targets: int) -> Term:
    """x times the coefficients of each target, and its intercept."""
    rows = rows_of(n, x)
    coefficients = floats_of(n, "coefficients", rows)
    if coefficients.shape[0] % targets:  # type: ignore[operator]
        raise n.error(f"{coefficients.shape[0]} coefficients for {targets} targets")
    matrix = coefficients.reshape(targets, coefficients.shape[0] // targets)  # type: ignore[operator]
    out = rows @ matrix.transpose(1, 0)
    return out + floats_of(n, "intercepts", rows) if n.floats("intercepts") else out


@converter("LinearRegressor", domain=DOMAIN)
def linear_regressor(n: Node, x: Value) -> Value:
    found = _linear(n, x, n.int("targets", 1))
    return transformed(found, n.string("post_transform", "NONE")).cast(f32).value


@converter("LinearClassifier", domain=DOMAIN)
def linear_classifier(n: Node, x: Value) -> list[Value | None]:
    labels = labels_of(n, "classlabels_ints", "classlabels_strings")
    found = _linear(n, x, len(n.floats("intercepts") or labels))
    post = n.string("post_transform", "NONE")
    if found.shape[1] == 1 and len(labels) == 2:
        wins = (found > 0.0).cast(i64).column(0)
        second = transformed(found, post)
        return [class_of(n, wins, labels), two_classes(1.0 - second, second).cast(f32).value]
    best = found.argmax(1)
    return [class_of(n, best, labels), transformed(found, post).cast(f32).value]
