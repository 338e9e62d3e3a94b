# SPDX-License-Identifier: BSD-3-Clause
"""The command ``aucmax``."""

import os
import sys

__all__ = ["main"]

INTERRUPTED = 130
# Of a process that SIGPIPE ends: 128 and the number of the signal.
READER_GONE = 141


def main() -> None:
    """Run the command that the arguments of the process name.

    What it needs is imported here, where Ctrl-C is waited for.
    """
    try:
        _occupy_streams()
        from aucmax.cli._main import main as command

        command(prog_name="aucmax")
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("\nStopped.\n")
        sys.exit(INTERRUPTED)


def _occupy_streams() -> None:
    """Open what was closed, so that no file gets the number of a standard stream.

    Libraries would print into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
