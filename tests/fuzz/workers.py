# SPDX-License-Identifier: BSD-3-Clause
"""Processes that run cases, and are watched: one that dies tells of the case it had."""

import faulthandler
import multiprocessing
import os
import random
import resource
import shutil
import signal
import tempfile
import time
from multiprocessing import forkserver
from pathlib import Path

from fuzz.judging import Outcome, judge

CPU_SECONDS = 20
# A deadlock takes no CPU time. Much, as other processes may take the cores.
WALL_SECONDS = 300
# Above what the process has when a case begins: resident, and addresses. Rows that are
# drawn have up to 100,000 columns; kernel methods keep several dense copies of some.
MOST_MEGABYTES = 1000
MOST_MEGABYTES_OF_FITS = 4000
FITS = ("fit", "partial_fit", "fit_stream", "classifier")
ADDRESS_BYTES = 6 * 2**30
IMPORTED = ["fuzz.targets", "aucmax.io.models", "skops.io", "lightgbm", "numba"]


# For the server: workers have a core each, and memory that is freed or fresh holds no
# zeros, so that reading it shows.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "MALLOC_PERTURB_": "165",
}


def start_server(kernels=None):
    """Let a process import everything once, from which workers are forked.

    With a folder for them, kernels are compiled anew so that they check all bounds.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT)
    if kernels is not None:
        os.environ.update(NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(kernels))
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return context


class Worker:
    """A process that runs one case at a time."""

    def __init__(self, context):
        self._context = context
        self._start()

    def restart(self):
        self.stop()
        self._start()

    def _start(self):
        self.conn, theirs = self._context.Pipe()
        # With what cases leave behind if they crash.
        self._root = tempfile.TemporaryDirectory(prefix="fuzz-")
        self._notes = Path(self._root.name, "notes")
        self._process = self._context.Process(
            target=_serve, args=(theirs, self._root.name, self._notes), daemon=True
        )
        self._process.start()
        theirs.close()
        self.case = None

    def send(self, target, seed, keep=None):
        self.case, self.since = (target, seed), time.monotonic()
        self.conn.send((target, seed, keep))

    def receive(self):
        """Return what came of the case; wait for it."""
        left = max(WALL_SECONDS - (time.monotonic() - self.since), 0)
        try:
            if self.conn.poll(left):
                return Outcome(**self.conn.recv())
            cause = f"hang: no answer in {WALL_SECONDS} s"
        except (EOFError, ConnectionError):
            self._process.join(10)
            code = self._process.exitcode
            cause = _name_end(code)
        notes = self._notes.read_text(errors="replace") if self._notes.exists() else ""
        self.restart()
        return Outcome("wrong", cause=cause + _last_place(notes), detail=notes[-6000:])

    def run(self, target, seed, keep=None):
        self.send(target, seed, keep)
        return self.receive()

    def stop(self):
        self._process.kill()
        self._process.join()
        self.conn.close()
        self._root.cleanup()


def _name_end(code):
    if code == -signal.SIGPROF:
        return f"hang: more than {CPU_SECONDS} s of CPU time"
    if code is not None and code < 0:
        return f"crash: {signal.Signals(-code).name}"
    return f"crash: exit code {code}"


def _last_place(notes):
    """Return where Python was when the process died, if it could say so."""
    frames = [line.strip() for line in notes.splitlines() if "  File " in line]
    ours = [line for line in frames if "aucmax" in line or "/fuzz/" in line]
    lines = [*frames[:1], *ours[:1]]
    short = [line.split("/")[-2:] for line in lines]
    return " at " + ", ".join("/".join(part) for part in short) if lines else ""


def _serve(conn, root, notes):
    tempfile.tempdir = root
    file = open(notes, "w", buffering=1)  # noqa: SIM115
    os.dup2(file.fileno(), 1)
    os.dup2(file.fileno(), 2)
    faulthandler.enable(file)
    faulthandler.register(signal.SIGPROF, file, chain=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            case = conn.recv()
        except EOFError:
            return
        # Of this case only.
        file.seek(0)
        file.truncate()
        conn.send(run_case(*case).as_dict())


def run_case(target, seed, keep=None):
    """Run one case in this process, within its limits; keep its files in a folder."""
    from fuzz.targets import TARGETS

    folder = Path(tempfile.mkdtemp(prefix="fuzz-")) if keep is None else keep
    _reset_peak()
    before = _status("VmRSS")
    limit = _status("VmSize") * 2**20 + ADDRESS_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (int(limit), resource.RLIM_INFINITY))
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        outcome = judge(TARGETS[target], random.Random(f"{target} {seed}"), folder)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    outcome.seconds = time.process_time() - start
    outcome.megabytes = max(_status("VmHWM") - before, 0.0)
    most = MOST_MEGABYTES_OF_FITS if target in FITS else MOST_MEGABYTES
    if outcome.megabytes > most and outcome.kind != "wrong":
        cause = f"memory: {outcome.megabytes:.0f} MB more than before, then "
        return Outcome("wrong", cause=cause + f"{outcome.kind} {outcome.detail}")
    return outcome


def _reset_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _status(field):
    """Return a size of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(field)
