"""What each of CoreML's operations and layers stands for."""
