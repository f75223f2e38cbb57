"""Carrying out one job of the service, by commands that are run confined.

`carry` (carry.py) is given a job and a folder and gives an outcome, on this machine or, as
fleet.py has it, on a worker of a fleet.
"""
