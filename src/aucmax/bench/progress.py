# SPDX-License-Identifier: BSD-3-Clause
"""How far a run is, and how long it will still take."""

import sys
from types import TracebackType
from typing import Any

from aucmax._utils.optional import import_optional

FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {elapsed} so far, {remaining} left{postfix}"


class Progress:
    """A bar on standard error, in units of the estimated work.

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

    def __enter__(self) -> "Progress":
        if self._shown:
            tqdm = import_optional("tqdm", "data").tqdm
            self._bar = tqdm(
                total=self._total, desc=self._title, bar_format=FORMAT, file=sys.stderr
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
