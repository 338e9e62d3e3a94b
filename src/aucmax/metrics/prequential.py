# SPDX-License-Identifier: BSD-3-Clause
"""The AUC of a stream, in which old rows stop counting."""

import math
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax import _kernels
from aucmax._utils.state import (
    MOST,
    expect,
    expect_array,
    expect_between,
    expect_number,
    expect_type,
)
from aucmax._utils.typing import FloatArray
from aucmax.metrics._inputs import as_vector, check_scores, refuse_nonfinite
from aucmax.saved import saved_as

# Rows that have faded below this, in units of the newest, are dropped.
SMALLEST_WEIGHT = 1e-12
# Rows added at a time; room is made for that many more.
BLOCK_ROWS = 4096
FOREVER = 2**62


@saved_as("PrequentialAUC")
class PrequentialAUC:
    r"""The AUC of a stream, of its last rows or with old rows fading, at any time.

    For scores that a model gave *before* it learned from those rows, so that every row
    is a test row once. :func:`evaluate_stream` does both.

    Three ways to weigh the past: all rows count alike; only the last ``window`` rows
    count; or a row of age a (the newest has age 0) counts ``fading**a``, and the AUC is
    that of :func:`roc_auc` with these as ``sample_weight``. Ties count one half.
    Batches of any sizes give the same result, bit for bit.

    A row costs O(log n) with n rows in the window, and reading the AUC O(1). Memory is
    at most 150 bytes per row in the window.

    Parameters
    ----------
    window : int, default=None
        How many rows count; None for all.
    fading : float, default=None
        Between 0 and 1: what one more row leaves of the weight of those before it;
        0.999 for a memory of about 1000 rows. None for no fading. One of ``window`` and
        ``fading`` can be given.
    classes : pair, default=(0, 1)
        The negative and the positive label. A batch need not hold both; any other label
        is refused.

    See Also
    --------
    StreamingAUC : Of all rows, with weights and merging.

    Notes
    -----
    Scores of different times come from different models, and pairs across time compare
    them. That is harmless where scores have a meaning of their own, such as
    probabilities. Margins of a linear model whose coefficients still grow, or whose
    intercept still moves, are not, and the AUC over a long past is then lower than that
    of any single model: take a short window, leave out the intercept and divide by
    ``np.linalg.norm(model.coef_)``, or look at the AUC of each batch alone.

    Without fading, pairs are counted in whole numbers, exact up to :math:`10^8` rows in
    the window. With fading, rows that weigh less than 1e-12 of the newest are dropped,
    which leaves :math:`28 / (1 - fading)` rows at most, and :attr:`error_bound` is the
    share of the pairs so lost: at most 1e-12 times the sum of 1 / share of the class
    over both classes, in a stream whose classes come evenly. Rounding adds a few
    :math:`10^{-16} / (1 - fading)`. A class without a row for so long is missing.

    References
    ----------
    Brzezinski and Stefanowski, "Prequential AUC: properties of the area under the ROC
    curve for data streams with concept drift", 2017. The AUC is read off a sorted tree
    of the window there, in O(n).

    Examples
    --------
    >>> from aucmax.metrics import PrequentialAUC
    >>> recent = PrequentialAUC(window=4)
    >>> recent.update([0, 1, 0, 1], [0.9, 0.1, 0.2, 0.8]).auc
    0.25
    >>> recent.update([0, 1], [0.3, 0.7]).auc
    1.0
    """

    def __init__(
        self,
        *,
        window: int | None = None,
        fading: float | None = None,
        classes: tuple[Any, Any] = (0, 1),
    ) -> None:
        self.window = window
        self.fading = fading
        self.classes = tuple(classes)
        if len(self.classes) != 2 or self.classes[0] == self.classes[1]:
            raise ValueError(
                f"classes must be two different labels, got {self.classes!r}. "
                "Pass the negative label, then the positive one."
            )
        self._n_kept, self._growth = _check_past(window, fading)
        self._tree = _kernels.prequential.empty_tree()

    def update(self, y_true: ArrayLike, y_score: ArrayLike) -> Self:
        """Add a batch of rows in order; nothing is added if any of them is refused.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels out of ``classes``; a batch may hold one class only, or no row.
        y_score : array-like of shape (n_samples,)
            Finite scores; higher means more positive. Given before the model learned
            from these rows.

        Returns
        -------
        self : PrequentialAUC
            The same object, so that calls can be chained.
        """
        labels = as_vector(y_true, name="y_true")
        is_pos, is_neg = labels == self.classes[1], labels == self.classes[0]
        is_known = is_pos | is_neg
        if not is_known.all():
            label = labels[~is_known].tolist()[0]
            raise ValueError(
                f"y_true holds {label!r}, but classes={self.classes!r}. "
                "Name the two labels when the metric is made."
            )
        scores = check_scores(y_score, labels.shape[0]).astype(np.float64)
        if scores.shape[0]:
            refuse_nonfinite(scores.min(), scores.max())
        is_pos = np.array(is_pos, dtype=bool)
        for low in range(0, len(scores), BLOCK_ROWS):
            part = slice(low, low + BLOCK_ROWS)
            self._make_room(len(scores[part]))
            _kernels.prequential.add_rows(
                scores[part], is_pos[part], self._n_kept, self._growth, self._tree
            )
        return self

    @property
    def mass_pos(self) -> float:
        """Sum of the weights of the positives; their number if nothing fades."""
        return float(self._root()["subtree_mass"][1]) / self._newest()

    @property
    def mass_neg(self) -> float:
        """Sum of the weights of the negatives; their number if nothing fades."""
        return float(self._root()["subtree_mass"][0]) / self._newest()

    @property
    def auc(self) -> float:
        """Area under the ROC curve of the rows that count."""
        doubled, pos, neg = self._weigh_pairs()
        if self.fading is None:
            # Python's integers do not overflow, and their quotient is rounded once.
            return int(doubled) / (2 * int(pos) * int(neg))
        return min(1.0, 0.5 * doubled / (pos * neg))

    @property
    def error_bound(self) -> float:
        """Largest possible distance of :attr:`auc` from the AUC with all rows kept."""
        _, pos, neg = self._weigh_pairs()
        if self.fading is None:
            return 0.0
        lost_neg, lost_pos, _ = self._tree.masses.tolist()
        lost = lost_pos * (neg + lost_neg) + pos * lost_neg
        return float(lost / ((pos + lost_pos) * (neg + lost_neg)))

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_number(self, "_growth")
        past = (self._n_kept, self._growth)
        expect(past == _check_past(self.window, self.fading), self, "it forgets rows")
        expect(
            len(expect_type(self, "classes", tuple)) == 2, self, "classes are not two"
        )
        tree = expect_type(self, "_tree", _kernels.prequential.Tree)
        expect_array(tree, "masses", (3,))
        n_seen = int(expect_array(tree, "counts", (3,), np.int64)[2])
        expect(0 <= n_seen <= MOST, self, f"it has seen {n_seen} rows")
        expect_array(tree, "nodes", (None,), _kernels.prequential.NODE)
        nodes = _nodes_in_tree(tree)
        ring = expect_array(tree, "ring", (None, 2))
        if self._n_kept == FOREVER:
            expect(len(ring) == 0, self, "no row ever leaves")
            return
        n_rows = min(self._n_kept, n_seen)
        expect(n_rows <= len(ring) <= self._n_kept, self, "ring has another length")
        _check_rows(tree, ring[:n_rows], nodes)

    def _newest(self) -> float:
        """Mass of the last row."""
        return float(self._tree.masses[2]) / self._growth

    def _root(self) -> Any:
        """Node that knows all rows."""
        nodes = self._tree.nodes
        return nodes[nodes[0]["children"][0]]

    def _weigh_pairs(self) -> tuple[float, float, float]:
        """Return twice the mass of the pairs in order, and the mass of both classes."""
        root = self._root()
        neg, pos = root["subtree_mass"].tolist()
        for mass, which in ((pos, "positive"), (neg, "negative")):
            if mass == 0:
                where = "has arrived yet" if self._n_kept == FOREVER else "is recent"
                raise ValueError(
                    f"The AUC needs both classes, but no {which} row {where}. "
                    f"{_remedy(self.window, self.fading)}"
                )
        return float(root["pairs"]), pos, neg

    def _make_room(self, n_new: int) -> None:
        """Have a node for each new row, and a place for those that will leave."""
        nodes, ring, counts, masses = self._tree
        n_nodes = min(self._n_kept, int(counts[1]) - 1 + n_new) + 1
        if n_nodes > len(nodes):
            size = min(self._n_kept + 1, max(n_nodes, 2 * len(nodes)))
            nodes = np.concatenate(
                [nodes, np.zeros(size - len(nodes), dtype=_kernels.prequential.NODE)]
            )
        n_rows = min(self._n_kept, int(counts[2]) + n_new)
        if self._n_kept < FOREVER and n_rows > len(ring):
            size = min(self._n_kept, max(n_rows, 2 * len(ring)))
            ring = np.concatenate([ring, np.zeros((size - len(ring), 2))])
        self._tree = _kernels.prequential.Tree(nodes, ring, counts, masses)


