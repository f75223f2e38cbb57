"""The messages of CoreML's neural networks."""

NETWORK = """
Network
  1 layers NetworkLayer*
  2 preprocessing Preprocessing*
  5 arrayInputShapeMapping ArrayMapping
  6 imageInputShapeMapping ImageMapping
  100 stringClassLabels Strings
  101 int64ClassLabels Ints
  200 labelProbabilityLayerName string
ArrayMapping = RANK5 EXACT
ImageMapping = RANK5 RANK4
NetworkLayer
  1 name string
  2 input string*
  3 output string*
Preprocessing
  1 featureName string
"""
