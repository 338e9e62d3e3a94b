# SPDX-License-Identifier: BSD-3-Clause
"""The types that a model file may name, and the ways in which it may make them.

Ours have a name in files (see `aucmax.saved`). skops knows those of scikit-learn, numpy
and scipy that it holds to be safe. The rest is listed here one by one, never by prefix:
a file may have what it names called with arguments of its choice, so a name stands here
only if any call of it is harmless.
"""

from collections.abc import Callable

from aucmax import saved

# Not ours, and in our models or around them: what only holds values; and trees, whose
# nodes `check_parts` looks at before they are followed.
OTHERS = frozenset(
    {
        "functools.partial",
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
        "sklearn.utils.validation.check_array",
    }
)
# Of scikit-learn, what works with numpy alone, or holds nothing that `check_parts` does
# not check. The compiled code of others follows what they hold without looking.
REVIEWED = frozenset(
    f"sklearn.{name}"
    for name in (
        "_loss._loss.CyHalfBinomialLoss",
        "_loss.link.Interval",
        "_loss.link.LogitLink",
        "_loss.loss.HalfBinomialLoss",
        "calibration.CalibratedClassifierCV",
        "compose._column_transformer.ColumnTransformer",
        "decomposition._pca.PCA",
        "decomposition._truncated_svd.TruncatedSVD",
        "dummy.DummyClassifier",
        "ensemble._forest.ExtraTreesClassifier",
        "ensemble._forest.RandomForestClassifier",
        "ensemble._hist_gradient_boosting.binning._BinMapper",
        "ensemble._hist_gradient_boosting.gradient_boosting."
        "HistGradientBoostingClassifier",
        "ensemble._voting.VotingClassifier",
        "feature_extraction.text.CountVectorizer",
        "feature_extraction.text.TfidfTransformer",
        "feature_extraction.text.TfidfVectorizer",
        "feature_selection._univariate_selection.SelectKBest",
        "feature_selection._variance_threshold.VarianceThreshold",
        "impute._base.MissingIndicator",
        "impute._base.SimpleImputer",
        "isotonic.IsotonicRegression",
        "linear_model._logistic.LogisticRegression",
        "linear_model._ridge.RidgeClassifier",
        "model_selection._search.GridSearchCV",
        "model_selection._search.RandomizedSearchCV",
        "multiclass.OneVsRestClassifier",
        "pipeline.Pipeline",
        "preprocessing._data.MaxAbsScaler",
        "preprocessing._data.MinMaxScaler",
        "preprocessing._data.Normalizer",
        "preprocessing._data.PowerTransformer",
        "preprocessing._data.QuantileTransformer",
        "preprocessing._data.RobustScaler",
        "preprocessing._data.StandardScaler",
        "preprocessing._encoders.OneHotEncoder",
        "preprocessing._encoders.OrdinalEncoder",
        "preprocessing._function_transformer.FunctionTransformer",
        "preprocessing._label.LabelBinarizer",
        "preprocessing._label.LabelEncoder",
        "svm._classes.LinearSVC",
        "svm._classes.SVC",
        "tree._classes.DecisionTreeClassifier",
        "tree._classes.ExtraTreeClassifier",
    )
)

# Why a type of ours is not trusted, or one that our models hold.
REASONS = {
    "aucmax.saved.ApproximateIndex": (
        "it holds a graph that usearch reads without checking it"
    ),
    "lightgbm.basic.Booster": (
        "LightGBM reads its trees without checking them; an AUCClassifier can be saved "
        "with them all the same"
    ),
}


def is_trusted(name: str) -> bool:
    """Say whether a type may be in a file though skops does not trust it."""
    return name in OTHERS or saved.is_trusted(name)


def is_reviewed(name: str) -> bool:
    """Say whether a type may be in a file if skops trusts it too."""
    return not name.startswith("sklearn.") or name in REVIEWED


def trusted_types() -> list[str]:
    """Return the types that `load` lets through besides those that skops trusts.

    For tools that call skops themselves, such as MLflow. They check names and nothing
    else that `load` checks, so give them only files whose maker you know.

    Returns
    -------
    names : list of str
        As the parameter ``trusted`` of ``skops.io.load`` takes them.

    Examples
    --------
    >>> from aucmax import RankSVM
    >>> from aucmax.io import trusted_types
    >>> import skops.io
    >>> data = skops.io.dumps(RankSVM(alpha=0.1))
    >>> skops.io.loads(data, trusted=trusted_types())
    RankSVM(alpha=0.1)
    """
    return saved.trusted_names() + sorted(OTHERS)


# A file says for each object by which of skops' ways it is made. Some call what they
# are told to, or set the state of an object of C as it is in the file; with a type that
# they are not meant for, memory is written at places of the file's choice.
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
