"""Confined commands: without network, with a folder of their own, limits, and a certain end.

`Confinement` (start.py) is the interface. A fork server (fork_server.py) starts each command; a
supervisor (supervisor.py) watches it from outside; inside.py has the steps inside before the
command begins.
"""
