// With --no-implicit-module, a file of several operations is an error.
// RUN: not nn-opt --no-implicit-module %s 2>&1 | filecheck %s

// CHECK: error: source must contain a single top-level operation, found: 2
func.func private @f()
func.func private @g()
