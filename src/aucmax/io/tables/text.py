# SPDX-License-Identifier: BSD-3-Clause
"""CSV and TSV files as record batches, a block of text at a time."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from aucmax._utils.optional import import_optional
from aucmax.io._errors import damage_errors, listed, short
from aucmax.io.tables.errors import Option, TableError, damaged
from aucmax.io.tables.lines import LONGEST_LINE, UNFINISHED, text_lines
from aucmax.io.tables.source import Source

# Bytes parsed at a time. A row must fit; if one does not, the next size is tried.
BLOCK_BYTES = (2**20, 2**24, LONGEST_LINE)
# What pyarrow says of a value of another type; rows count from 1, the header included.
CONVERSION = re.compile(
    r"column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\w+).*?: "
    r"invalid value '(.*)'",
    re.DOTALL,
)
LINE_END = re.compile("[\r\n]")
# A number, or a word for none.
NO_NAME = re.compile(
    r"\s*[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|nan|inf|infinity)\s*",
    re.IGNORECASE | re.ASCII,
)
KINDS = {"int64": "a whole number", "bool": "true or false", "double": "a number"}
SEPARATORS = {"csv": ",", "tsv": "\t"}
EMPTY = "is empty: it has no header and no rows"
NAMED = {",": "a comma", "\t": "a tab"}

# Names of columns with their types.
Schema: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class TextReader:
    """A text file whose first line has the names of its columns.

    Attributes
    ----------
    source : Source
        The file.
    separator : str
        What is between two cells.
    types : dict of str to DataType
        Types of all columns, in the order of the file, as they shall be read.
    """

    source: Source
    separator: str
    types: Schema = field(default_factory=dict)

    def schema(self) -> tuple[Schema, None]:
        """Return the types of the columns by name, as found in the first block."""
        try:
            schema = next(self._blocks(None, {}, only_schema=True))
            names = schema.names
        except damage_errors() as error:
            self._explain(0, error)
        check_header(self.source, names, self.separator)
        # So it calls text that is not UTF-8.
        if import_optional("pyarrow", "io").binary() in schema.types:
            diagnose_text(self.source, self.separator)
        return dict(zip(names, schema.types, strict=True)), None

    def batches(
        self, columns: Sequence[str], skip: int = 0, *, whole: bool = False
    ) -> Iterator[Any]:
        """Yield columns, some rows at a time.

        A quote that is never closed takes all that follows for one cell. That is in the
        last column, as other rows are too short, and pyarrow refuses them.
        """
        string = import_optional("pyarrow", "io").string()
        last_name = list(self.types)[-1]
        names = list(dict.fromkeys([*columns, last_name]))
        types = {last_name: string} | {name: self.types[name] for name in columns}
        done, batch = 0, None
        try:
            for batch in self._blocks(names, types):
                yield batch.select(columns)
                done += batch.num_rows
        except damage_errors() as error:
            self._explain(done, error, names, types)
        if batch is not None and LINE_END.search(str(batch.column(last_name)[-1])):
            diagnose_text(self.source, self.separator)

    def _blocks(
        self,
        columns: Sequence[str] | None,
        types: Mapping[str, Any],
        *,
        only_schema: bool = False,
        threads: bool = True,
    ) -> Iterator[Any]:
        """Yield record batches; begin again with larger blocks if a row does not fit.

        Or only what the first block says of the columns.
        """
        text = import_optional("pyarrow.csv", "io")
        invalid = import_optional("pyarrow", "io").ArrowInvalid
        done = 0
        for size in BLOCK_BYTES:
            try:
                blocks = text.open_csv(
                    self.source.open_arrow(),
                    text.ReadOptions(block_size=size, use_threads=threads),
                    text.ParseOptions(
                        delimiter=self.separator, newlines_in_values=True
                    ),
                    text.ConvertOptions(
                        include_columns=columns,
                        column_types=types,
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=False,
                    ),
                )
                if only_schema:
                    yield blocks.schema
                    return
                skip = done
                for batch in blocks:
                    if skip < batch.num_rows:
                        done += batch.num_rows - skip
                        yield batch.slice(skip)
                    skip = max(skip - batch.num_rows, 0)
                return
            except invalid as error:
                if "block" not in str(error) or size == BLOCK_BYTES[-1]:
                    raise

    def _explain(
        self,
        done: int,
        error: Exception,
        columns: Sequence[str] = (),
        types: Mapping[str, Any] | None = None,
    ) -> NoReturn:
        """Raise what is wrong with the file, after so many rows that were right."""
        if isinstance(error, TableError | FileNotFoundError | PermissionError):
            raise error
        name = self.source.name
        found = CONVERSION.search(str(error))
        # With lines in it, it is no wrong value, but all that follows an open quote.
        if found is None or LINE_END.search(found[4]):
            diagnose_text(self.source, self.separator)
            after = f", after row {done}," if done else ""
            raise damaged(f"{name}{after}", error) from error
        found = self._with_row(columns, types or {}) or found
        place, row, kind, value = found.groups()
        column = list(self.types)[int(place)]
        row_number = done if row is None else int(row) - 2
        raise TableError(
            f"{short(value)} in column {short(column)} is not "
            f"{KINDS.get(kind, f'of type {kind}')}, as the first rows or types say",
            "mend it",
            Option("columns"),
            Option("text", column),
            file=name,
            row=row_number,
            column=column,
        ) from error

    def _with_row(
        self, columns: Sequence[str], types: Mapping[str, Any]
    ) -> re.Match[str] | None:
        """Return the message about the first value that is wrong, with its row."""
        try:
            # Rows are counted only without threads.
            for _ in self._blocks(columns, types, threads=False):
                pass
        except import_optional("pyarrow", "io").ArrowInvalid as error:
            return CONVERSION.search(str(error))
        return None


def check_header(source: Source, names: Sequence[str], separator: str = "") -> None:
    """Raise if names of columns are none, or equal."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if separator and len(names) == 1:
        refuse_one_cell(source, names[0], separator, ";\t,|")
    if separator and all(map(NO_NAME.fullmatch, names)):
        raise TableError(
            f"has numbers only in its first line, {short(', '.join(names))}, where the "
            "names of the columns are expected",
            "add a line with a name for each column",
            Option("header"),
            file=source.name,
        )
    if repeated:
        raise TableError(
            f"has more than one column named {listed(repeated)}",
            "rename all but one",
            file=source.name,
        )


