# SPDX-License-Identifier: BSD-3-Clause
"""What can be told of a model without opening it up: parameters and versions."""

import platform
import re
from importlib.metadata import version
from inspect import Parameter, signature
from typing import Any

import numpy as np
import sklearn

from aucmax.saved import names_in_files

SHOWN = 80
PLAIN = (bool, int, float, str, type(None))
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def versions() -> dict[str, str]:
    """Return the versions that a model depends on, by name."""
    return {
        "aucmax": version("aucmax"),
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "scipy": version("scipy"),
        "Python": platform.python_version(),
    }


def type_name(model: Any) -> str:
    """Return the name of a type, as users import it if it is ours."""
    name = f"{type(model).__module__}.{type(model).__qualname__}"
    return names_in_files().get(name, name)


def parameters(model: Any, *, deep: bool) -> dict[str, Any]:
    """Return the parameters of an estimator; none if it is no estimator."""
    if not hasattr(model, "get_params") or isinstance(model, type):
        return {}
    return dict(sorted(model.get_params(deep=deep).items()))


def changed_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that differ from the defaults of their class."""
    defaults = {
        name: each.default for name, each in signature(type(model)).parameters.items()
    }
    return {
        name: value
        for name, value in parameters(model, deep=False).items()
        if not _is_same(value, defaults.get(name, Parameter.empty))
    }


def short_repr(value: Any) -> str:
    """Return a value in one line, the same in every process.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.io.models.description import short_repr
    >>> short_repr(0.1), short_repr(np.zeros((4, 2))), short_repr(np.log)
    ('0.1', 'array of shape (4, 2)', 'log')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    if hasattr(value, "shape"):
        return f"array of shape {tuple(value.shape)}"
    # A state of 624 numbers says nothing to anybody.
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__
    text = ADDRESS.sub("", " ".join(repr(value).split()))
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _is_same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if type(value) not in PLAIN or type(value) is not type(default):
        return False
    return bool(value == default)
