# SPDX-License-Identifier: BSD-3-Clause
"""One part of a data set: how many rows, in which file, from where."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a data set, and the files that hold it.

    Attributes
    ----------
    name : str
        ``"train"``, ``"test"`` and so on; ``"all"`` where there is no split.
    n_rows : int
        Number of rows.
    file : str
        Name of the svmlight file in a mirror (a folder named by ``AUCMAX_DATA``).
    class_counts : dict of str to int, or None
        Rows per label; None where it is not known.
    sha256, bytes : str, int, or None
        Checksum and size of `file`; None where no such file was published.
    url : str or None
        The public file; None where it cannot be had by a plain download.
    url_hash : str or None
        Checksum of the public file as it is served: ``"sha256:..."`` or ``"md5:..."``.
    text_sha256 : str or None
        Checksum of the public file's text, unpacked, with white space at the ends of
        lines removed. Where neither is known, rows and labels are counted instead.
    format : str
        Of the public file: ``"libsvm"`` or ``"csv"``.
    options : dict
        What the reader must know of the public file.
    labels : dict of str to int
        The label that replaces each label of the public file; empty if they stay.
    mirror_differs : str or None
        How the values in `file` differ from the public ones, such as ``"z-scored"``;
        None if they do not.
    """

    name: str
    n_rows: int
    file: str
    class_counts: Mapping[str, int] | None = None
    sha256: str | None = None
    bytes: int | None = None
    url: str | None = None
    url_hash: str | None = None
    text_sha256: str | None = None
    format: str = "libsvm"
    options: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    mirror_differs: str | None = None

    @property
    def public_file(self) -> str | None:
        """Name of the public file, or None."""
        return self.url.rpartition("/")[2] if self.url else None
