"""Matrix units: sums of products of small integers in a processor's tile registers."""
