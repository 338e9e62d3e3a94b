# SPDX-License-Identifier: BSD-3-Clause
"""What columns hold, over all files: numbers, text, dates, and how it is written."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax.io._batch_readers import Schema
from aucmax.io._errors import short

NUMBER, TEXT, DATE, EMPTY, OTHER = "numbers", "text", "dates", "nothing", "other values"


def class_of(kind: Any) -> str:
    """Return what values of a type of Arrow are to us."""
    # Extension types that are defined in Python have no hash.
    return _class_of(kind) if isinstance(kind, Hashable) else OTHER


@cache
def _class_of(kind: Any) -> str:
    types = import_optional("pyarrow", "io").types
    if types.is_null(kind):
        return EMPTY
    if (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
    ):
        return NUMBER
    if is_text(kind):
        return TEXT
    if types.is_temporal(kind):
        return DATE
    if types.is_dictionary(kind) and (
        is_text(kind.value_type) or types.is_integer(kind.value_type)
    ):
        return TEXT
    return OTHER


def is_text(kind: Any) -> bool:
    """Say whether values are text, in whatever form."""
    types = import_optional("pyarrow", "io").types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        # pyarrow has it from version 16 on.
        or getattr(types, "is_string_view", types.is_string)(kind)
    )


def plain(kind: Any) -> Any:
    """Return the type of the values of a dictionary, or the type itself."""
    is_dictionary = import_optional("pyarrow", "io").types.is_dictionary(kind)
    return kind.value_type if is_dictionary else kind


def merged_class(name: str, files: Sequence[str], schemas: Sequence[Schema]) -> str:
    """Return what a column holds in all files, or raise if that is not the same."""
    found, where = EMPTY, 0
    for k, schema in enumerate(schemas):
        here = class_of(schema[name])
        if EMPTY in (here, found):
            found, where = (found, where) if here == EMPTY else (here, k)
        elif here != found:
            raise ValueError(
                f"Column {short(name)} holds {here} ({schema[name]}) in {files[k]}, "
                f"but {found} ({schemas[where][name]}) in {files[where]}. Write it the "
                "same way in all files, or leave it out with columns=."
            )
    return found


def refuse_other(name: str, held: str, file: str, kind: Any) -> None:
    """Raise if a feature is neither numbers nor text."""
    if held == DATE:
        raise ValueError(
            f"Column {short(name)} of {file} holds dates or times ({kind}). Turn it "
            "into numbers, such as days since some day, or leave it out with columns=."
        )
    if held == OTHER:
        raise ValueError(
            f"Column {short(name)} of {file} holds {kind} values. Leave it out with "
            "columns=, or turn it into columns of numbers or text."
        )


def label_dtype(kinds: Iterable[Any]) -> np.dtype[Any]:
    """Return the type of labels that come in these types of Arrow."""
    dtypes = [_numpy(plain(kind)) for kind in kinds if class_of(plain(kind)) != EMPTY]
    if not dtypes or any(dtype.kind == "O" for dtype in dtypes):
        return np.dtype(object)
    return np.result_type(*dtypes)


def _numpy(kind: Any) -> Any:
    types = import_optional("pyarrow", "io").types
    if is_text(kind):
        return np.dtype(object)
    if types.is_decimal(kind):
        return np.dtype(np.float64)
    return np.dtype(kind.to_pandas_dtype())


def feature_dtype(kinds: Iterable[Any], dtype: str) -> np.dtype[Any]:
    """Return the precision of features: float32 if they have no more than that."""
    if dtype != "auto":
        return np.dtype(dtype)
    arrow = import_optional("pyarrow", "io")
    single = {arrow.float16(), arrow.float32()}
    numbers = {kind for kind in set(kinds) if class_of(kind) == NUMBER}
    return np.dtype(np.float32 if numbers and numbers <= single else np.float64)


def given_types(types: Mapping[str, str]) -> dict[str, Any]:
    """Return types of Arrow for their names."""
    arrow = import_optional("pyarrow", "io")
    known = {
        "float64": arrow.float64(),
        "int64": arrow.int64(),
        "bool": arrow.bool_(),
        "string": arrow.string(),
    }
    for name, kind in types.items():
        if kind not in known:
            raise ValueError(
                f"types has {kind!r} for column {name!r}. A type is one of "
                f"{', '.join(map(repr, known))}."
            )
    return {name: known[kind] for name, kind in types.items()}
