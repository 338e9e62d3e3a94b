# SPDX-License-Identifier: BSD-3-Clause
"""Real data to try things on.

>>> from aucmax import datasets
>>> datasets.list_bundled()
['german', 'glass', 'satimage', 'vehicle']
"""

from aucmax.datasets.bundled import Bundle, list_bundled, load_bundled

__all__ = ["Bundle", "list_bundled", "load_bundled"]
