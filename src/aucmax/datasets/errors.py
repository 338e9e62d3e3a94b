# SPDX-License-Identifier: BSD-3-Clause
"""What can go wrong with the file of a data set."""


class DatasetUnavailable(OSError):
    """The file is neither at hand nor to be had by download.

    The message names the file, where it lives, and the folder to put it into.
    """


class DatasetDamaged(OSError):
    """The file is there, but it is not the one that was published.

    The message gives what was expected and what was found.
    """
