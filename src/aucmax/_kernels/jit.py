# SPDX-License-Identifier: BSD-3-Clause
"""How kernels are compiled."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast, overload

import numba

from aucmax._kernels.cache import enable_caching

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def jit(
    *, reorder_sums: bool = False, inline: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(
    function: Callable[P, R] | None = None,
    /,
    *,
    reorder_sums: bool = False,
    inline: bool = False,
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function on its first call; reuse the machine code between processes.

    Parameters
    ----------
    function : callable
        Loop over arrays in the subset of Python that numba compiles.
    reorder_sums : bool, default=False
        Let the compiler regroup additions, which a vectorised dot product needs. Never
        for kernels in which the order of ties or NaN matters.
    inline : bool, default=False
        Make the function part of every kernel that calls it, for helpers called once
        per row: LLVM calls larger ones, and counts references to their arrays, which
        takes 60 ns.
    """
    flags = {"reassoc", "contract", "nsz"} if reorder_sums else False

    def compile_lazily(function: Callable[P, R]) -> Callable[P, R]:
        compiled = numba.njit(
            nogil=True,
            fastmath=flags,
            inline="always" if inline else "never",
            # A quotient by zero is infinite, not an exception.
            error_model="numpy",
        )(function)
        if compiled is not function:  # as it is with NUMBA_DISABLE_JIT
            enable_caching(compiled)
        return cast(Callable[P, R], compiled)

    return compile_lazily if function is None else compile_lazily(function)
