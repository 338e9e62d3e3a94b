# SPDX-License-Identifier: BSD-3-Clause
"""What a call takes in memory: the peak of the resident set while it runs.

Linux keeps that peak itself, and forgets it on request. Where it may not be asked to, a
thread reads the resident set while the call runs.
"""

import contextlib
import ctypes
import gc
import os
import threading
import time
from pathlib import Path

CAN_READ = Path("/proc/self/statm").exists()
WHY_NOT = "There is no /proc/self/statm: memory is not measured."
MEGABYTE = 2**20
# For processes whose memory is measured.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# M_MMAP_THRESHOLD of glibc's malloc.h, and its value at the start of a process.
MMAP_THRESHOLD, MMAP_BYTES = -3, 128 * 1024


def peak_beyond(run):
    """Return the peak of the resident set during a call, less what was there before."""
    give_back()
    before = resident_bytes()
    if not forget_peak():
        return watched_peak(run) - before
    run()
    return peak_bytes() - before


def give_back():
    """Return free memory to the system, or a call would take it up again unseen.

    From now on arrays are returned as soon as they are freed: by itself, glibc keeps
    freed ones of ever more megabytes for later.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, MMAP_BYTES)
        ctypes.CDLL(None).malloc_trim(0)


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def forget_peak():
    """Set the peak that the system keeps to what is resident now; say if it did."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
        return True
    return False


def peak_bytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])


def watched_peak(run):
    peak, done = resident_bytes(), threading.Event()

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
    return peak
