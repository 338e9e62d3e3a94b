# SPDX-License-Identifier: BSD-3-Clause
"""What `Batches` needs of a kind of files."""

import json
from collections.abc import Generator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from aucmax.io._batch_blocks import Block
from aucmax.io._batch_files import InputFile


class Plan(Protocol):
    """How files are read; it holds no open file and can be pickled."""

    @property
    def files(self) -> tuple[InputFile, ...]:
        """The files, in order."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; empty if they have none."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def title(self) -> str:
        """What it is, in a word or two."""

    def blocks(self, n_rows: int, first: int) -> Generator[Block, None, None]:
        """Yield blocks of ``n_rows`` rows, without the first ones."""

    def records(self, skip: int) -> Generator[Any, None, None]:
        """Yield Arrow record batches without the first rows, if there are such."""

    def identity(self) -> dict[str, Any]:
        """Return all that the values of the blocks depend on but for the files."""


def fingerprint(plan: Plan) -> str:
    """Return a text that is the same where blocks have the same rows."""
    files = [
        [str(Path(path).absolute()), size, changed]
        for path, size, changed in plan.files
    ]
    text = json.dumps([plan.title, files, plan.identity()], sort_keys=True)
    return sha256(text.encode()).hexdigest()


def some(
    plan: Plan, found: Iterator[Block], first: int
) -> Generator[Block, None, None]:
    """Yield the blocks that were found; raise if there are none from the start on."""
    block = next(found, None)
    if block is None and not first:
        path, more = plan.files[0].path, len(plan.files) - 1
        others = f" and {more} more file{'' if more == 1 else 's'}" if more else ""
        raise ValueError(
            f"{path}{others}: there are no rows, or all have been dropped because a "
            "value is missing. Give files that have rows, or a number as missing=."
        )
    while block is not None:
        yield block
        # Not kept while the next one is made.
        block = None
        block = next(found, None)
