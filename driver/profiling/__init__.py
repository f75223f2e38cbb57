"""`nnc profile`: where a compiled model's time goes, kernel by kernel."""