def _nodes_in_tree(tree: "_kernels.prequential.Tree") -> NDArray[Any]:
    """Return the nodes; raise unless each is in its place in the tree once, or free."""
    free, unused, _ = tree.counts.tolist()
    expect(0 < unused <= len(tree.nodes), tree, "it has too few nodes")
    nodes = tree.nodes[:unused]
    children = nodes["children"]
    expect(nodes["score"][0] == np.inf and children[0, 1] == 0, tree, "no root")
    expect_between(tree, "children", children, 0, unused - 1)
    is_found = np.zeros(unused, dtype=bool)
    # Level by level. A node lies strictly between those above it, so none comes twice.
    level, parent = children[0, :1], np.zeros(1)
    low, high = np.full(1, -np.inf), np.full(1, np.inf)
    while len(level):
        is_node = level != 0
        level, parent = level[is_node], parent[is_node]
        low, high = low[is_node], high[is_node]
        score = nodes["score"][level]
        expect(((low < score) & (score < high)).all(), tree, "scores are not in order")
        expect((nodes["parent"][level] == parent).all(), tree, "a parent is another")
        is_found[level] = True
        level, parent = children[level].T.ravel(), np.tile(level, 2)
        low, high = np.append(low, score), np.append(score, high)
    in_tree = nodes[is_found]
    while free != 0:
        expect(0 < free < unused and not is_found[free], tree, "a node is not free")
        is_found[free] = True
        free = int(children[free, 0])
    expect(is_found[1:].all(), tree, "a node is lost")
    return in_tree


