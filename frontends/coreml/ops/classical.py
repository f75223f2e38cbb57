"""Trees, linear models, support vector machines, and feature preparation.

Source: apple/coremltools, mlmodel/format/TreeEnsemble.proto, SVM.proto, GLMClassifier.proto, ..
"""

from __future__ import annotations

from ...common.scores import transformed, two_classes
from ...common.strings import elements, ids, lookup, scalar_string, strings
from ...common.support_vectors import duels, kernel, probabilities
from ...common.trees import LEAF, Forest
from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows

_TRANSFORMS = {
    "NoTransform": "NONE",
    "Classification_SoftMax": "SOFTMAX",
    "Regression_Logistic": "LOGISTIC",
    "Logit": "LOGISTIC",
}


def _row(n: CoreMLLayer, *inputs: Value) -> Term:
    """All features of an example: [1, F]."""
    return joined([Term(n, x).cast(f64).flat() for x in inputs], 0).spread(1, 0)


def _linked(scores: Term, name: str) -> Term:
    """Scores [1, C] after a transform, by CoreML's name."""
    n = scores.n
    if name == "Probit":
        return ((scores * (1 / math.sqrt(2))).function(nn.Erf) + 1.0) * 0.5
    if name == "Classification_SoftMaxWithZeroClassReference":
        return transformed(_with_reference_class(scores), "SOFTMAX")
    if name not in _TRANSFORMS:
        raise n.error(f"the transform '{name}' is not supported")
    return transformed(scores, _TRANSFORMS[name])


def _with_reference_class(scores: Term) -> Term:
    """Scores [1, C] preceded by 0, for the reference class."""
    return joined([scores.part(1, 0, 1) * 0.0, scores], 1)


def _prediction(n: CoreMLLayer, found: Term) -> Value:
    """A number, or a vector [C], from the result for one example."""
    return (found.flat() if not n.flag("is_scalar") else found.column(0).column(0)).value


def _classified(n: CoreMLLayer, chances: Term) -> list[Value]:
    """The label of the most probable class, and the probabilities [C]."""
    labels = n.attribute("labels")
    scores = chances.flat()
    if scores.shape != (len(labels),):
        raise n.error(f"{scores.shape[0]} scores for {len(labels)} classes")
    best = scores.argmax(0)
    return [constant(n, labels).gather(best).value, scores.value]


@rows("model of a pipeline")
def model(n: CoreMLLayer, *inputs: Value) -> list[Any]:
    return n.graph("0", *inputs)


# -- trees -----------------------------------------------------------------------------------------


def _sums(n: CoreMLLayer, rows: Term) -> Term:
    """The sums of the reached leaves' values and the base: [1, targets]."""
    p = n.attribute("model").part("treeEnsemble")
    forest, index = Forest(), {}
    for node in p.nodes:
        key = node.treeId, node.nodeId
        features = rows.shape[1] or 0
        if node.nodeBehavior < LEAF and node.branchFeatureIndex >= features:
            raise n.error(f"a node of feature {node.branchFeatureIndex} of {features}")
        if key in index:
            raise n.error(f"tree {key[0]} has two nodes {key[1]}")
        index[key] = forest.add(
            node.branchFeatureIndex,
            node.branchFeatureValue,
            node.nodeBehavior,
            node.missingValueTracksTrueChild,
        )
    below = set()
    for node in p.nodes:
        own = index[node.treeId, node.nodeId]
        if node.nodeBehavior == LEAF:
            forest.weights += [
                (own, one.evaluationIndex, one.evaluationValue) for one in node.evaluationInfo
            ]
            continue
        ends = [(node.treeId, at) for at in (node.falseChildNodeId, node.trueChildNodeId)]
        if any(end not in index for end in ends):
            raise n.error(f"tree {node.treeId} lacks a node below node {node.nodeId}")
        forest.successors[own] = [index[end] for end in ends]
        below.update(forest.successors[own])
    forest.roots = [number for number in index.values() if number not in below]
    if len(forest.roots) != len({tree for tree, _ in index}):
        raise n.error("not every tree has one root")
    if not forest.roots:
        raise n.error("there are no trees")
    walk = forest.walk(n, rows)
    found = walk.totals(f64, p.numPredictionDimensions, "SUM")
    return found + constant(n, p.basePredictionValue, f64) if len(p.basePredictionValue) else found


