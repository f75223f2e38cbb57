"""Bindings: typed interfaces of other languages to a model's library, ready to build.

Each package here is one language: its templates, and its names in `__init__.py`.
"""

LANGUAGES = ("c", "cpp", "python", "node", "java", "java-jni", "objc", "swift", "rust", "go")
"""The folders of languages, which are the names that `--bindings` takes and the folders that it
writes."""
