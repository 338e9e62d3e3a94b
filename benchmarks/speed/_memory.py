# SPDX-License-Identifier: BSD-3-Clause
"""What a call takes in memory: a thread reads the resident set while it runs."""

import os
import threading
import time
from pathlib import Path

CAN_READ = Path("/proc/self/statm").exists()


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_beyond(run):
    """Return the peak of the resident set during a call, less what was there before."""
    before = peak = resident_bytes()
    done = threading.Event()

    def watch():
        nonlocal peak
        while not done.is_set():
            peak = max(peak, resident_bytes())
            time.sleep(0.0005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        run()
    finally:
        done.set()
        watcher.join()
    return peak - before
