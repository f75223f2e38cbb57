// Functions of the llvm dialect are executed: structs, vectors, pointers, and a crash is a message.
// RUN: nn-run %s --entry pair --args 'i32:5,f32[4]:[1,2,3,4]' | filecheck %s
// RUN: nn-run %s --entry sum --args 'f64[3]:[1.5,2,-4],i64:3' | filecheck %s --check-prefix=SUM
// RUN: not nn-run %s --entry crash 2>&1 | filecheck %s --check-prefix=CRASH
// RUN: not nn-run %s --entry pair --args 'i32:5,f32[4]:ones' --interpret 2>&1 | filecheck %s --check-prefix=INTERPRET

// CHECK:      result #0: i32
// CHECK-NEXT: 6
// CHECK-NEXT: result #1: f32[4]
// CHECK-NEXT: [2.0, 4.0, 6.0, 8.0]
llvm.func @pair(%a: i32, %v: vector<4xf32>) -> !llvm.struct<(i32, vector<4xf32>)> {
  %one = llvm.mlir.constant(1 : i32) : i32
  %b = llvm.add %a, %one : i32
  %w = llvm.fadd %v, %v : vector<4xf32>
  %u = llvm.mlir.undef : !llvm.struct<(i32, vector<4xf32>)>
  %s = llvm.insertvalue %b, %u[0] : !llvm.struct<(i32, vector<4xf32>)>
  %t = llvm.insertvalue %w, %s[1] : !llvm.struct<(i32, vector<4xf32>)>
  llvm.return %t : !llvm.struct<(i32, vector<4xf32>)>
}

// SUM:      result #0: f64
// SUM-NEXT: -0.5
// SUM-NEXT: argument #0: f64[3]
// SUM-NEXT: [1.5, 2.0, -4.0]
llvm.func @sum(%p: !llvm.ptr, %n: i64) -> f64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %start = llvm.mlir.constant(0.0 : f64) : f64
  llvm.br ^loop(%zero, %start : i64, f64)
^loop(%i: i64, %s: f64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^done
^body:
  %at = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  %x = llvm.load %at : !llvm.ptr -> f64
  %t = llvm.fadd %s, %x : f64
  %j = llvm.add %i, %one : i64
  llvm.br ^loop(%j, %t : i64, f64)
^done:
  llvm.return %s : f64
}

// CRASH: error: the machine code ended with SIG{{SEGV|BUS|TRAP|ILL}}
llvm.func @crash() -> i32 {
  %a = llvm.mlir.constant(8 : i64) : i64
  %p = llvm.inttoptr %a : i64 to !llvm.ptr
  %x = llvm.load volatile %p : !llvm.ptr -> i32
  llvm.return %x : i32
}

// INTERPRET: error: nn-run: functions of the llvm dialect are executed, not interpreted
