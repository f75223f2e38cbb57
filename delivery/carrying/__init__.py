"""Runs one job of the service, by confined commands.

`carry` (carry.py) takes a job and a folder and returns an outcome, on this machine or, by fleet.py,
on a worker of a fleet.
"""
