# SPDX-License-Identifier: BSD-3-Clause
"""What columns hold, found once: the same whole, in batches, and on a cluster."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax.io._errors import short
from aucmax.io.tables.errors import Option, TableError
from aucmax.io.tables.labels import brief, label_text
from aucmax.io.tables.text import Schema

# "number", "date" or "text" by name, in the order of the features.
ColumnKinds: TypeAlias = dict[str, str]
NUMBER, TEXT, DATE, EMPTY, OTHER = "number", "text", "date", "empty", "other"
WORDS = {
    NUMBER: "numbers",
    TEXT: "text",
    DATE: "dates",
    EMPTY: "nothing",
    OTHER: "other values",
}


def kind_of(kind: Any) -> str:
    """Return what values of a type of Arrow are to us."""
    # Extension types that are defined in Python have no hash.
    return _kind_of(kind) if isinstance(kind, Hashable) else OTHER


@cache
def _kind_of(kind: Any) -> str:
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
    if is_text(kind) or types.is_time(kind):
        return TEXT
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_duration(kind):
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


def merge_kinds(
    names: Sequence[str], files: Sequence[str], schemas: Sequence[Schema]
) -> dict[str, str]:
    """Return what columns hold in all files, or raise if that is not the same."""
    kinds = {}
    for name in names:
        found, where = EMPTY, 0
        for k, schema in enumerate(schemas):
            here = kind_of(schema[name])
            if found == EMPTY:
                found, where = here, k
            elif here not in (EMPTY, found):
                raise TableError(
                    f"holds {WORDS[here]} ({schema[name]}), but {WORDS[found]} "
                    f"({schemas[where][name]}) in {files[where]}",
                    "write it the same way in all files",
                    Option("columns"),
                    file=files[k],
                    column=name,
                )
        kinds[name] = found
    return kinds


def check_roles(
    file: str, schema: Schema, kinds: Mapping[str, str], target: Any, weight: Any
) -> ColumnKinds:
    """Return the kinds of the features, or raise if a column cannot be what it is."""
    if target is not None and not (
        {kinds[target], kind_of(plain(schema[target]))} <= {NUMBER, TEXT, EMPTY}
    ):
        raise TableError(
            f"holds {schema[target]} values, but it is the target, and labels are "
            "numbers, text, or true and false",
            "choose another target",
            file=file,
            column=target,
        )
    if weight is not None and kinds[weight] not in (NUMBER, EMPTY):
        raise TableError(
            f"holds {WORDS[kinds[weight]]} ({schema[weight]}), but it is the weight, "
            "and weights are numbers",
            "choose another weight",
            file=file,
            column=weight,
        )
    features = {}
    for name, kind in kinds.items():
        if name in (target, weight):
            continue
        if kind == OTHER:
            raise TableError(
                f"holds {schema[name]} values",
                Option("columns"),
                "turn it into columns of numbers or text",
                file=file,
                column=name,
            )
        features[name] = NUMBER if kind == EMPTY else kind
    return features


def label_dtype(kinds: Iterable[Any]) -> np.dtype[Any]:
    """Return the type of labels that come in these types of Arrow."""
    dtypes = [_numpy(plain(kind)) for kind in kinds if kind_of(plain(kind)) != EMPTY]
    if not dtypes or any(dtype.kind == "O" for dtype in dtypes):
        return np.dtype(object)
    return np.result_type(*dtypes)


def _numpy(kind: Any) -> Any:
    types = import_optional("pyarrow", "io").types
    if kind_of(kind) == TEXT:
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
    numbers = {kind for kind in set(kinds) if kind_of(kind) == NUMBER}
    return np.dtype(np.float32 if numbers and numbers <= single else np.float64)


def given_types(types: Mapping[str, str]) -> Schema:
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
            raise TableError(
                f"types has {kind!r} for column {name!r}",
                f"a type is one of {', '.join(map(repr, known))}",
            )
    return {name: known[kind] for name, kind in types.items()}


def to_frame(content: Any) -> Any:
    """Return columns of Arrow in pandas, as kinds that scikit-learn knows."""
    arrow = import_optional("pyarrow", "io")
    import_optional("pandas", "io")
    types = arrow.types
    fields = []
    for name, column in zip(content.schema.names, content.columns, strict=True):
        kind = column.type
        if (
            types.is_null(kind)
            or types.is_decimal(kind)
            or (types.is_boolean(kind) and column.null_count)
        ):
            kind = arrow.float64()
        elif types.is_time(kind):
            kind = arrow.string()
        fields.append(arrow.field(name, kind))
    # Column by column, each freed when it has been converted.
    return content.cast(arrow.schema(fields)).to_pandas(
        split_blocks=True, self_destruct=True, date_as_object=False
    )


def conform(
    X: Any, found: Mapping[str, str], wanted: Mapping[str, str], file: str
) -> Any:
    """Return columns, which hold what was found, as kinds that are wanted, or raise."""
    changed = {}
    for name, kind in wanted.items():
        column = X[name]
        if kind == TEXT:
            if found[name] != TEXT or column.dtype.name == "category":
                values = column.astype(object)
                changed[name] = values.where(values.isna(), values.map(label_text))
        elif found[name] != kind:
            changed[name] = _converted(column, found[name], kind, file)
        elif column.dtype.kind == "f" and np.isinf(values := column.to_numpy()).any():
            raise TableError(
                f"infinity in column {short(name)}",
                "replace it",
                Option("columns"),
                file=file,
                row=int(np.flatnonzero(np.isinf(values))[0]),
                column=name,
            )
    return X.assign(**changed) if changed else X


def _converted(column: Any, found: str, kind: str, file: str) -> Any:
    pandas = import_optional("pandas", "io")
    if column.isna().all():
        return column.astype("float64" if kind == NUMBER else "M8[s]")
    try:
        if found == TEXT:
            return (pandas.to_numeric if kind == NUMBER else pandas.to_datetime)(column)
    except (ValueError, TypeError):
        # Its own message names no file.
        pass
    raise TableError(
        f"holds {WORDS[found]}, such as {brief(column.dropna().iloc[0])}, where the "
        f"model learned from {kind}s",
        "mend it",
        file=file,
        column=str(column.name),
    )
