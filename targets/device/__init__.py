"""Devices: targets whose kernels run on other chips than the program that launches them."""
