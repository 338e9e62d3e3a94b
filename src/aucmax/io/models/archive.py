# SPDX-License-Identifier: BSD-3-Clause
"""What a model file claims, checked against its size before anything of it is built."""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax.io.models.trusted import is_reviewed, is_trusted, may_make
from aucmax.saved import import_public

Node = dict[str, Any]

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
        elif member.filename.endswith(".npy"):
            with archive.open(member) as array:
                # numpy would open an archive of arrays as well.
                if array.read(6) != b"\x93NUMPY":
                    raise ValueError(f"{member.filename} is no array")


def _check_inner(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Check a part that is an archive: it must not multiply what the outer one does."""
    with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
        check_members(inner, member.file_size)
        total = sum(each.file_size for each in inner.infolist())
    if total > SMALL_TEXT + DEFLATE_RATIO * member.compress_size:
        raise ValueError(f"{member.filename} is packed twice")


def untrusted_names(archive: zipfile.ZipFile, more: Sequence[str] = ()) -> list[str]:
    """Return the names in a file that nobody said to trust."""
    skops = import_optional("skops.io", "io")
    asked = {*skops.get_untrusted_types(file=archive.fp)} - {*more}
    _, others = check_schema(archive, more)
    return sorted(others.union(name for name in asked if not is_trusted(name)))


def check_schema(
    archive: zipfile.ZipFile, more: Sequence[str] = ()
) -> tuple[set[str], set[str]]:
    """Return all types and functions that the schema names.

    Raise ValueError if one array is to be built many times, an object is not the same
    in all its places, a tree is to be made with sizes that it has not, or anything in a
    way that is not meant for it.

    Returns
    -------
    names : set of str
        All full names.
    asked : set of str
        Those that skops may trust and we do not, without ``more``.
    """
    nodes = [*nodes_of(json.loads(archive.read(SCHEMA)))]
    _check_identities(nodes)
    n_places = Counter(node.get("__id__") for node in nodes)
    names, misused = set[str](), set[str]()
    for node in nodes:
        name, loader = f"{node['__module__']}.{node['__class__']}", node["__loader__"]
        names.add(name)
        if name not in more and not may_make(loader, name):
            misused.add(name)
        if loader == "DictNode":
            _check_keys(node["key_types"], n_places)
        elif loader == "TreeNode":
            _check_tree(archive, node["__reduce__"]["args"], node["content"], n_places)
    import_public(names)
    for name in misused:
        if is_trusted(name) or name.startswith("numpy."):
            raise ValueError(f"it makes a {name} in a way that is not meant for it")
    asked = misused.union(name for name in names - {*more} if not is_reviewed(name))
    return names, {name for name in asked if not is_trusted(name)}


def _check_identities(nodes: list[Node]) -> None:
    """Raise if an object has two descriptions, or an array two objects.

    skops builds what has one id once, as it is in the first place it meets.
    """
    owners, known = dict[str, Any](), dict[Any, Any]()
    for node in nodes:
        own, file = node.get("__id__"), node.get("file")
        outside = {k: v for k, v in node.items() if not isinstance(v, dict | list)}
        if own is not None and known.setdefault(own, outside) != outside:
            raise ValueError(f"it has two objects of the number {own}")
        if file is not None and (own is None or owners.setdefault(file, own) != own):
            raise ValueError(f"{file} is used for several arrays")


def _check_keys(types: Node, n_places: Counter[Any]) -> None:
    """Raise unless the keys of a dict, which their types are called with, have such."""
    is_own = types["__loader__"] == "ListNode" and n_places[types["__id__"]] == 1
    if not is_own or any(each["__loader__"] != "TypeNode" for each in types["content"]):
        raise ValueError("the keys of a dict have no types")


def _check_tree(
    archive: zipfile.ZipFile, sizes: Node, state: Node, n_places: Counter[Any]
) -> None:
    """Raise unless a tree of scikit-learn can be made: its maker does not look."""
    # What is made once for two trees could not be checked here.
    is_own = n_places[sizes["__id__"]] == n_places[state["__id__"]] == 1
    loaders = sizes["__loader__"], state["__loader__"]
    if not is_own or loaders != ("TupleNode", "DictNode"):
        raise ValueError("a tree has the parts of another one")
    given, held = sizes["content"], state["content"]
    n_features, n_outputs = _number(given[0]), _number(given[2])
    n_classes = _array(archive, given[1])
    nodes, values = _array(archive, held["nodes"]), _array(archive, held["values"])
    if (
        len(given) != 3
        or not (0 < n_features < 2**31 and 0 < n_outputs < 2**31)
        or n_classes.dtype != np.intp
        or n_classes.shape != (n_outputs,)
        or not 0 < n_classes.min() <= n_classes.max() < 2**31
        or nodes.ndim != 1
        or values.shape != (len(nodes), n_outputs, n_classes.max())
        or _number(held["node_count"]) != len(nodes)
    ):
        raise ValueError("a tree has sizes that do not fit")


def _number(node: Node) -> int:
    number = json.loads(node["content"])
    if node["__loader__"] != "JsonNode" or type(number) is not int:
        raise ValueError("a tree has no whole number for its size")
    return number


def _array(archive: zipfile.ZipFile, node: Node) -> NDArray[Any]:
    if (node["__loader__"], node["type"]) != ("NdArrayNode", "numpy"):
        raise ValueError("a tree has no arrays of its own")
    data = io.BytesIO(archive.read(node["file"]))
    array: NDArray[Any] = np.load(data, allow_pickle=False)
    return array


def nodes_of(schema: Any) -> Iterator[Node]:
    """Yield whatever in a schema names a type or function."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "__class__" in value:
                yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
