"""What code is made for: one room for each family of targets, and what they share."""
