#!/bin/sh
# A model as a library, used from C, from C++ and from Python without nnc; and as C itself.
set -e
cd "$(dirname "$0")/deploy"
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
cat > "$out/model.mlir" <<'IR'
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x16xf32>
  %y = nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
IR
nnc compile "$out/model.mlir" -o "$out/model.so" --quiet
nnc compile "$out/model.mlir" --static -o "$out/model.a" --quiet
cc -I"$out" main.c "$out/model.so" -o "$out/shared"
c++ -I"$out" main.cpp "$out/model.a" -lpthread -lm -o "$out/static"
"$out/shared" | sort -u
"$out/static" | sort -u
python3 run.py "$out/model.so" | sort -u
nnc compile "$out/model.mlir" --target c-scalar -o "$out/chip_model.c" --quiet
sed 's/model.h/chip_model.h/' chip.c > "$out/chip.c"
cc -std=c99 "$out/chip.c" "$out/chip_model.c" -lm -o "$out/chip"
"$out/chip" | sort -u
