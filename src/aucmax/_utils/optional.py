# SPDX-License-Identifier: BSD-3-Clause
"""Packages that only a part of the library needs, imported when that part is used."""

from importlib import import_module
from typing import Any


def import_optional(module: str, extra: str) -> Any:
    """Return a module, or raise an error that says how to install it.

    Parameters
    ----------
    module : str
        Full name, such as ``"matplotlib.pyplot"``.
    extra : str
        The extra of aucmax that installs it.

    Returns
    -------
    module : module
        The imported module.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # A package that is there but lacks something itself should say so.
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(
            f"{package} is needed for this and is not installed. Install it with: "
            f'pip install "aucmax[{extra}]"',
            name=package,
        ) from error
