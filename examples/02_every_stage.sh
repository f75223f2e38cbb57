#!/bin/sh
# Write the IR after every stage, then continue from one of them.
set -e
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
nnc stages in.mlir -o "$out" --quiet
nn-opt --loops --vectors --llvm "$out/4-schedule.mlir" -o "$out/finished.mlir"
nnc run "$out/finished.mlir" --random --quiet
