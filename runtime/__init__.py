"""Running a model: the reference interpreter, executables, buffers, threads."""
