# SPDX-License-Identifier: BSD-3-Clause
"""Formulas as MathML, written at build time: no script, so no network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

# Sizes of brackets, which docutils does not know; MathML can do without.
SIZES = re.compile(r"\\[bB]ig(?![A-Za-z])")


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(tex2mathml(SIZES.sub("", node.astext())))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    formula = tex2mathml(SIZES.sub("", node.astext()), as_block=True)
    self.body.append(f'<div class="math">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer the renderer to Sphinx."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
