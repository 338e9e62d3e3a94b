# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn estimators: validation, labels, fitted attributes; no formula."""
