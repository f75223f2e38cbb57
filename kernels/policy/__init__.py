"""Which schedule a kernel gets: models of the machine, and what is chosen by them."""
