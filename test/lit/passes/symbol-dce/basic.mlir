// symbol-dce erases private symbols that no public one reaches, also those that only reach
// each other.
// RUN: nn-opt --symbol-dce %s | filecheck %s

// CHECK: func.func @main
func.func @main() {
  call @used() : () -> ()
  return
}
// CHECK: func.func private @used
func.func private @used() {
  return
}
// CHECK-NOT: @a
// CHECK-NOT: @b
func.func private @a() {
  call @b() : () -> ()
  return
}
func.func private @b() {
  call @a() : () -> ()
  return
}
