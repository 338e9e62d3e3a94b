# SPDX-License-Identifier: BSD-3-Clause
"""Progress for ``verbose=1``: one line per step on standard error."""

import sys


def report(line: str) -> None:
    """Write one line where it does not mix with a program's output."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
