# SPDX-License-Identifier: BSD-3-Clause
"""A run for a process that a test kills."""

import time


def run_paper(folder, n_jobs=1):
    """Write every result at once, and slowly, so that a kill hits the run at work."""
    from small_paper import load_small

    from aucmax_papers import runner, store

    def add(self, rows):
        keep(self, rows)
        time.sleep(0.02)

    keep, store.Store.add, store.FLUSH_SECONDS = store.Store.add, add, -1.0
    runner.load_paper = load_small
    runner.run("small", results=folder, n_jobs=n_jobs)
