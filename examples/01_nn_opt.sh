#!/bin/sh
# From a graph to loops, in one command; `2>&1 | less` is a good next step.
set -e
cd "$(dirname "$0")"
nn-opt --fuse --lower-to-loops in.mlir
