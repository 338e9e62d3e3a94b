# SPDX-License-Identifier: BSD-3-Clause
"""Text files with a JSON object in each line."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.io._errors import damage_errors, short
from aucmax.io.tables.columnar import types_of, validated
from aucmax.io.tables.errors import TableError, damaged
from aucmax.io.tables.lines import UNFINISHED, text_lines
from aucmax.io.tables.source import Source
from aucmax.io.tables.text import BLOCK_BYTES, Schema

# A line of JSON that may hold a null outside of objects, which crashes pyarrow where it
# stands first, and is taken for a row elsewhere.
NOT_AN_OBJECT = re.compile(r"^\s*[^\s{]|\}\s*null")
KINDS = {bool: "flag", int: "number", float: "number", str: "text"}


@dataclass(frozen=True)
class JsonReader:
    """A file with a JSON object in each line, which is read as a whole.

    Attributes
    ----------
    source : Source
        The file.
    """

    source: Source

    def schema(self) -> tuple[Schema, None]:
        """Return the types of the columns by name."""
        return types_of(self.source, self._content.schema), None

    def batches(
        self, columns: Sequence[str], skip: int = 0, *, whole: bool = False
    ) -> Iterator[Any]:
        """Yield columns, some rows at a time."""
        return iter(self._content.select(columns).to_batches())

    @cached_property
    def _content(self) -> Any:
        try:
            if any(NOT_AN_OBJECT.search(line) for line in text_lines(self.source)):
                diagnose_json(self.source)
            content = validated(self._parsed())
            if not content.num_columns:
                diagnose_json(self.source)
            return content
        except (TableError, FileNotFoundError, PermissionError):
            raise
        except damage_errors() as error:
            diagnose_json(self.source)
            raise damaged(self.source.name, error) from error

    def _parsed(self) -> Any:
        """Parse in blocks of a size in which each row fits."""
        pyarrow_json = import_optional("pyarrow.json", "io")
        invalid = import_optional("pyarrow", "io").ArrowInvalid
        for size in BLOCK_BYTES[:-1]:
            try:
                options = pyarrow_json.ReadOptions(block_size=size)
                return pyarrow_json.read_json(self.source.open_arrow(), options)
            except invalid as error:
                if "block" not in str(error):
                    raise
        options = pyarrow_json.ReadOptions(block_size=BLOCK_BYTES[-1])
        return pyarrow_json.read_json(self.source.open_arrow(), options)


def diagnose_json(source: Source) -> None:
    """Raise what is wrong with the first line that is no object, or unlike others."""
    n_rows, kinds = 0, dict[str, str]()
    for number, line in enumerate(text_lines(source), start=1):
        if not line.strip():
            continue
        n_rows += 1
        try:
            row = json.loads(line)
        # Also of too many digits or brackets.
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise TableError(
                f"{short(line.strip())} is not a JSON object",
                'each line must be one, such as {"age": 41, "y": 1}',
                file=source.name,
                line=number,
            )
        for name, value in row.items():
            kind = KINDS.get(type(value))
            if kind is not None and kinds.setdefault(name, kind) != kind:
                raise TableError(
                    f"{short(name)} is a {kind}, but a {kinds[name]} before",
                    "write it alike in all lines, and null where it is missing",
                    file=source.name,
                    line=number,
                    column=name,
                )
    if not n_rows:
        raise TableError("has no rows", UNFINISHED, file=source.name)