def diagnose_text(source: Source, separator: str) -> None:
    """Raise what is wrong with the first line that is not like the first one."""
    expected = n_records = 0
    for number, cells in records(source, separator):
        expected = expected or len(cells)
        n_records += 1
        if len(cells) != expected:
            has = f"{len(cells)} column{'' if len(cells) == 1 else 's'}"
            raise TableError(
                f"{has}, where {expected} were expected",
                "mend it; a cell that holds the separator needs quotes",
                file=source.name,
                line=number,
            )
    if n_records < 2:
        problem = "has no rows below the names of its columns" if n_records else EMPTY
        raise TableError(problem, UNFINISHED, file=source.name)


def records(
    source: Source, separator: str, *, skip_spaces: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of cells with the number of their last line, from 1; no empty ones."""
    rows = csv.reader(
        text_lines(source),
        delimiter=separator,
        strict=True,
        skipinitialspace=skip_spaces,
    )
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise TableError(
                str(error),
                "mend it; a quote that is opened must be closed, and one inside quotes "
                "is doubled",
                file=source.name,
                line=rows.line_num,
            ) from error
        if cells is None:
            return
        if cells:
            yield rows.line_num, cells


def refuse_one_cell(source: Source, cell: str, separator: str, marks: str) -> None:
    """Raise if the only cell of the first line has one of the marks that separate."""
    other = next((mark for mark in marks if mark in cell and mark != separator), None)
    if other is None:
        return
    expected = NAMED.get(separator, repr(separator))
    raise TableError(
        f"has one cell in its first line, {short(cell)}: it seems to be separated by "
        f"{other!r} rather than by {expected}",
        Option("separator", other),
        file=source.name,
    )
