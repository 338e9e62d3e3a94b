# SPDX-License-Identifier: BSD-3-Clause
"""What may come of a case: a result, a refusal that helps, and nothing else."""

import linecache
import re
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import numpy as np
from sklearn.exceptions import FitFailedWarning

REFUSALS = (ValueError, TypeError)
# Whose messages are for users. An error from anywhere else was not foreseen.
SPEAKERS = re.compile(r"[/\\](aucmax|sklearn|narwhals)[/\\]")
OURS = re.compile(r"[/\\]aucmax[/\\]")
LEAST_TEXT = 15
# The second is of a candidate that `AUCClassifier` leaves out.
ADVICE = (UserWarning, FitFailedWarning)


class Wrong(Exception):
    """Something that must not happen; the first argument is its cause in few words."""


@dataclass
class Outcome:
    """What came of a case: kind is "result", "refused" or "wrong"."""

    kind: str
    warned: bool = False
    cause: str = ""
    detail: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0

    def as_dict(self):
        return asdict(self)


def judge(case, rng, folder):
    """Run a case and say what came of it."""
    caught = []

    def note(message, category, filename, lineno, file=None, line=None):
        frames = [f for f in traceback.extract_stack() if OURS.search(f.filename)]
        last = frames[-1] if frames else None
        place = f"{last.filename}:{last.lineno}" if last else f"{filename}:{lineno}"
        caught.append((category, f"at {short_path(place)}: {message}"))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        outcome = _run(case, rng, folder)
    outcome.warned = bool(caught)
    # Anything but advice slipped through from a library.
    other = [each for each in caught if not issubclass(each[0], ADVICE)]
    if outcome.kind != "wrong" and other:
        category, text = other[0]
        return Outcome("wrong", True, shorten(f"{category.__name__} {text}"))
    return outcome


def _run(case, rng, folder):
    try:
        case(rng, folder)
    except Wrong as error:
        return Outcome("wrong", cause=shorten(str(error)), detail=_trace(error))
    except Exception as error:
        reason = why_unforeseen(error)
        if reason is None:
            return Outcome("refused", detail=shorten(str(error)))
        cause = f"{reason}: {type(error).__name__} at {our_place(error)}: {error}"
        return Outcome("wrong", cause=shorten(cause), detail=_trace(error))
    return Outcome("result")


def why_unforeseen(error):
    """Return why an error is none that was meant for the user, or None."""
    if not isinstance(error, REFUSALS) or isinstance(error, np.linalg.LinAlgError):
        return "wrong type of error"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno).strip()
    if not SPEAKERS.search(frame.filename) or not line.startswith("raise"):
        return "error of no one"
    if len(str(error)) < LEAST_TEXT:
        return "error without a text"
    return None


@contextmanager
def naming(*paths):
    """Turn an error that names none of these files into a wrong outcome."""
    try:
        yield
    except REFUSALS as error:
        if not any(str(path) in str(error) for path in paths):
            where = our_place(error)
            raise Wrong(
                f"no file is named: {type(error).__name__} at {where}: {error}"
            ) from error
        raise


def our_place(error):
    """Return where the package was last at work before the error."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if OURS.search(frame.filename)]
    last = (ours or frames)[-1]
    return f"{short_path(last.filename)}:{last.lineno}"


def short_path(path):
    return re.sub(r".*[/\\](site-packages|src|tests)[/\\]", "", path)


def shorten(text, limit=300):
    # Messages may quote bytes of a damaged file.
    text = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    return text if len(text) <= limit else text[:limit] + " ..."


def signature(cause):
    """Return a cause without what differs from case to case."""
    cause = re.sub(r"\S*[/\\]fuzz[-/]\S*", "FILE", cause)
    # Bytes of a damaged file, and names that it was damaged in.
    cause = re.sub(r"(Unknown error: Wrapping|keyword argument|codec).*", r"\1", cause)
    cause = re.sub(r"'(NoneType|int|str|float)'", "'T'", cause)
    return re.sub(r"(?<![:\w])[-+]?\d[\d.e+-]*", "N", cause)[:160]


def _trace(error):
    return "".join(traceback.format_exception(error))[-6000:]
