# SPDX-License-Identifier: BSD-3-Clause
"""How far a run is, and how long it will still take."""

import io
import sys
import time
from types import TracebackType
from typing import Any

from aucmax._utils.optional import import_optional

# Between two lines where nobody watches, such as in the log of a queue.
LINE_SECONDS = 60.0
FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {elapsed} so far, {remaining} left{postfix}"


class Progress:
    """A bar on standard error, in units of the estimated work.

    Where standard error is no terminal, it is a line a minute.

    Parameters
    ----------
    title : str
        What is run.
    shown : bool
        Whether to draw it at all.
    """

    def __init__(self, title: str, *, shown: bool) -> None:
        self._title, self._shown = title, shown
        self._total = 0.0
        self._bar: Any = None
        self._has_lines = False
        self._last_line = 0.0

    def expect(self, total: float) -> None:
        """Say how much work there is."""
        self._total = total

    def skip(self, amount: float) -> None:
        """Take off work whose results are there."""
        if self._bar is not None:
            # Not counted as done, or the time left would look too short.
            self._bar.total = max(self._bar.total - amount, self._bar.n)

    def advance(self, amount: float, what: str) -> None:
        """Count work that was done."""
        if self._bar is not None:
            self._bar.set_postfix_str(what, refresh=False)
            self._bar.update(min(amount, self._bar.total - self._bar.n))
        if self._has_lines and time.monotonic() - self._last_line > LINE_SECONDS:
            self._write_line()

    def _write_line(self) -> None:
        sys.stderr.write(f"{self._bar}\n")
        sys.stderr.flush()
        self._last_line = time.monotonic()

    def __enter__(self) -> "Progress":
        if self._shown:
            tqdm = import_optional("tqdm", "data").tqdm
            self._has_lines = not sys.stderr.isatty()
            self._last_line = time.monotonic()
            self._bar = tqdm(
                total=self._total,
                desc=self._title,
                bar_format=FORMAT,
                file=io.StringIO() if self._has_lines else sys.stderr,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
