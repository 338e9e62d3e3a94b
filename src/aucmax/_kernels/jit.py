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
    *, reorder_sums: bool = False, inline: bool = False, check_division: bool = True
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(
    function: Callable[P, R] | None = None,
    /,
    *,
    reorder_sums: bool = False,
    inline: bool = False,
    check_division: bool = True,
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
        Make the function part of each kernel that calls it. For helpers called once per
        row: LLVM does so with small ones only, and a call that takes arrays costs about
        20 ns.
    check_division : bool, default=True
        Raise ZeroDivisionError where numpy would return an infinity or NaN. The checks
        keep the compiler from leaving out counts of references, which takes 30 of the
        80 ns of a sparse row in SOLAM.
    """
    flags = {"reassoc", "contract", "nsz"} if reorder_sums else False

    def compile_lazily(function: Callable[P, R]) -> Callable[P, R]:
        compiled = numba.njit(
            nogil=True,
            fastmath=flags,
            inline="always" if inline else "never",
            error_model="python" if check_division else "numpy",
        )(function)
        if compiled is not function:  # as it is with NUMBA_DISABLE_JIT
            enable_caching(compiled)
        return cast(Callable[P, R], compiled)

    return compile_lazily if function is None else compile_lazily(function)
