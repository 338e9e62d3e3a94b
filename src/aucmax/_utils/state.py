# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what a loaded object holds, for its ``check_state``.

Compiled loops look at no bounds. The arrays of an object that was made by its own
methods fit together; those of a file may have been damaged, or made to harm.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from aucmax._utils.validation import check_entries

# Floats count exactly up to here, and no sum of counts overflows.
MOST = 2**53
FLOATS = (np.float64, np.float32)
# Arrays of integers, and of records with some.
COUNTING = "iV"


def check_state(part: Any, owners: dict[int, Any]) -> None:
    """Let a part of a loaded model check itself, if its class says how.

    Parameters
    ----------
    part : object
        The part.
    owners : dict
        The arrays of counts and places of the parts before, by id.

    Raises
    ------
    ValueError
        If what it holds does not fit together.
    """
    kind = type(part)
    check = getattr(kind, "check_state", None)
    if check is None:
        return
    try:
        check(part)
    except AttributeError as error:  # what the file has left out
        raise ValueError(str(error)) from error
    # Of estimators themselves, no loop changes an array.
    if not hasattr(kind, "get_params"):
        held = getattr(part, "__dict__", {}).values()
        _claim(part if isinstance(part, tuple) else held, part, owners)


def _claim(values: Iterable[Any], part: Any, owners: dict[int, Any]) -> None:
    """Raise if another part counts in the same array: loops change them in place."""
    for value in values:
        if isinstance(value, tuple | list):
            _claim(value, part, owners)
        elif isinstance(value, np.ndarray) and value.dtype.kind in COUNTING:
            # Signs, of one byte each, are shared, and never changed.
            if value.itemsize == 1 or not value.size:
                continue
            expect(id(value) not in owners, part, "two arrays of counts are one")
            owners[id(value)] = value


def is_fitted(estimator: Any) -> bool:
    """Say whether an estimator holds anything that was learned, if only a part."""
    return any(name.endswith("_") or name == "_stream" for name in vars(estimator))


def is_plain_number(value: Any) -> bool:
    """Say whether a value is a float, or an integer that compiled code can hold."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return bool(-(2**63) <= value < 2**63)
    return isinstance(value, float | np.floating)


def expect(fits: Any, owner: Any, what: str) -> None:
    """Raise unless something is so."""
    if not fits:
        raise ValueError(f"{type(owner).__name__} is damaged: {what}")


def expect_type(owner: Any, name: str, *kinds: type) -> Any:
    """Return an attribute that must be of one of these types."""
    value = getattr(owner, name)
    expect(isinstance(value, kinds), owner, f"{name} is a {type(value).__name__}")
    return value


def expect_part(owner: Any, name: str, kind: type) -> Any:
    """Return an attribute that must meet a protocol, and look at what it holds."""
    value = expect_type(owner, name, kind)
    fits = hasattr(type(value), "check_state")
    expect(fits, owner, f"{name} is a {type(value).__name__}")
    return value


def expect_array(
    owner: Any,
    name: str,
    shape: Sequence[int | None],
    dtype: DTypeLike | tuple[DTypeLike, ...] = np.float64,
) -> NDArray[Any]:
    """Return an attribute that must be an array of this shape, None for any length."""
    return expect_values(owner, name, getattr(owner, name), shape, dtype)


def expect_finite(owner: Any, name: str, shape: Sequence[int | None]) -> NDArray[Any]:
    """Return an attribute that must be an array of floats without NaN or infinity."""
    array = expect_array(owner, name, shape, FLOATS)
    expect(np.isfinite(array).all(), owner, f"{name} is not finite")
    return array


def expect_counts(
    owner: Any, name: str, shape: Sequence[int | None], most: int = MOST
) -> NDArray[np.int64]:
    """Return an attribute that must be an array of counts, none above ``most``."""
    array = expect_array(owner, name, shape, np.int64)
    expect_between(owner, name, array, 0, most)
    return array


def expect_between(
    owner: Any, name: str, array: NDArray[Any], low: int, high: int
) -> None:
    """Raise unless all values lie in this range, its ends included."""
    fits = not array.size or (array.min() >= low and array.max() <= high)
    expect(fits, owner, f"{name} has values outside {low} to {high}")


def expect_count(owner: Any, name: str, low: int = 0, high: int = MOST) -> int:
    """Return an attribute that must be a whole number in this range."""
    value = getattr(owner, name)
    fits = isinstance(value, int | np.integer) and not isinstance(value, bool)
    expect(fits and low <= value <= high, owner, f"{name} is {value!r}")
    return int(value)


def expect_number(owner: Any, name: str) -> None:
    """Raise unless an attribute is a plain number."""
    value = getattr(owner, name)
    expect(is_plain_number(value), owner, f"{name} is {value!r}")


def expect_flag(owner: Any, name: str) -> bool:
    """Return an attribute that must be true or false."""
    return bool(expect_type(owner, name, bool, np.bool_))


def expect_constants(owner: Any, name: str, kind: type) -> Any:
    """Return an attribute that must be a named tuple of numbers and flags."""
    constants = expect_type(owner, name, kind)
    fits = all(isinstance(v, bool | np.bool_) or is_plain_number(v) for v in constants)
    expect(fits, owner, f"{name} is {constants!r}")
    return constants


def expect_choice(owner: Any, name: str, choices: Sequence[str]) -> str:
    """Return an attribute that must be one of these words."""
    value = getattr(owner, name)
    expect(isinstance(value, str) and value in choices, owner, f"{name} is {value!r}")
    return str(value)


def expect_rows(
    owner: Any, name: str, rows: Any, n_features: int | None = None
) -> tuple[int, int]:
    """Return the shape of what must be dense rows of float64, or sound CSR rows."""
    shape = (None, n_features)
    if isinstance(rows, sparse.csr_matrix | sparse.csr_array):
        expect_values(owner, name, rows.data, (None,), np.float64)
        expect(n_features in (None, rows.shape[1]), owner, f"{name} has another width")
        check_entries(rows)
    else:
        expect_values(owner, name, rows, shape, np.float64)
    return rows.shape[0], rows.shape[1]


def expect_values(
    owner: Any,
    name: str,
    array: Any,
    shape: Sequence[int | None],
    dtype: DTypeLike | tuple[DTypeLike, ...] = np.float64,
) -> NDArray[Any]:
    """Return what must be an array of this shape; ``name`` is for the message."""
    expect(type(array) is np.ndarray, owner, f"{name} is a {type(array).__name__}")
    kinds = dtype if isinstance(dtype, tuple) else (dtype,)
    expect(array.dtype in kinds, owner, f"{name} holds {array.dtype}")
    fits = len(shape) == array.ndim and all(
        wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
    )
    expect(fits, owner, f"{name} has the shape {array.shape}")
    return array  # type: ignore[no-any-return]
