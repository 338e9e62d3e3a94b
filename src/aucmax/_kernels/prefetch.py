# SPDX-License-Identifier: BSD-3-Clause
"""Telling the processor which memory will be written next.

It guesses by itself where loops go along arrays, not where they deal values out to
thousands of places. numba has no such instruction; ``register`` teaches it ours, when
the first kernel is compiled. Machine code saved by kernels does not notice when this
file changes: remove it then (``make clean``).
"""

from functools import cache
from typing import Any

from numpy.typing import NDArray

NAME = "llvm.prefetch.p0"


def prefetch(array: NDArray[Any], index: Any) -> None:
    """Fetch the line of memory of an entry, to be written soon, into the cache.

    A hint: nothing is read or changed, and the index may be out of bounds. Outside of
    compiled code it does nothing.
    """


@cache
def register() -> None:
    """Let kernels call ``prefetch``."""
    from llvmlite import ir  # noqa: PLC0415 - as numba itself
    from numba.core import types  # noqa: PLC0415
    from numba.extending import intrinsic, overload  # noqa: PLC0415

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        entries = context.make_array(signature.args[0])(context, builder, args[0])
        anywhere, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [anywhere, number, number, number])
        instruction = builder.module.globals.get(NAME)
        if instruction is None:
            instruction = ir.Function(builder.module, kind, NAME)
        place = builder.bitcast(builder.gep(entries.data, [args[1]]), anywhere)
        # For writing, into the cache nearest to the processor, and data, not code.
        builder.call(instruction, [place, number(1), number(3), number(1)])
        return context.get_dummy_value()

    def type_fetch(typing_context: Any, array: Any, index: Any) -> Any:
        return types.void(array, index), generate

    fetch: Any = intrinsic(type_fetch)

    @overload(prefetch)
    def type_prefetch(array: Any, index: Any) -> Any:
        def compiled_prefetch(array: Any, index: Any) -> Any:
            fetch(array, index)

        return compiled_prefetch
