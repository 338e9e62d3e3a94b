# SPDX-License-Identifier: BSD-3-Clause
"""The types that a model file may name without being asked about.

skops knows those of scikit-learn, numpy and scipy that it holds to be safe. The rest is
listed here one by one, never by prefix: a file may have what it names called with
arguments of its choice, so a name stands here only if any call of it is harmless.
"""

OURS = (
    "aucmax._kernels.averaged_weights.State",
    "aucmax._kernels.low_rank.State",
    "aucmax._kernels.oam.Rule",
    "aucmax._kernels.oam.State",
    "aucmax._kernels.oilk.Settings",
    "aucmax._kernels.oilk.Support",
    "aucmax._kernels.online_pca.PCAState",
    "aucmax._kernels.online_univariate.Rates",
    "aucmax._kernels.opauc.AdaptiveRule",
    "aucmax._kernels.opauc.GradientRule",
    "aucmax._kernels.opauc.Iterate",
    "aucmax._kernels.opauc.Moments",
    "aucmax._kernels.pairs.Rates",
    "aucmax._kernels.pairs.State",
    "aucmax._kernels.prequential.Tree",
    "aucmax._kernels.rows.SparseRows",
    "aucmax._kernels.solam.Rates",
    "aucmax.auto.calibration.Calibration",
    "aucmax.auto.classifier.AUCClassifier",
    "aucmax.auto.ensemble.Ensemble",
    "aucmax.auto.ensemble.Part",
    "aucmax.auto.families.BoostingGroup",
    "aucmax.auto.families.ForestGroup",
    "aucmax.auto.families.KernelGroup",
    "aucmax.auto.families.LinearGroup",
    "aucmax.auto.leaderboard.Entry",
    "aucmax.auto.leaderboard.Leaderboard",
    "aucmax.auto.scales.Scale",
    "aucmax.cli._boosted.LightGBM",
    "aucmax.cli._neighbors.Neighbors",
    "aucmax.estimators.ada_oam.AdaOAM",
    "aucmax.estimators.kernel_rank_svm.KernelRankSVM",
    "aucmax.estimators.knnoam.KNNOAM",
    "aucmax.estimators.least_squares_auc.LeastSquaresAUC",
    "aucmax.estimators.nbauc.NBAUC",
    "aucmax.estimators.nsauc.NSAUC",
    "aucmax.estimators.oam.OAM",
    "aucmax.estimators.oilk.OILK",
    "aucmax.estimators.online_univariate.OnlineUnivariate",
    "aucmax.estimators.opauc.OPAUC",
    "aucmax.estimators.rank_svm.RankSVM",
    "aucmax.estimators.rank_svm_cv.RankSVMCV",
    "aucmax.estimators.rfauc.RFAUC",
    "aucmax.estimators.solam.SOLAM",
    "aucmax.estimators.sparse_kernel_auc.SparseKernelAUC",
    "aucmax.estimators.spdam.SPDAM",
    "aucmax.estimators.univariate_auc.UnivariateAUC",
    "aucmax.features.fourier.FourierFeatures",
    "aucmax.features.kernels.Kernel",
    "aucmax.features.nystroem.Nystroem",
    "aucmax.features.online_pca.DirectionStream",
    "aucmax.features.online_pca.OnlinePCA",
    "aucmax.auto.lightgbm_text.LightGBMText",
    "aucmax.metrics.delong.AUCInterval",
    "aucmax.metrics.prequential.PrequentialAUC",
    "aucmax.neighbors.brute.DenseBruteIndex",
    "aucmax.neighbors.brute.SparseBruteIndex",
    "aucmax.neighbors.embedded.EmbeddedIndex",
    "aucmax.neighbors.learner.NeighborLearner",
    "aucmax.neighbors.rows.DenseRows",
    "aucmax.neighbors.rows.SparseRows",
    "aucmax.neighbors.trees.TreeIndex",
    "aucmax.preparation.features.clip_far",
    "aucmax.preparation.features.clip_huge",
    "aucmax.preparation.features.raise_to_one",
    "aucmax.preparation.features.raise_to_zero",
    "aucmax.preparation.preparation.Preparation",
    "aucmax.preparation.table.Columns",
    "aucmax.solvers.base.Step",
    "aucmax.solvers.greedy_basis.Stage",
    "aucmax.solvers.online.base.LinearModel",
    "aucmax.solvers.online.ada_oam.AdaptiveLearner",
    "aucmax.solvers.online.exact.ExactLearner",
    "aucmax.solvers.online.low_rank.LowRankExact",
    "aucmax.solvers.online.low_rank.LowRankGradient",
    "aucmax.solvers.online.oam.OAMLearner",
    "aucmax.solvers.online.oilk.KernelModel",
    "aucmax.solvers.online.oilk.OILKLearner",
    "aucmax.solvers.online.opauc.GradientLearner",
    "aucmax.solvers.online.reduced.Reduced",
    "aucmax.solvers.online.solam.SaddlePointLearner",
    "aucmax.solvers.online.univariate.UnivariateLearner",
    "aucmax.solvers.pair_sgd.PairSGD",
    "aucmax.solvers.pair_sgd.Stage",
    "aucmax.streams.online.OnlineStream",
    "aucmax.streams.pairs.PairStream",
    "aucmax.summaries.low_rank.LowRankMoments",
    "aucmax.summaries.row_sample.RowSample",
    "aucmax.summaries.row_sample.Slots",
    "aucmax.summaries.streamed_moments.StreamedMoments",
)
# Not ours, and in our models or around them: what only holds values.
OTHERS = (
    "functools.partial",
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.utils._bunch.Bunch",
    "sklearn.utils.validation.check_array",
)
# Trees, whose nodes `check_parts` looks at before they are followed.
TREES = (
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
)
TRUSTED = OURS + OTHERS + TREES

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


def is_reviewed(name: str) -> bool:
    """Say whether a type may be in a file if skops trusts it too."""
    return not name.startswith("sklearn.") or name in REVIEWED


# Why a type of ours is not among them.
REASONS = {
    "aucmax.neighbors.approximate.ApproximateIndex": (
        "it holds a graph that usearch reads without checking it"
    ),
    "lightgbm.basic.Booster": (
        "LightGBM reads its trees without checking them; an AUCClassifier can be saved "
        "with them all the same"
    ),
}
