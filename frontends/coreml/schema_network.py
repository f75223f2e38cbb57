"""The messages of CoreML's neural networks.

Source: apple/coremltools, mlmodel/format/NeuralNetwork.proto
"""

NETWORK = """
Network
  1 layers NetworkLayer*; 2 preprocessing Preprocessing*; 5 arrayInputShapeMapping ArrayMapping
  6 imageInputShapeMapping ImageMapping; 100 stringClassLabels Strings; 101 int64ClassLabels Ints
  200 labelProbabilityLayerName string
ArrayMapping = RANK5 EXACT
ImageMapping = RANK5 RANK4
Preprocessing
  1 featureName string; 10 scaler ImageScaler; 11 meanImage MeanImage
NetworkLayer
  1 name string; 2 input string*; 3 output string*; 100 convolution Convolution
  120 pooling Pooling; 130 activation ActivationParams; 140 innerProduct InnerProduct
  150 embedding Embedding; 160 batchnorm Batchnorm; 165 mvn Moments; 170 l2normalize L2Normalize
  175 softmax Empty
  180 lrn LRN; 190 crop Crop; 200 padding Padding; 210 upsample Upsample
  211 resizeBilinear ResizeBilinear; 220 unary UnaryFunction; 230 add Add; 231 multiply Multiply
  240 average Empty; 245 scale Scale; 250 bias Bias; 260 max Empty; 261 min Empty
  280 reduce Reduce; 290 loadConstant LoadConstant; 300 reshape Reshape; 301 flatten Flatten
  310 permute Permute; 320 concat Concat; 330 split Split; 345 reorganizeData ReorganizeData
  350 slice Slice; 400 simpleRecurrent SimpleRecurrent; 410 gru Gru
  420 uniDirectionalLSTM UniDirectionalLstm; 430 biDirectionalLSTM BiDirectionalLstm
  600 copy Empty; 660 clip Clip; 665 ceil Empty; 670 floor Empty; 680 sign Empty
  685 round Empty; 700 exp2 Empty; 710 sin Empty; 730 asin Empty; 735 acos Empty; 740 atan Empty
  750 sinh Empty
  755 cosh Empty; 780 atanh Empty; 715 cos Empty; 720 tan Empty; 760 tanh Empty
  790 erf Empty; 795 gelu Gelu; 815 equal Equal; 820 notEqual NotEqual; 825 lessThan LessThan
  827 lessEqual LessEqual; 830 greaterThan GreaterThan; 832 greaterEqual GreaterEqual
  840 logicalOr Empty; 845 logicalXor Empty; 850 logicalNot Empty; 855 logicalAnd Empty
  865 modBroadcastable Empty
  870 minBroadcastable Empty; 875 maxBroadcastable Empty; 880 addBroadcastable Empty
  885 powBroadcastable Empty; 890 divideBroadcastable Empty; 895 floorDivBroadcastable Empty
  900 multiplyBroadcastable Empty; 905 subtractBroadcastable Empty; 920 tile Tile; 925 stack Stack
  930 gather Gather; 940 gatherND Empty; 935 scatter Scatter; 945 scatterND ScatterND
  954 scatterAlongAxis Scatter; 1130 flattenTo2D Gather; 1145 reshapeDynamic Empty
  1313 whereNonZero Empty; 950 softmaxND SoftmaxND
  952 gatherAlongAxis GatherAlongAxis; 960 reverse Reverse; 975 splitND SplitND
  980 concatND ConcatND; 985 transpose Transpose; 995 sliceStatic SliceStatic; 1015 topK TopK
  1020 argMin ArgMin; 1025 argMax ArgMax; 1040 embeddingND EmbeddingND
  1045 batchedMatmul BatchedMatMul; 1065 getShape Empty; 1070 loadConstantND LoadConstantND
  1080 fillLike FillLike; 1120 squeeze Squeeze; 1125 expandDims ExpandDims
  1140 reshapeStatic ReshapeStatic; 1150 rankPreservingReshape RankPreservingReshape
  1155 constantPad ConstantPadding; 1250 reduceL1 ReduceOver; 1255 reduceL2 ReduceOver
  1260 reduceMax ReduceOver; 1265 reduceMin ReduceOver; 1270 reduceSum ReduceOver
  1275 reduceProd ReduceOver; 1280 reduceMean ReduceOver; 1285 reduceLogSum ReduceOver
  1290 reduceSumSquare ReduceOver; 1295 reduceLogSumExp ReduceOver
  1330 whereBroadcastable Empty; 1350 layerNormalization LayerNormalization; 1455 cumSum CumSum
  1460 clampedReLU ClampedReLU; 1461 argSort ArgSort; 212 cropResize CropResize; 270 dot Dot
  340 sequenceRepeat SequenceRepeat; 605 branch Branch; 615 loop Loop; 620 loopBreak Empty
  625 loopContinue Empty; 635 rangeStatic RangeLayer; 640 rangeDynamic RangeLayer; 770 asinh Empty
  775 acosh Empty; 965 reverseSeq ReverseSeq; 1000 sliceDynamic SliceStatic
  1005 slidingWindows SlidingWindows; 1085 fillStatic FillStatic; 1090 fillDynamic FillLike
  1100 broadcastToLike Empty; 1105 broadcastToStatic ReshapeStatic; 1110 broadcastToDynamic Empty
  1135 reshapeLike Empty; 1170 randomNormalLike RandomNormal; 1175 randomNormalStatic RandomNormal
  1180 randomNormalDynamic RandomNormal; 1190 randomUniformLike RandomUniform
  1195 randomUniformStatic RandomUniform; 1200 randomUniformDynamic RandomUniform
  1210 randomBernoulliLike RandomBernoulli; 1215 randomBernoulliStatic RandomBernoulli
  1220 randomBernoulliDynamic RandomBernoulli; 1230 categoricalDistribution Categorical
  1315 matrixBandPart MatrixBandPart; 1320 lowerTriangular Triangular
  1325 upperTriangular Triangular; 1400 NonMaximumSuppression SuppressionLayer; 1450 oneHot OneHot
  1465 pooling3d Pooling3D; 1466 globalPooling3d Pooling3D; 1470 sliceBySize SliceBySize
  1471 convolution3d Convolution3D
SamePaddingAsymmetryModeKind = BOTTOM_RIGHT_HEAVY TOP_LEFT_HEAVY
PoolingTypeKind = MAX AVERAGE L2
UpsampleModeKind = NN BILINEAR
UpsampleLinearUpsampleModeKind = DEFAULT ALIGN_CORNERS_TRUE ALIGN_CORNERS_FALSE
SamplingKind = STRICT_ALIGN_ENDPOINTS_MODE ALIGN_ENDPOINTS_MODE UPSAMPLE_MODE ROI_ALIGN_MODE
UnaryFunctionTypeKind = SQRT RSQRT INVERSE POWER EXP LOG ABS THRESHOLD
ReduceModeKind = SUM AVG PROD LOGSUM SUMSQUARE L1 L2 MAX MIN ARGMAX
ReduceAxisKind = CHW HW C H W
ReshapeModeKind = CHANNEL_FIRST CHANNEL_LAST
FlattenModeKind = CHANNEL_FIRST CHANNEL_LAST
ReorganizeDataModeKind = SPACE_TO_DEPTH DEPTH_TO_SPACE PIXEL_SHUFFLE
SliceAxisKind = CHANNEL_AXIS HEIGHT_AXIS WIDTH_AXIS
GeluModeKind = EXACT TANH_APPROXIMATION SIGMOID_APPROXIMATION
Convolution
  1 outputChannels int; 2 kernelChannels int; 10 nGroups int; 20 kernelSize int*; 30 stride int*
  40 dilationFactor int*; 50 valid ValidPadding; 51 same SamePadding; 60 isDeconvolution bool
  70 hasBias bool; 90 weights WeightParams; 91 bias WeightParams; 100 outputShape int*
ValidPadding
  1 paddingAmounts BorderAmounts
BorderAmounts
  10 borderAmounts EdgeSizes*
EdgeSizes
  1 startEdgeSize int; 2 endEdgeSize int
SamePadding
  1 asymmetryMode SamePaddingAsymmetryModeKind
WeightParams
  1 floatValue float*; 2 float16Value bytes; 30 rawValue bytes; 31 int8RawValue bytes
  40 quantization QuantizationParams; 50 isUpdatable bool
QuantizationParams
  1 numberOfBits int; 101 linearQuantization LinearQuantizationParams
  102 lookupTableQuantization LookUpTableQuantizationParams
LinearQuantizationParams
  1 scale float*; 2 bias float*
LookUpTableQuantizationParams
  1 floatValue float*
Pooling
  1 type PoolingTypeKind; 10 kernelSize int*; 20 stride int*; 30 valid ValidPadding
  31 same SamePadding; 32 includeLastPixel ValidCompletePadding; 50 avgPoolExcludePadding bool
  60 globalPooling bool
ValidCompletePadding
  10 paddingAmounts int*
ActivationParams
  5 linear ActivationLinear; 10 ReLU Empty; 15 leakyReLU ActivationLeakyReLU
  20 thresholdedReLU ActivationThresholdedReLU; 25 PReLU ActivationPReLU; 30 tanh Empty
  31 scaledTanh ActivationScaledTanh; 40 sigmoid Empty; 41 sigmoidHard ActivationSigmoidHard
  50 ELU ActivationELU; 60 softsign Empty; 70 softplus Empty
  71 parametricSoftplus ActivationParametricSoftplus
ActivationLinear ActivationScaledTanh ActivationSigmoidHard ClampedReLU
  1 alpha float; 2 beta float
ActivationLeakyReLU ActivationThresholdedReLU ActivationELU Add Multiply Equal NotEqual
  1 alpha float
ActivationPReLU
  1 alpha WeightParams
ActivationParametricSoftplus
  1 alpha WeightParams; 2 beta WeightParams
InnerProduct
  1 inputChannels int; 2 outputChannels int; 10 hasBias bool; 20 weights WeightParams
  21 bias WeightParams; 22 int8DynamicQuantize bool
Embedding
  1 inputDim int; 2 outputChannels int; 10 hasBias bool; 20 weights WeightParams
  21 bias WeightParams
Batchnorm
  1 channels int; 5 computeMeanVar bool; 6 instanceNormalization bool; 10 epsilon float
  15 gamma WeightParams; 16 beta WeightParams; 17 mean WeightParams; 18 variance WeightParams
Moments
  1 acrossChannels bool; 2 normalizeVariance bool; 3 epsilon float
L2Normalize
  1 epsilon float
LRN
  1 alpha float; 2 beta float; 3 localSize int; 4 k float
Crop
  1 cropAmounts BorderAmounts; 5 offset int*
Padding
  1 constant PaddingConstant; 2 reflection Empty; 3 replication Empty
  10 paddingAmounts BorderAmounts
PaddingConstant FillLike
  1 value float
Upsample
  1 scalingFactor int*; 7 fractionalScalingFactor float*; 5 mode UpsampleModeKind
  6 linearUpsampleMode UpsampleLinearUpsampleModeKind
ResizeBilinear
  1 targetSize int*; 2 mode SamplingMode
SamplingMode
  1 samplingMethod SamplingKind
UnaryFunction
  1 type UnaryFunctionTypeKind; 2 alpha float; 3 epsilon float; 4 shift float; 5 scale float
Scale
  1 shapeScale int*; 2 scale WeightParams; 3 hasBias bool; 4 shapeBias int*; 5 bias WeightParams
Bias
  1 shape int*; 2 bias WeightParams
Reduce
  1 mode ReduceModeKind; 2 epsilon float; 3 axis ReduceAxisKind
LoadConstant LoadConstantND
  1 shape int*; 2 data WeightParams
Reshape
  1 targetShape int*; 2 mode ReshapeModeKind
Flatten
  1 mode FlattenModeKind
Permute
  1 axis int*
Concat
  100 sequenceConcat bool
Split
  1 nOutputs int
ReorganizeData
  1 mode ReorganizeDataModeKind; 2 blockSize int
Slice
  1 startIndex int; 2 endIndex int; 3 stride int; 4 axis SliceAxisKind
Clip
  1 minVal float; 2 maxVal float
Gelu
  1 mode GeluModeKind
LessThan LessEqual GreaterThan GreaterEqual
  2 alpha float
Tile
  1 reps int*
Stack Gather SoftmaxND GatherAlongAxis
  1 axis int
Reverse
  1 reverseDim bool*
SplitND
  1 axis int; 2 numSplits int; 3 splitSizes int*
ConcatND
  1 axis int; 2 interleave bool
Transpose ExpandDims
  1 axes int*
SliceStatic
  1 beginIds int*; 2 beginMasks bool*; 3 endIds int*; 4 endMasks bool*; 5 strides int*
  6 squeezeMasks bool*
TopK
  1 axis int; 2 K int; 3 useBottomK bool
ArgMin ArgMax
  1 axis int; 2 removeDim bool
EmbeddingND
  1 vocabSize int; 2 embeddingSize int; 3 hasBias bool; 20 weights WeightParams
  21 bias WeightParams
BatchedMatMul
  1 transposeA bool; 2 transposeB bool; 5 weightMatrixFirstDimension int
  6 weightMatrixSecondDimension int; 7 hasBias bool; 8 weights WeightParams; 9 bias WeightParams
  10 int8DynamicQuantize bool
Squeeze
  1 axes int*; 2 squeezeAll bool
ReshapeStatic RankPreservingReshape
  1 targetShape int*
ConstantPadding
  1 value float; 2 padAmounts int*; 3 padToGivenOutputSizeMode bool
ReduceOver
  1 axes int*; 2 keepDims bool; 3 reduceAll bool
LayerNormalization
  1 normalizedShape int*; 2 eps float; 3 gamma WeightParams; 4 beta WeightParams
CumSum
  1 axis int; 2 excludeFinalSum bool; 3 reverse bool
ArgSort
  1 axis int; 2 descending bool
ScatterMode = update add sub mul div max min
Scatter
  1 axis int; 2 mode ScatterMode
ScatterND
  1 mode ScatterMode
CropResize
  1 targetSize int*; 2 normalizedCoordinates bool; 3 mode SamplingMode; 4 boxIndicesMode BoxMode
  5 spatialScale float
BoxMode
  1 boxMode BoxModeKind
BoxModeKind = CORNERS_HEIGHT_FIRST CORNERS_WIDTH_FIRST CENTER_SIZE_HEIGHT_FIRST
BoxModeKind = CENTER_SIZE_WIDTH_FIRST
Dot
  1 cosineSimilarity bool
SequenceRepeat
  1 nRepetitions int
Branch
  1 ifBranch Network; 2 elseBranch Network
Loop
  1 maxLoopIterations int; 2 conditionVar string; 3 conditionNetwork Network; 4 bodyNetwork Network
RangeLayer
  1 endValue float; 2 startValue float; 3 stepSizeValue float
ReverseSeq
  1 batchAxis int; 2 sequenceAxis int
SlidingWindows
  1 axis int; 2 windowSize int; 3 step int
FillStatic
  1 value float; 2 targetShape int*
RandomNormal
  1 seed int; 2 mean float; 3 stdDev float; 4 outputShape int*
RandomUniform
  1 seed int; 2 minVal float; 3 maxVal float; 4 outputShape int*
RandomBernoulli
  1 seed int; 2 prob float; 3 outputShape int*
Categorical
  1 seed int; 2 numSamples int; 3 isLogits bool; 4 eps float; 5 temperature float
MatrixBandPart
  1 numLower int; 2 numUpper int
Triangular
  1 k int
SuppressionLayer
  1 iouThreshold float; 2 scoreThreshold float; 3 maxBoxes int; 4 perClassSuppression bool
OneHot
  1 oneHotVectorSize int; 2 axis int; 3 onValue float; 4 offValue float
PoolingKind = MAX AVERAGE
PaddingKind = CUSTOM VALID SAME
Pooling3D
  1 type PoolingKind; 2 kernelDepth int; 3 kernelHeight int; 4 kernelWidth int; 5 strideDepth int
  6 strideHeight int; 7 strideWidth int; 15 paddingType PaddingKind; 8 customPaddingFront int
  9 customPaddingBack int; 10 customPaddingTop int; 11 customPaddingBottom int
  12 customPaddingLeft int; 13 customPaddingRight int; 14 countExcludePadding bool
SliceBySize
  2 size int; 3 axis int
Convolution3D
  1 outputChannels int; 2 inputChannels int; 10 nGroups int; 20 kernelDepth int; 21 kernelHeight int
  22 kernelWidth int; 31 strideDepth int; 32 strideHeight int; 33 strideWidth int
  40 dilationDepth int; 41 dilationHeight int; 42 dilationWidth int; 50 hasBias bool
  60 weights WeightParams; 61 bias WeightParams; 70 paddingType PaddingKind
  80 customPaddingFront int; 81 customPaddingBack int; 82 customPaddingTop int
  83 customPaddingBottom int; 84 customPaddingLeft int; 85 customPaddingRight int
  86 isDeconvolution bool; 87 outputShape int*
SimpleRecurrent
  1 inputVectorSize int; 2 outputVectorSize int; 10 activation ActivationParams
  15 sequenceOutput bool; 20 hasBiasVector bool; 30 weightMatrix WeightParams
  31 recursionMatrix WeightParams; 32 biasVector WeightParams; 100 reverseInput bool
Gru
  1 inputVectorSize int; 2 outputVectorSize int; 10 activations ActivationParams*
  15 sequenceOutput bool; 20 hasBiasVectors bool; 30 updateGateWeightMatrix WeightParams
  31 resetGateWeightMatrix WeightParams; 32 outputGateWeightMatrix WeightParams
  50 updateGateRecursionMatrix WeightParams; 51 resetGateRecursionMatrix WeightParams
  52 outputGateRecursionMatrix WeightParams; 70 updateGateBiasVector WeightParams
  71 resetGateBiasVector WeightParams; 72 outputGateBiasVector WeightParams; 100 reverseInput bool
LstmParams
  10 sequenceOutput bool; 20 hasBiasVectors bool; 30 forgetBias bool; 40 hasPeepholeVectors bool
  50 coupledInputAndForgetGate bool; 60 cellClipThreshold float
LstmWeights
  1 inputGateWeightMatrix WeightParams; 2 forgetGateWeightMatrix WeightParams
  3 blockInputWeightMatrix WeightParams; 4 outputGateWeightMatrix WeightParams
  20 inputGateRecursionMatrix WeightParams; 21 forgetGateRecursionMatrix WeightParams
  22 blockInputRecursionMatrix WeightParams; 23 outputGateRecursionMatrix WeightParams
  40 inputGateBiasVector WeightParams; 41 forgetGateBiasVector WeightParams
  42 blockInputBiasVector WeightParams; 43 outputGateBiasVector WeightParams
  60 inputGatePeepholeVector WeightParams; 61 forgetGatePeepholeVector WeightParams
  62 outputGatePeepholeVector WeightParams
UniDirectionalLstm
  1 inputVectorSize int; 2 outputVectorSize int; 10 activations ActivationParams*
  15 params LstmParams; 20 weightParams LstmWeights; 100 reverseInput bool
BiDirectionalLstm
  1 inputVectorSize int; 2 outputVectorSize int; 10 activationsForwardLSTM ActivationParams*
  11 activationsBackwardLSTM ActivationParams*; 15 params LstmParams; 20 weightParams LstmWeights*
ImageScaler
  10 channelScale float; 20 blueBias float; 21 greenBias float; 22 redBias float
  30 grayBias float
MeanImage
  1 meanImage float*
"""
