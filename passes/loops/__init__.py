"""Loop nests: the stages of a kernel, their schedules, and the code made of both."""
