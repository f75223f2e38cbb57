"""The messages of CoreML's trees, linear models, support vector machines, and features.

Source: apple/coremltools, mlmodel/format/TreeEnsemble.proto, GLMRegressor.proto, SVM.proto, ..
"""

CLASSICAL = """
Trees
  1 treeEnsemble TreeEnsemble; 2 postEvaluationTransform TreeTransform
  100 stringClassLabels Strings; 101 int64ClassLabels Ints
TreeTransform = NoTransform Classification_SoftMax Regression_Logistic
TreeTransform = Classification_SoftMaxWithZeroClassReference
TreeEnsemble
  1 nodes TreeNode*; 2 numPredictionDimensions int; 3 basePredictionValue double*
TreeNode
  1 treeId int; 2 nodeId int; 3 nodeBehavior int; 10 branchFeatureIndex int
  11 branchFeatureValue double; 12 trueChildNodeId int; 13 falseChildNodeId int
  14 missingValueTracksTrueChild bool; 20 evaluationInfo Evaluation*
Evaluation
  1 evaluationIndex int; 2 evaluationValue double
Linear
  1 weights Vector*; 2 offset double*; 3 postEvaluationTransform int; 4 classEncoding Encoding
  100 stringClassLabels Strings; 101 int64ClassLabels Ints
Encoding = ReferenceClass OneVsRest
Vector
  1 value double*
VectorRegressor
  1 kernel Kernel; 2 sparseSupportVectors SparseVectors; 3 denseSupportVectors DenseVectors
  4 coefficients Coefficients; 5 rho double
VectorClassifier
  1 kernel Kernel; 2 numberOfSupportVectorsPerClass int*; 3 sparseSupportVectors SparseVectors
  4 denseSupportVectors DenseVectors; 5 coefficients Coefficients*; 6 rho double*
  7 probA double*; 8 probB double*; 100 stringClassLabels Strings; 101 int64ClassLabels Ints
Kernel
  1 linearKernel Empty; 2 rbfKernel RbfKernel; 3 polyKernel PolyKernel
  4 sigmoidKernel SigmoidKernel
RbfKernel
  1 gamma double
PolyKernel
  1 degree int; 2 c double; 3 gamma double
SigmoidKernel
  1 gamma double; 2 c double
SparseVectors
  1 vectors SparseVector*
SparseVector
  1 nodes SparseNode*
SparseNode
  1 index int; 2 value double
DenseVectors
  1 vectors DenseVector*
DenseVector
  1 values double*
Coefficients
  1 alpha double*
Columns
  1 inputList Column*
Column
  1 inputColumn string; 2 inputDimensions int
OneHotEncoder
  1 stringCategories Strings; 2 int64Categories Ints; 10 outputSparse bool
  11 handleUnknown UnknownHandling
UnknownHandling = ErrorOnUnknown IgnoreUnknown
DictVectorizer
  1 stringToIndex Strings; 2 int64ToIndex Ints
CategoricalMapping
  1 stringToInt64Map WordsToNumbers; 2 int64ToStringMap NumbersToWords; 101 strValue string
  102 int64Value int
WordsToNumbers
  1 map map string int
NumbersToWords
  1 map map int string
Neighbors
  1 nearestNeighborsIndex NeighborsIndex; 3 numberOfNeighbors NeighborsCount
  100 stringClassLabels Strings; 101 int64ClassLabels Ints; 110 defaultStringLabel string
  111 defaultInt64Label int; 200 uniformWeighting Empty; 210 inverseDistanceWeighting Empty
NeighborsIndex
  1 numberOfDimensions int; 2 floatSamples Sample*
Sample
  1 vector float*
NeighborsCount
  1 defaultValue int
Imputer
  1 imputedDoubleValue double; 4 imputedDoubleArray DoubleVector; 11 replaceDoubleValue double
DoubleVector
  1 vector double*
Scaler
  1 shiftValue double*; 2 scaleValue double*
Normalizer
  1 normType Norm
Norm = LMax L1 L2
Extractor
  1 extractIndex int*
Suppression
  1 pickTop PickTop; 100 stringClassLabels Strings; 101 int64ClassLabels Ints
  110 iouThreshold double; 111 confidenceThreshold double; 200 confidenceInputFeatureName string
  201 coordinatesInputFeatureName string; 210 confidenceOutputFeatureName string
  211 coordinatesOutputFeatureName string
PickTop
  1 perClass bool
"""
