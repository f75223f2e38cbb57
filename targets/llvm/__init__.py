"""LLVM: from the llvm dialect to LLVM IR, and from that to code of the processors LLVM knows."""
