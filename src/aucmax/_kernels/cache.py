# SPDX-License-Identifier: BSD-3-Clause
# mypy: allow-untyped-calls
"""Machine code kept on disk, in files that tell whether they are whole."""

import functools
import hashlib
import io
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

N_DIGEST = hashlib.sha256().digest_size


def enable_caching(compiled: Any) -> None:
    """Let a compiled function reuse machine code between processes."""
    try:
        compiled.enable_caching()
    # Zipped or read-only installs have nowhere to keep it.
    except RuntimeError:
        return
    cache = compiled._cache
    file = CheckedCacheFile(
        cache_path=cache._cache_path,
        # Files that numba wrote by itself end without a digest.
        filename_base=f"{cache._impl.filename_base}.checked",
        source_stamp=cache._impl.locator.get_source_stamp(),
    )
    # numba compares the version before it unpickles the types of arguments, which may
    # be of a class that is no more.
    file._version = (file._version, stamp_of_kernels())
    cache._cache_file = file


@functools.cache
def stamp_of_kernels() -> tuple[tuple[str, int, int], ...]:
    """Return what changes whenever a file of kernels does.

    numba looks only at the file of the kernel itself, but kernels call kernels of other
    files, whose code is then part of theirs.
    """
    files = sorted(Path(__file__).parent.glob("*.py"))
    stats = [(file.name, file.stat()) for file in files]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


class CheckedCacheFile(IndexDataCacheFile):
    """Index and data files of numba, each with its SHA-256 digest at the end.

    numba fails in many ways on a file that a full disk or a crash has cut off, and runs
    machine code with flipped bits. Here a damaged file counts as missing.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save machine code, unless the disk is full or cannot be written any more."""
        with suppress(OSError):
            super().save(key, data)

    def _load_index(self) -> Any:
        return super()._load_index() if self._is_whole(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        if not self._is_whole(self._data_path(name)):
            raise FileNotFoundError(name)  # numba then compiles
        return super()._load_data(name)

    def _data_name(self, _: int) -> str:
        """Return a file name of its own for each piece of machine code.

        numba numbers them, without a lock: two processes that compile one kernel for
        two types at once would both take the next number, and the code of one type be
        loaded for the other. This way the worst is that one of them is compiled once
        more.
        """
        name: str = super()._data_name(uuid.uuid4().int)
        return name

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue())
            # pickle does not look at what comes after its end.
            file.write(hashlib.sha256(content.getvalue()).digest())

    def _is_whole(self, path: str) -> bool:
        """Say whether a file is there as it was written; remove a damaged one."""
        try:
            content = Path(path).read_bytes()
        except OSError:
            return False
        if hashlib.sha256(content[:-N_DIGEST]).digest() == content[-N_DIGEST:]:
            return True
        warnings.warn(
            f"The file of compiled code {path} is damaged; the function is compiled "
            "again.",
            stacklevel=2,
        )
        with suppress(OSError):
            Path(path).unlink()
        return False
