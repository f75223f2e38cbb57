"""The messages of Caffe2's nets.

Source: pytorch/pytorch 1.8, caffe2/proto/caffe2.proto
"""

from ..wire.protobuf import Schema

SCHEMA = Schema("""
Net
  1 name string
  2 op Operator*
  7 external_input string*
  8 external_output string*
Operator
  1 input string*
  2 output string*
  3 name string
  4 type string
  5 arg Argument*
Argument
  1 name string
  2 f float
  3 i int
  4 s bytes
  5 floats float*
  6 ints int*
  7 strings bytes*
""")
