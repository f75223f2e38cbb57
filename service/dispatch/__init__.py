"""Takes jobs from the queue, has them run by hands (this machine, workers of a fleet), and commits
their results, once.
"""
