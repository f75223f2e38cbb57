"""What a kernel is: its stages, the plan of their loops, the nest, and what is legal."""
