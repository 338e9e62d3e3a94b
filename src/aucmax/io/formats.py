# SPDX-License-Identifier: BSD-3-Clause
"""Formats of tables: their names, and what may be said of each."""

from aucmax.io.source import Source

TEXT = {"csv", "tsv"}
LIBSVM = {"libsvm", "svm", "svmlight"}
FORMATS = (
    *("csv", "tsv", "jsonl", "parquet", "arrow", "feather", "ipc"),
    *sorted(LIBSVM),
)
# Ends of names that are no names of formats. Of a text, separator= may say more.
SUFFIXES = {"ndjson": "jsonl", "txt": "csv"}


def check_format(format: str | None) -> None:
    """Raise if it is no name of a format."""
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {format!r}.")


def kind_of(source: Source, format: str | None, *, is_stream: bool) -> str:
    """Return the format that is given, or else what the name ends with."""
    if format is not None:
        return format
    suffix = source.suffix.lower().lstrip(".")
    kind = SUFFIXES.get(suffix, suffix)
    if kind in FORMATS:
        return kind
    if is_stream:
        return "csv"
    raise ValueError(
        f"The name of {source.name} does not say what it holds. Pass format=, one of "
        f"{', '.join(FORMATS)}."
    )


def check_separator(source: Source, kind: str, separator: str | None) -> None:
    """Raise if such a file has no separator, or not this one."""
    if separator is None:
        return
    if kind not in TEXT:
        raise ValueError(
            f"{source.name} is read as {kind}, which has no separator. Leave it out, "
            "or pass format='csv'."
        )
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise ValueError(
            "separator must be one ASCII character, and no quote or end of a line; got "
            f"{separator!r}."
        )
