"""Lists the packages; everything else is declared in pyproject.toml."""

from setuptools import find_packages, setup

# Folders with Python that are not part of the installed package.
NOT_PACKAGED = ("bench", "docs", "examples", "fuzz", "test")

setup(
    packages=[
        "nnc",
        *(
            f"nnc.{package}"
            for package in find_packages(
                exclude=[*NOT_PACKAGED, *(f"{folder}.*" for folder in NOT_PACKAGED)]
            )
        ),
    ]
)
