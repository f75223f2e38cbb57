// Scalars of every kind go in and come out as NumPy writes them, odd widths wrapped.
// RUN: nn-run %s --args 'i4:7,index:-3,true,bf16:1.5,f32:nan' | filecheck %s
// RUN: nn-run %s --args '7,-3,i1:1,1.5,nan' --compile | filecheck %s

// CHECK:      result #0: i4
// CHECK-NEXT: {{^}}-2{{$}}
// CHECK-NEXT: result #1: i64
// CHECK-NEXT: {{^}}-6{{$}}
// CHECK-NEXT: result #2: i1
// CHECK-NEXT: {{^}}false{{$}}
// CHECK-NEXT: result #3: bf16
// CHECK-NEXT: {{^}}3{{(.0)?$}}
// CHECK-NEXT: result #4: f32
// CHECK-NEXT: {{^}}nan{{$}}
func.func @main(%a: i4, %b: index, %c: i1, %d: bf16, %e: f32) -> (i4, index, i1, bf16, f32) {
  %true = arith.constant true
  %0 = arith.addi %a, %a : i4
  %1 = arith.addi %b, %b : index
  %2 = arith.xori %c, %true : i1
  %3 = arith.addf %d, %d : bf16
  %4 = arith.negf %e : f32
  return %0, %1, %2, %3, %4 : i4, index, i1, bf16, f32
}
