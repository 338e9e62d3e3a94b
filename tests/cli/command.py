# SPDX-License-Identifier: BSD-3-Clause
"""The command in a process of its own, without data but what ships with aucmax.

Or in this one, where that makes no difference: what it imports takes two seconds.
"""

import contextlib
import os
import subprocess
import sys

from click.testing import CliRunner

from aucmax.cli._main import main

# Nothing listens there, so that a download fails at once.
NOWHERE = "http://127.0.0.1:9"
VARIABLES = ("AUCMAX_DATA", "AUCMAX_CACHE", "AUCMAX_RESULTS", "NO_PROXY", "no_proxy")


def environment(folder, **more):
    kept = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    return kept | {
        "AUCMAX_CACHE": str(folder / "cache"),
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "http_proxy": NOWHERE,
        "https_proxy": NOWHERE,
        **more,
    }


def start(*args, folder, stdin=None, stderr=subprocess.PIPE, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "aucmax.cli", *map(str, args)],
        cwd=folder,
        env=environment(folder, **more),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )


def call(*args, folder, code=0, given=None, **more):
    """Return what the command wrote to standard output and to standard error."""
    stdin = None if given is None else subprocess.PIPE
    process = start(*args, folder=folder, stdin=stdin, **more)
    out, err = process.communicate(given, timeout=300)
    assert process.returncode == code, err
    assert "Traceback" not in err
    return out, err


def invoke_here(*args, given=None):
    """Run the command in this process; return what click's runner saw."""
    result = CliRunner().invoke(main, list(map(str, args)), input=given)
    # Anything else would be a traceback in a process of its own.
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def call_here(*args, folder, code=0, given=None):
    """Do what ``call`` does, in this process."""
    with contextlib.chdir(folder):
        result = invoke_here(*args, given=given)
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr
