"""Bindings: a model's library as a typed interface of other languages, ready to be built.

Each room has one language: its templates, and in `__init__.py` what it calls things.
"""

LANGUAGES = ("c", "cpp", "python", "node", "java", "java-jni", "objc", "swift", "rust", "go")
"""The rooms, by what `--bindings` calls them, which is also the folder that they make."""
