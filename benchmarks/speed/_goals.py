# SPDX-License-Identifier: BSD-3-Clause
"""The goals of the library's speed; bars in the scripts refer to them by number."""

GOALS = {
    1: "Dense linear fit to 1e-3 of the optimum: products and share of the limit",
    2: "Sparse linear fit to 1e-3 of the optimum: products and share of the limit",
    3: "Linear fit: half the time of LogisticRegression(newton-cholesky), no less AUC",
    4: "Products with X: near two reads of it; value and gradient one argsort more",
    5: "Nystroem features in float32: near the rate of GEMM, ahead of scikit-learn",
    6: "Kernel fit on ijcnn1: within the time of Nystroem(400) + LogisticRegression",
    7: "Preconditioned solver: at most 0.3 of the products of plain Newton-CG",
    8: "A step on pairs: near reading its two rows",
    9: "OPAUC: near one product of a matrix with a vector; far ahead of River",
    10: "AUC 20 times as fast as scikit-learn, weighted 8 times, DeLong 14 times",
    11: "Cold start: 5 s with an empty compile cache, 0.6 s with a warm one",
    12: "AUC of the kernel model: no less than LightGBM's where kernels fit the data",
}
