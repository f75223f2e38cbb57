"""From the vectors of a group to each thread's share of them."""
