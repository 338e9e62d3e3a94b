# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a table as features, for any model behind it in a pipeline."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in

from aucmax._utils.state import expect_type, is_fitted
from aucmax._utils.typing import Matrix
from aucmax._utils.validation import (
    COUNT,
    check_is_fitted,
    ignoring_overflow,
    restore_attributes_on_error,
    validated,
)
from aucmax.preparation.features import make_features
from aucmax.preparation.table import Columns, learn_columns, read_rows
from aucmax.saved import saved_as


@saved_as("Preparation")
class Preparation(TransformerMixin, BaseEstimator):
    """Columns of a table as numbers that models learn from.

    Numbers are completed by their median, with a column of zeros and ones that says
    where, and standardised. Dates are days since 1970. A column of words such as yes
    and no is one of zeros and ones, and numbers with a decimal comma are numbers.
    Other text becomes one column per value; values that came once share one.

    Parameters
    ----------
    scale : bool, default=True
        Whether numbers are completed and standardised. False is for trees, which split
        anywhere and take missing values.
    max_categories : int, default=100
        Features that a column of text becomes at most, one of them for all rarer
        values; missing ones have one more.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    Notes
    -----
    X may be a pandas or polars data frame, an array, or a sparse matrix, whose columns
    are divided by their largest value. All is learned in ``fit``: of a stream, from a
    sample of its rows. A text that was not seen there counts as missing. Columns of a
    frame that were not in ``fit`` are left out.

    Numbers such as 1,234 in all rows may be thousands, and remain text.

    Examples
    --------
    >>> import pandas
    >>> from aucmax.preparation import Preparation
    >>> frame = pandas.DataFrame(
    ...     {"town": ["Graz", "Linz"] * 2, "owns": ["yes", "no", None, "no"]}
    ... )
    >>> prepare = Preparation().fit(frame)
    >>> prepare.get_feature_names_out().tolist()
    ['owns', 'missingindicator_owns', 'town_Graz', 'town_Linz']
    >>> prepare.transform(frame)
    array([[1., 0., 1., 0.],
           [0., 0., 0., 1.],
           [0., 1., 1., 0.],
           [0., 0., 0., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "scale": ["boolean"],
        "max_categories": [COUNT],
    }

    def __init__(self, scale: bool = True, *, max_categories: int = 100) -> None:
        self.scale = scale
        self.max_categories = max_categories

    def fit(self, X: Any, y: ArrayLike | None = None) -> "Preparation":
        """Learn kinds, medians, scales and categories.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : None
            Not used.

        Returns
        -------
        self : Preparation
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    @validated
    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Matrix:
        """Learn from the rows and return their features; see ``fit``."""
        with restore_attributes_on_error(self), ignoring_overflow():
            self.columns_, rows = learn_columns(self, X, self.max_categories)
            is_categorical = self.columns_.is_categorical(rows.shape[1])
            scale = "standard" if self.scale else "none"
            self.features_ = make_features(rows, is_categorical, scale=scale)
            features: Matrix = self.features_.fit_transform(rows)
        return features

    def transform(self, X: Any) -> Matrix:
        """Return the features of rows.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the columns of ``fit``.

        Returns
        -------
        features : ndarray or CSR matrix of shape (n_samples, n_features_out)
            CSR if most features of the rows in ``fit`` are zero.
        """
        check_is_fitted(self)
        features: Matrix = self.features_.transform(read_rows(self, self.columns_, X))
        return features

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns; None: those of ``fit``, or x0, x1 and so on.

        Returns
        -------
        names : ndarray of str
            A category's is that of its column and the text.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        texts = {
            f"{names[number]}_{float(code)}": f"{names[number]}_{text}"
            for number in self.columns_.encoders
            for code, text in enumerate(self.columns_.categories(number))
        }
        found = self.features_.get_feature_names_out(names)
        return np.array([texts.get(name, name) for name in found], dtype=object)

    def check_state(self) -> None:
        """Raise ValueError unless a loaded object is whole."""
        if is_fitted(self):
            expect_type(self, "columns_", Columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags
