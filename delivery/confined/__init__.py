"""Commands that are run confined: no network, a folder of their own, limits, and a sure end.

`Confinement` (start.py) is what others use. A fork server (fork_server.py) starts each command; a
supervisor (supervisor.py) watches over it from outside; what happens inside before the command
begins is in inside.py.
"""
