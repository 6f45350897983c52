"""Which packages a wheel holds: every room found in the tree, and the templates that lie outside it.

Everything else stands in pyproject.toml, which can either find packages or name them, but not do both.
"""

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["nsysan", "nsysan.*"]), "nsysan_templates"])