def _check_rows(
    tree: "_kernels.prequential.Tree", rows: FloatArray, nodes: NDArray[Any]
) -> None:
    """Raise unless the rows that will have to leave are those in the tree."""
    scores, which = np.unique(rows[:, 0], return_inverse=True)
    nodes = nodes[np.argsort(nodes["score"])]
    fits = np.array_equal(nodes["score"], scores)
    for own, mask in enumerate((rows[:, 1] <= 0.0, rows[:, 1] > 0.0)):
        counts = np.bincount(which[mask], minlength=len(scores))
        fits = fits and np.array_equal(nodes["n_rows"][:, own], counts)
    expect(fits, tree, "its rows are not those that will leave")


def _check_past(window: int | None, fading: float | None) -> tuple[int, float]:
    """Return how many rows are kept, and by how much each outweighs the one before."""
    if window is not None and fading is not None:
        raise ValueError(
            f"window={window!r} and fading={fading!r} are two ways to forget. Choose "
            "one and set the other to None."
        )
    if window is not None:
        if not isinstance(window, Integral) or not 1 <= window < FOREVER:
            raise ValueError(
                f"window must be a whole number of rows, got {window!r}. "
                "Pass for example 1000, or None to count all rows."
            )
        return int(window), 1.0
    if fading is None:
        return FOREVER, 1.0
    if not isinstance(fading, Real) or not 0.0 < fading < 1.0:
        raise ValueError(
            f"fading must be between 0 and 1, both excluded, got {fading!r}. "
            "Pass for example 0.999, or None for no fading."
        )
    if fading < SMALLEST_WEIGHT:  # one row is kept, whatever its weight
        return 1, 1.0
    return int(math.log(SMALLEST_WEIGHT) / math.log(fading)) + 1, 1.0 / float(fading)


def _remedy(window: int | None, fading: float | None) -> str:
    if window is not None:
        return f"Update with a row of that class, or widen window={window}."
    if fading is not None:
        return f"Update with a row of that class, or raise fading={fading} towards 1."
    return "Update with at least one row of each class first."
