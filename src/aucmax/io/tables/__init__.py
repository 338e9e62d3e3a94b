# SPDX-License-Identifier: BSD-3-Clause
"""From files to rows: what the user named, its columns, and their values."""
