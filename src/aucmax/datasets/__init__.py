# SPDX-License-Identifier: BSD-3-Clause
"""Real data to try things on, and made-up streams.

Four small sets ship with the package; those of the papers are found in a folder, or
downloaded from their public homes. What is known of a set needs neither.

>>> from aucmax import datasets
>>> datasets.list_bundled()
['german', 'glass', 'satimage', 'vehicle']
>>> covtype = datasets.info("covtype")
>>> covtype.n_features, covtype.parts["all"].n_rows, covtype.licence
(54, 581012, 'CC BY 4.0')
"""

from aucmax.datasets.bundled import Bundle, list_bundled, load_bundled
from aucmax.datasets.errors import DatasetDamaged, DatasetUnavailable
from aucmax.datasets.loading import Dataset, load
from aucmax.datasets.parts import Part
from aucmax.datasets.registry import DatasetInfo, info, list_datasets
from aucmax.datasets.store import fetch
from aucmax.datasets.streams import drifting_stream, make_imbalanced
from aucmax.io import read_csv, read_libsvm

__all__ = [
    "Bundle",
    "Dataset",
    "DatasetDamaged",
    "DatasetInfo",
    "DatasetUnavailable",
    "Part",
    "drifting_stream",
    "fetch",
    "info",
    "list_bundled",
    "list_datasets",
    "load",
    "load_bundled",
    "make_imbalanced",
    "read_csv",
    "read_libsvm",
]
