"""What a schedule can ask for: one file per primitive, named as its operation.

A new primitive is its operation, `schedule.NAME`, and the file `NAME.py` here with a function of
that name; see `primitive.py`.
"""
