// Nested modules, casts with several operands and results.
// RUN: nn-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: nn-opt --allow-unregistered-dialect --mlir-print-op-generic %s | nn-opt --allow-unregistered-dialect | filecheck %s

// CHECK:       module @outer attributes {a.version = 2 : i32} {
// CHECK-NEXT:    module @inner {
// CHECK-NEXT:      func.func @f(%arg0: i64) -> index {
// CHECK-NEXT:        %0 = builtin.unrealized_conversion_cast %arg0 : i64 to index
// CHECK-NEXT:        %1:2 = builtin.unrealized_conversion_cast %arg0, %0 : i64, index to f32, f64 {tag}
// CHECK-NEXT:        %2 = builtin.unrealized_conversion_cast to i32
// CHECK-NEXT:        return %0 : index
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    module {
// CHECK-NEXT:    }
// CHECK-NEXT:  }

module @outer attributes {a.version = 2 : i32} {
  module @inner {
    func.func @f(%x: i64) -> index {
      %0 = builtin.unrealized_conversion_cast %x : i64 to index
      %1:2 = builtin.unrealized_conversion_cast %x, %0 : i64, index to f32, f64 {tag}
      %2 = builtin.unrealized_conversion_cast to i32
      return %0 : index
    }
  }
  module {
  }
}
