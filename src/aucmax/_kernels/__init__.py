# SPDX-License-Identifier: BSD-3-Clause
"""Compiled loops: arrays in, arrays out; no classes, no validation.

``jit`` is the one decorator that decides how we compile.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast, overload

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def jit(*, reorder_sums: bool) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(
    function: Callable[P, R] | None = None, /, *, reorder_sums: bool = False
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile on the first call; reuse the machine code between processes.

    numba itself is imported on that first call, so importing a kernel costs nothing.
    A kernel must therefore not call another kernel.

    Parameters
    ----------
    function : callable
        Loop over arrays in the subset of Python that numba compiles.
    reorder_sums : bool, default=False
        Let the compiler regroup additions, which a vectorised dot product needs. Never
        for kernels in which the order of ties or NaN matters.
    """
    if function is None:
        return functools.partial(_lazily_compiled, reorder_sums=reorder_sums)
    return _lazily_compiled(function, reorder_sums=reorder_sums)


def _lazily_compiled(function: Callable[P, R], *, reorder_sums: bool) -> Callable[P, R]:
    compiled: Callable[P, R] | None = None

    @functools.wraps(function)
    def kernel(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal compiled
        if compiled is None:
            compiled = _compile(function, reorder_sums)
        return compiled(*args, **kwargs)

    return kernel


def _compile(function: Callable[P, R], reorder_sums: bool) -> Callable[P, R]:
    import numba  # noqa: PLC0415 - half a second that only the first fit should pay

    from aucmax._kernels.cache import enable_caching  # noqa: PLC0415 - imports numba
    from aucmax._kernels.prefetch import register  # noqa: PLC0415

    register()
    flags = {"reassoc", "contract", "nsz"} if reorder_sums else False
    compiled = numba.njit(nogil=True, fastmath=flags)(function)
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT
        enable_caching(compiled)
    return cast(Callable[P, R], compiled)
