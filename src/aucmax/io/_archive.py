# SPDX-License-Identifier: BSD-3-Clause
"""What a model file claims, checked against its size before anything of it is built."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

SCHEMA, METADATA = "schema.json", "aucmax.json"
# No array packs better than this with DEFLATE; others pack without bound.
DEFLATE_RATIO = 1032
# The texts of forests, which repeat themselves most, pack 53 to 1.
TEXT_RATIO = 100
# What a text may have however small the file is.
SMALL_TEXT = 2**20


def check_members(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Raise ValueError if the members would unpack to more than the file can hold.

    Parameters
    ----------
    archive : ZipFile
        A model file, or a part of one that is an archive itself.
    n_bytes : int
        The size of the file.
    """
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise ValueError("it has two parts of one name")
    # More than the file: they overlap, which lets a few bytes be unpacked many times.
    if sum(member.compress_size for member in members) > n_bytes:
        raise ValueError("its parts are larger than the file")
    for member in members:
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{member.filename} is packed in another way than ours")
        if member.filename.endswith(".json"):
            most = SMALL_TEXT + TEXT_RATIO * member.compress_size
            if member.file_size > most:
                raise ValueError(f"{member.filename} unpacks to more than {most} bytes")
        if member.filename.endswith(".npz"):
            _check_inner(archive, member)


def _check_inner(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Check a part that is an archive: it must not multiply what the outer one does."""
    with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
        check_members(inner, member.file_size)
        total = sum(each.file_size for each in inner.infolist())
    if total > SMALL_TEXT + DEFLATE_RATIO * member.compress_size:
        raise ValueError(f"{member.filename} is packed twice")


def named_types(schema: Any) -> set[str]:
    """Return the full names of all types and functions that a schema has.

    Raise ValueError if one array is to be built many times.
    """
    names, owners = set(), dict[Any, Any]()
    for node in _nodes(schema):
        names.add(f"{node.get('__module__')}.{node.get('__class__')}")
        file, own = node.get("file"), node.get("__id__")
        # One array may be in many places; it then has one id, and is built once.
        if file is not None and (own is None or owners.setdefault(file, own) != own):
            raise ValueError(f"{file} is used for several arrays")
    return names


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "__class__" in value:
                yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
