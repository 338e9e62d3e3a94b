# SPDX-License-Identifier: BSD-3-Clause
"""The names of our classes in model files, which outlast where a class is defined.

A file names a public estimator as users do, ``aucmax.OPAUC``, and what is inside of a
model by the name that `saved_as` gave it, ``aucmax.saved.OnlineStream``. Classes can be
renamed and moved; their names in files stay.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

Named = TypeVar("Named", bound=Callable[..., Any])

# Where classes with a name in files are defined: those that load quickly come first,
# if it is not the command line, which other models do not need.
PACKAGES = (
    "preparation",
    "_kernels",
    "summaries",
    "solvers",
    "solvers.online",
    "features",
    "neighbors",
    "metrics",
    "streams",
    "auto",
    "cli",
)
_named: dict[str, Any] = {}
_untrusted: set[str] = set()


def saved_as(name: str, *, trusted: bool = True) -> Callable[[Named], Named]:
    """Give a class or function its name in model files, which must never change.

    Parameters
    ----------
    name : str
        A name that no other class has, or had.
    trusted : bool, default=True
        Whether `load` takes it from any file: only if no call of it can do harm, and
        what compiled code follows is looked at by its ``check_state``, or by that of
        the object that holds it.
    """

    def register(named: Named) -> Named:
        _named[name] = named
        if not trusted:
            _untrusted.add(name)
        return named

    return register


def __getattr__(name: str) -> Any:
    # Tools ask any module for private names; no class has one.
    if name.startswith("_") or not _find(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _named[name]


def _find(name: str) -> bool:
    """Say whether anything has this name, importing modules until it is met."""
    missing: ImportError | None = None
    modules = _modules()
    while name not in _named:
        module = next(modules, None)
        if module is None:
            if missing is not None:
                raise missing
            return False
        try:
            import_module(module)
        except ImportError as error:  # of a package that only some models need
            missing = error
    return True


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        path = import_module(f"aucmax.{package}").__path__
        for each in iter_modules(path):
            if each.name != "__main__":
                yield f"aucmax.{package}.{each.name}"


def is_trusted(name: str) -> bool:
    """Say whether a file may name this: it is ours, and can do no harm."""
    module, _, last = name.rpartition(".")
    if module == "aucmax":
        return last in _public()
    return module == __name__ and _find(last) and last not in _untrusted


def import_public(names: Iterable[str]) -> None:
    """Import estimators that a file names, and so most of what is inside of them."""
    for name in names:
        module, _, last = name.rpartition(".")
        if module == "aucmax" and last in _public():
            import_module(_public()[last])


def names_in_files() -> dict[str, str]:
    """Return the names that files have for our classes, by their full names today.

    Of those inside of models, only what has been imported is there.
    """
    public = {f"{home}.{name}": f"aucmax.{name}" for name, home in _public().items()}
    return public | {
        f"{each.__module__}.{each.__name__}": f"{__name__}.{name}"
        for name, each in _named.items()
    }


def _public() -> dict[str, str]:
    """Return the modules of all public estimators, by name."""
    homes: dict[str, str] = import_module("aucmax")._HOMES
    return homes


def trusted_names() -> list[str]:
    """Return all names for which `is_trusted` holds, and those they have today."""
    for module in _modules():
        with suppress(ImportError):
            import_module(module)
    names = names_in_files()
    return [each for pair in names.items() if is_trusted(pair[1]) for each in pair]
