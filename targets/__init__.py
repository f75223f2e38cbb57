"""What code is made for: machine descriptions, LLVM IR, object code."""
