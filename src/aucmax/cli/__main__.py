# SPDX-License-Identifier: BSD-3-Clause
"""``python -m aucmax.cli``, for where scripts are not on the path."""

from aucmax.cli import main

main()
