"""Takes jobs from the queue, has them carried out by hands (this machine, workers of a fleet), and
commits what comes of them, once.
"""
