# SPDX-License-Identifier: BSD-3-Clause
"""Which of skops' ways to make an object may be used for which types.

A file says for each object by which way it is made. Some ways call what they are told
to, or set the state of an object of C as it is in the file; with a type that they are
not meant for, memory is written at places of the file's choice.
"""

from collections.abc import Callable

VALUES = ("builtins.bool", "builtins.float", "builtins.int", "builtins.str")
# What a trusted name stands for, if not for a class whose objects have a __dict__.
NO_OBJECTS = (
    "functools.partial",
    "numpy.dtype",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)


def _is_scalar(name: str) -> bool:
    return name.startswith("numpy.") and name not in ("numpy.dtype", "numpy.void")


def _is_object(name: str) -> bool:
    return name.startswith(("aucmax.", "sklearn.")) and name not in NO_OBJECTS


LOADERS: dict[str, Callable[[str], bool]] = {
    "BytesNode": lambda name: name == "builtins.bytes",
    "BytearrayNode": lambda name: name == "builtins.bytearray",
    "DTypeNode": lambda name: name == "numpy.dtype",
    "DictNode": lambda name: name in ("builtins.dict", "sklearn.utils._bunch.Bunch"),
    "FunctionNode": lambda name: not name.startswith("sklearn.tree."),
    "JsonNode": lambda name: name == "builtins.str",
    "ListNode": lambda name: name == "builtins.list",
    "LossNode": lambda name: name == "sklearn._loss._loss.CyHalfBinomialLoss",
    "MaskedArrayNode": lambda name: name.startswith("numpy.ma."),
    "NdArrayNode": _is_scalar,
    "ObjectNode": _is_object,
    "PartialNode": lambda name: name == "functools.partial",
    "RandomGeneratorNode": lambda name: name == "numpy.random._generator.Generator",
    "RandomStateNode": lambda name: name == "numpy.random.mtrand.RandomState",
    "SetNode": lambda name: name == "builtins.set",
    "SliceNode": lambda name: name == "builtins.slice",
    "SparseMatrixNode": lambda name: name.startswith("scipy.sparse."),
    "TreeNode": lambda name: name == "sklearn.tree._tree.Tree",
    "TupleNode": lambda name: name == "builtins.tuple" or name.startswith("aucmax."),
    "TypeNode": lambda name: name in VALUES or _is_scalar(name),
}


def may_make(loader: str, name: str) -> bool:
    """Say whether objects of a type may be made in this way."""
    return loader in LOADERS and LOADERS[loader](name)
