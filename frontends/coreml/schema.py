"""The protobuf messages of CoreML's models and of MIL programs.

Source: apple/coremltools, mlmodel/format/Model.proto, FeatureTypes.proto and MIL.proto
"""

from __future__ import annotations

from ..wire.protobuf import Schema
from .schema_classical import CLASSICAL
from .schema_network import NETWORK

SCHEMA = Schema(
    """
Model
  1 specificationVersion int; 2 description Description; 10 isUpdatable bool
  200 pipelineClassifier PipelineOf; 201 pipelineRegressor PipelineOf; 202 pipeline Pipeline
  300 glmRegressor Linear; 301 supportVectorRegressor VectorRegressor
  302 treeEnsembleRegressor Trees; 303 neuralNetworkRegressor Network; 400 glmClassifier Linear
  401 supportVectorClassifier VectorClassifier; 402 treeEnsembleClassifier Trees
  403 neuralNetworkClassifier Network; 500 neuralNetwork Network; 502 mlProgram Program
  404 kNearestNeighborsClassifier Neighbors; 600 oneHotEncoder OneHotEncoder
  603 dictVectorizer DictVectorizer; 606 categoricalMapping CategoricalMapping
  900 identity Empty; 602 featureVectorizer Columns; 601 imputer Imputer; 604 scaler Scaler
  607 normalizer Normalizer; 609 arrayFeatureExtractor Extractor
  610 nonMaximumSuppression Suppression
Pipeline
  1 models Model*
PipelineOf
  1 pipeline Pipeline
Description
  1 input Feature*; 10 output Feature*; 11 predictedFeatureName string
  12 predictedProbabilitiesName string; 13 state Feature*; 20 functions FunctionOf*
  21 defaultFunctionName string; 100 metadata Metadata
FunctionOf
  1 name string; 2 input Feature*; 3 output Feature*
Metadata
  1 shortDescription string; 2 versionString string; 3 author string; 4 license string
  100 userDefined map string string
Feature
  1 name string; 2 shortDescription string; 3 type FeatureType
FeatureType
  1 int64Type Empty; 2 doubleType Empty; 3 stringType Empty; 4 imageType Image
  5 multiArrayType Array; 6 dictionaryType Dictionary; 7 sequenceType Empty
Dictionary
  1 int64KeyType Empty; 2 stringKeyType Empty
Empty
Image
  1 width int; 2 height int; 3 colorSpace Color; 31 imageSizeRange ImageRange
ImageRange
  1 widthRange Range; 2 heightRange Range
Color = NONE 10:GRAYSCALE 20:RGB 30:BGR 40:GRAYSCALE_FLOAT16
Array
  1 shape int*; 2 dataType ArrayKind; 21 enumeratedShapes Shapes; 31 shapeRange ShapeRange
ArrayKind = NONE 65552:FLOAT16 65568:FLOAT32 65600:DOUBLE 131080:INT8 131104:INT32
Shapes
  1 shapes Shape*
Shape
  1 shape int*
ShapeRange
  1 sizeRanges Range*
Range
  1 lowerBound int; 2 upperBound int
Program
  1 version int; 2 functions map string Function
Function
  1 inputs Typed*; 2 opset string; 3 block_specializations map string Block
Typed
  1 name string; 2 type Type
Type
  1 tensorType TensorType; 5 stateType StateType
StateType
  1 wrappedType Type
Kind = UNUSED BOOL STRING 10:FLOAT16 FLOAT32 FLOAT64 BFLOAT16 21:INT8 INT16 INT32 INT64 INT4
Kind = 31:UINT8 UINT16 UINT32 UINT64 UINT4 UINT2 UINT1 UINT6 UINT3 40:FLOAT8E4M3FN FLOAT8E5M2
TensorType
  1 dataType Kind; 2 rank int; 3 dimensions Dimension*
Dimension
  1 constant Constant
Constant
  1 size int
Block
  1 inputs Typed*; 2 outputs string*; 3 operations Operation*
Operation
  1 type string; 2 inputs map string Argument; 3 outputs Typed*; 4 blocks Block*
  5 attributes map string Value
Argument
  1 arguments Binding*
Binding
  1 name string; 2 value Value
Value
  2 type Type; 3 immediateValue Immediate; 5 blobFileValue Blob
Blob
  1 fileName string; 2 offset int
Immediate
  1 tensor Tensor; 2 tuple Values; 3 list Values
Values
  1 values Value*
Tensor
  1 floats Floats; 2 ints Ints; 3 bools Bools; 4 strings Strings; 5 longInts Ints
  6 doubles Doubles; 7 bytes Bytes
Floats
  1 values float*
Doubles
  1 values double*
Ints
  1 values int*
Bools
  1 values bool*
Strings
  1 values string*
Bytes
  1 values bytes
"""
    + NETWORK
    + CLASSICAL
)