@rows("treeEnsembleRegressor")
def tree_regressor(n: CoreMLLayer, *inputs: Value) -> Value:
    found = _sums(n, _row(n, *inputs))
    return _prediction(n, _linked(found, n.attribute("model").postEvaluationTransform))


@rows("treeEnsembleClassifier")
def tree_classifier(n: CoreMLLayer, *inputs: Value) -> list[Value]:
    name = n.attribute("model").postEvaluationTransform
    scores = _linked(_sums(n, _row(n, *inputs)), name)
    if scores.shape[1] == 1:
        scores = two_classes(1.0 - scores, scores)
    elif name == "NoTransform":  # of a forest: each tree's chances
        scores = scores / scores.sum(1, keep=True)
    return _classified(n, scores)


# -- linear models ---------------------------------------------------------------------------------


def _products(n: CoreMLLayer, rows: Term) -> Term:
    p = n.attribute("model")
    weights = [one.value for one in p.weights]
    if {len(one) for one in weights} != {rows.shape[1]} or len(p.offset) not in (0, len(weights)):
        raise n.error(f"weights or offsets misfit {rows.shape[1]} features")
    found = rows @ constant(n, np.array(weights).T, f64)
    return found + constant(n, p.offset, f64) if len(p.offset) else found


@rows("glmRegressor")
def linear_regressor(n: CoreMLLayer, *inputs: Value) -> Value:
    found = _products(n, _row(n, *inputs))
    names = ("NoTransform", "Logit", "Probit")
    return _prediction(n, _linked(found, _transform_name(n, *names)))


def _transform_name(n: CoreMLLayer, *names: str) -> str:
    """The name of the model's post-evaluation transform, whose number is its index in `names`."""
    number = n.attribute("model").postEvaluationTransform
    if not 0 <= number < len(names):
        raise n.error(f"the transform {number} is not known")
    return names[number]


@rows("glmClassifier")
def linear_classifier(n: CoreMLLayer, *inputs: Value) -> list[Value]:
    """Scores of all classes but the reference class, or one for each class, whose probabilities are
    normalized.
    """
    scores, name = _products(n, _row(n, *inputs)), _transform_name(n, "Logit", "Probit")
    if scores.shape[1] == 1:
        second = _linked(scores, name)
        return _classified(n, two_classes(1.0 - second, second))
    if n.attribute("model").classEncoding != "OneVsRest":
        return _classified(n, transformed(_with_reference_class(scores), "SOFTMAX"))
    chances = _linked(scores, name)
    return _classified(n, chances / chances.sum(1, keep=True))


# -- support vectors -------------------------------------------------------------------------------


def _kernels(n: CoreMLLayer, rows: Term) -> Term:
    """The kernel of an example and each support vector: [1, S]."""
    p, width = n.attribute("model"), rows.shape[1] or 0
    if p.denseSupportVectors is not None:
        vectors = [one.values for one in p.denseSupportVectors.vectors]
        if any(len(one) != width for one in vectors):
            raise n.error(f"support vectors misfit {width} features")
        matrix = np.array(vectors).reshape(-1, width)
    else:
        sparse = p.part("sparseSupportVectors").vectors
        matrix = np.zeros((len(sparse), width))
        for i, one in enumerate(sparse):
            for node in one.nodes:  # features are counted from 1 on
                if not 0 < node.index <= width:
                    raise n.error(
                        f"a support vector uses feature {node.index}, but there are {width}"
                    )
                matrix[i, node.index - 1] = node.value
    which = p.part("kernel").which("linearKernel", "rbfKernel", "polyKernel", "sigmoidKernel")
    own = p.part("kernel").part(which or "linearKernel")
    gamma, offset, degree = (float(getattr(own, name, 0)) for name in ("gamma", "c", "degree"))
    kind = (which or "linearKernel").removesuffix("Kernel").upper()
    return kernel(rows, constant(n, matrix, f64), kind, gamma, offset, degree)


