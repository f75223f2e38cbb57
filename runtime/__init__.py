"""What is needed to run a model: the reference interpreter, executables, buffers, threads."""
