# SPDX-License-Identifier: BSD-3-Clause
"""What columns hold, found once: the same whole, in batches, and on a cluster."""

from collections.abc import Iterable, Mapping, Sequence
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
# What columns may hold.
ROLES = {
    "feature": (NUMBER, TEXT, DATE, EMPTY),
    "target": (NUMBER, TEXT, EMPTY),
    "weight": (NUMBER, EMPTY),
}
NEEDS = {
    "target": "labels are numbers, text, or true and false",
    "weight": "weights are numbers",
}


def kind_of(kind: Any) -> str:
    """Return what values of a type of Arrow are to us."""
    types = import_optional("pyarrow", "io").types
    held = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_null(kind):
        return EMPTY
    is_text = (
        types.is_string(held)
        or types.is_large_string(held)
        # pyarrow has it from version 16 on.
        or getattr(types, "is_string_view", types.is_string)(held)
    )
    if held is not kind:
        return TEXT if is_text or types.is_integer(held) else OTHER
    if is_text or types.is_time(kind):
        return TEXT
    if (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
    ):
        return NUMBER
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_duration(kind):
        return DATE
    return OTHER


def find_kinds(
    names: Sequence[str],
    files: Sequence[str],
    schemas: Sequence[Schema],
    target: str | None,
    weight: str | None,
) -> ColumnKinds:
    """Return the kinds of the features; raise if files differ, or a role is not met."""
    kinds = {}
    for name in names:
        kind, where = EMPTY, 0
        for k, schema in enumerate(schemas):
            here = kind_of(schema[name])
            if kind == EMPTY:
                kind, where = here, k
            elif here not in (EMPTY, kind):
                raise TableError(
                    f"holds {WORDS[here]} ({schema[name]}), but {WORDS[kind]} "
                    f"({schemas[where][name]}) in {files[where]}",
                    "write it the same way in all files",
                    Option("columns"),
                    file=files[k],
                    column=name,
                )
        role = "feature"
        if name in (target, weight):
            role = "target" if name == target else "weight"
        if kind not in ROLES[role]:
            problem = f"holds {schemas[where][name]} values"
            if role == "feature":
                advice = "turn it into columns of numbers or text"
                raise TableError(
                    problem, Option("columns"), advice, file=files[where], column=name
                )
            raise TableError(
                f"{problem}, but it is the {role}, and {NEEDS[role]}",
                f"choose another {role}",
                file=files[where],
                column=name,
            )
        if role == "feature":
            kinds[name] = NUMBER if kind == EMPTY else kind
    return kinds


def label_dtype(kinds: Iterable[Any]) -> np.dtype[Any]:
    """Return the type of labels that come in these types of Arrow."""
    types = import_optional("pyarrow", "io").types
    dtypes = []
    for kind in kinds:
        held = kind.value_type if types.is_dictionary(kind) else kind
        if kind_of(held) == TEXT:
            return np.dtype(object)
        if types.is_decimal(held):
            dtypes.append(np.dtype(np.float64))
        elif not types.is_null(held):
            dtypes.append(np.dtype(held.to_pandas_dtype()))
    return np.result_type(*dtypes) if dtypes else np.dtype(object)


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