@rows("supportVectorRegressor")
def vector_regressor(n: CoreMLLayer, *inputs: Value) -> Value:
    p, kernels = n.attribute("model"), _kernels(n, _row(n, *inputs))
    alpha = p.part("coefficients").alpha
    if kernels.shape[1] != len(alpha):
        raise n.error(f"{len(alpha)} coefficients for {kernels.shape[1]} support vectors")
    return _prediction(n, kernels @ constant(n, alpha, f64).spread(0, 1) - float(p.rho))


@rows("supportVectorClassifier")
def vector_classifier(n: CoreMLLayer, *inputs: Value) -> list[Value]:
    """Each pair of classes votes for one. Without Platt scaling, the probabilities are shares of
    votes.
    """
    p, kernels = n.attribute("model"), _kernels(n, _row(n, *inputs))
    counts, classes = list(p.numberOfSupportVectorsPerClass), len(n.attribute("labels"))
    pairs = classes * (classes - 1) // 2
    own = [one.alpha for one in p.coefficients]
    if (
        len(counts) != classes
        or {len(one) for one in own} != {kernels.shape[1]}
        or sum(counts) != kernels.shape[1]
        or (len(own), len(p.rho)) != (classes - 1, pairs)
        or len(p.probA) not in (0, pairs)
        or len(p.probA) != len(p.probB)
    ):
        raise n.error("its coefficients, offsets and support vectors misfit")
    scores, votes = duels(kernels, counts, np.array(own), -np.array(p.rho))
    if not len(p.probA):
        return _classified(n, votes / float(pairs))
    slope, offset = (constant(n, v, f64) for v in (p.probA, p.probB))
    return _classified(n, probabilities(n, scores, slope, offset, classes))


# -- features and boxes ----------------------------------------------------------------------------


@rows("scaler")
def scaler(n: CoreMLLayer, x: Value) -> Value:
    p, found = n.attribute("model"), Term(n, x).cast(f64)
    if len(p.shiftValue):
        found = found + constant(n, p.shiftValue, f64)
    return (found * constant(n, p.scaleValue, f64) if len(p.scaleValue) else found).value


@rows("normalizer")
def normalizer(n: CoreMLLayer, x: Value) -> Value:
    row = _row(n, x)
    kind = {"L1": nn.ReduceL1, "L2": nn.ReduceL2}.get(n.attribute("model").normType)
    if kind is None:
        size = row.function(nn.Abs).largest(1, keep=True)
    else:
        size = Term(n, reduced(n, row.value, kind, (1,), keep=True))
    return (row / size.equals(0.0).choose(1.0, size)).flat().value


@rows("imputer")
def imputer(n: CoreMLLayer, x: Value) -> Value:
    p, data = n.attribute("model"), Term(n, x).cast(f64)
    rest = p.replaceDoubleValue
    lacking = data.function(nn.IsNan) if rest != rest else data.equals(rest)
    values = p.part("imputedDoubleArray").vector
    return lacking.choose(
        constant(n, values if len(values) else p.imputedDoubleValue, f64), data
    ).value


@rows("featureVectorizer")
def feature_vectorizer(n: CoreMLLayer, *inputs: Value) -> Value:
    """The elements of all inputs in one row, each with as many as the model says."""
    for x, column in zip(inputs, n.attribute("model").inputList, strict=True):
        count, type = column.inputDimensions or 1, x.type
        if type.has_static_shape and type.num_elements != count:
            raise n.error(f"'{column.inputColumn}' is '{type}', not {count} elements")
    return _row(n, *inputs).flat().value


def _labels(names: Sequence[str], numbers: Sequence[int]) -> np.ndarray:
    """The names as an array of text; if there are none, the numbers."""
    return strings(list(names)) if len(names) else np.array(numbers, np.int64)


@rows("oneHotEncoder")
def one_hot_encoder(n: CoreMLLayer, x: Value) -> Value:
    """1.0 at the place of the category, 0.0 elsewhere: [C]"""
    p = n.attribute("model")
    words = p.part("stringCategories").values
    if p.outputSparse:
        raise n.error("vectors that are dictionaries are not supported")
    found = Term(n, ids(n, x, tuple(words)) if len(words) else x).flat()
    names = range(len(words)) if len(words) else p.part("int64Categories").values
    hits = found.equals(constant(n, np.array(names, np.int64)))
    if p.handleUnknown == "ErrorOnUnknown":
        known = hits.cast(i64).largest(0) > 0
        hits = hits.made(nn.Assume(hits.value, known.value, "the category is not known"))
    return hits.cast(f64).value


@rows("categoricalMapping")
def categorical_mapping(n: CoreMLLayer, x: Value) -> Value:
    """The index of a text, or the text of an index; a default for unknown ones."""
    p = n.attribute("model")
    if p.int64ToStringMap is not None:
        table = p.int64ToStringMap.map
        keys, values = np.array(list(table), np.int64), strings(list(table.values()))
        return lookup(n, x, keys, values, scalar_string(p.strValue))
    table = p.part("stringToInt64Map").map
    keys, values = strings(list(table)), np.array(list(table.values()), np.int64)
    return lookup(n, x, keys, values, np.array(p.int64Value, np.int64))


@rows("dictVectorizer")
def dict_vectorizer(n: CoreMLLayer, x: Value) -> Value:
    """The dictionary's numbers in the order of the keys: [K]."""
    p = n.attribute("model")
    keys = _labels(p.part("stringToIndex").values, p.part("int64ToIndex").values)
    return Term(n, n(nn.VectorizeMap(x, keys=elements(keys)))).flat().value


@rows("kNearestNeighborsClassifier")
def neighbors(n: CoreMLLayer, *inputs: Value) -> list[Value]:
    """Votes of the nearest samples, equal or weighted by inverse distance."""
    p, row = n.attribute("model"), _row(n, *inputs)
    samples = [one.vector for one in p.part("nearestNeighborsIndex").floatSamples]
    classes, count = n.attribute("classes"), p.part("numberOfNeighbors").defaultValue
    if {len(one) for one in samples} != {row.shape[1]} or len(classes) != len(samples):
        raise n.error(f"samples or their labels misfit {row.shape[1]} features")
    if not 0 < count <= len(samples):
        raise n.error(f"numberOfNeighbors is {count}, but there are {len(samples)} samples")
    apart = row - constant(n, np.array(samples), f64)
    squares = (apart * apart).sum(1)
    nearest, places = largest(n, squares.value, n.constant(count, i64), 0, greatest=False)
    weights = constant(n, np.ones(count))
    if p.inverseDistanceWeighting is not None:
        # A sample that is the row itself outweighs all others.
        distances = Term(n, nearest).function(nn.Sqrt)
        same = distances.equals(0.0)
        plain = same.choose(0.0, 1.0 / same.choose(1.0, distances))
        weights = (same.cast(i64).largest(0) > 0).choose(same.cast(f64), plain)
    table = constant(n, np.eye(len(n.attribute("labels")))[classes])
    votes = (table.gather(Term(n, places)) * weights.spread(0, 1)).sum(0)
    return _classified(n, votes / votes.sum(0))


@rows("arrayFeatureExtractor")
def extractor(n: CoreMLLayer, x: Value) -> Value:
    places = constant(n, np.array(n.attribute("model").extractIndex, np.int64))
    return Term(n, x).flat().gather(places).value


@rows("nonMaximumSuppression")
def suppression(n: CoreMLLayer, confidence: Value, coordinates: Value) -> list[Value]:
    """Confidences [N, C] and boxes [N, 4] of centers and sizes: the best ones, in their order.

    Boxes of different classes do not compete with `perClass`: they are moved apart.
    """
    p, given, boxes = n.attribute("model"), Term(n, confidence), Term(n, coordinates)
    moved, best = boxes, given.largest(1)
    if p.part("pickTop").perClass:
        far = boxes.function(nn.Abs).largest(0, 1) * 4.0 + 1.0
        own = given.argmax(1, keep=True).cast(boxes.element) * far
        moved = joined([boxes.part(1, 0, 2) + own, boxes.part(1, 2, 4)], 1)
    limits = (n.scalar(v, confidence) for v in (p.iouThreshold, p.confidenceThreshold))
    most = n.constant(np.iinfo(np.int32).max, i64)
    order, kept = suppressed(
        n, moved.spread(1, 0).value, best.spread(2, 0).value, most, *limits, centered=True
    )
    places = Term(n, n(nn.NonZero(Term(n, kept).flat().value))).flat()
    chosen = Term(n, order).flat().gather(places)
    return [v.gather(chosen).value for v in (given, boxes)]
