# SPDX-License-Identifier: BSD-3-Clause
"""Where long fits keep what they have reached, to go on from after a crash."""

import os
import re
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from numbers import Integral
from pathlib import Path
from typing import Any

from aucmax._utils.checkpoint import State
from aucmax.io.models.loading import Trusted, UntrustedModel, load
from aucmax.io.models.metadata import NewerFormat, read_metadata
from aucmax.io.models.saving import write_model

NAME = re.compile(r"checkpoint-(\d{8})\.skops")
DRAFT = re.compile(r"checkpoint-\d{8}\.skops\..*\.tmp")


class Checkpoints:
    """A folder with the last states of one fit.

    Given to ``fit_stream`` or :func:`aucmax.metrics.evaluate_stream` as ``checkpoint``.
    A process that was stopped at any moment, or a machine that lost power, starts the
    same fit with the same folder again: the fit goes on from the last state, and ends
    with the same model, bit for bit.

    Parameters
    ----------
    folder : str or path
        The folder; made if it is not there. Only for one fit at a time.
    every : int, default=1
        Keep one state out of this many: one is offered after each step of a solver, or
        each batch of a stream.
    keep : int, default=2
        States to keep; the older ones are there in case the newest is damaged.
    trusted : sequence of str or type, default=None
        Types in a state that :func:`aucmax.io.load` would ask about, such as a model of
        your own.

    Notes
    -----
    A file is written beside the others, brought to the disk and then given its name,
    so that there is never half a state; older ones are deleted only afterwards. Files
    are in the format of :func:`aucmax.io.save`, which holds no code.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import OPAUC
    >>> from aucmax.io import Checkpoints
    >>> X, y = make_classification(600, random_state=0)
    >>> batches = [(X[k : k + 100], y[k : k + 100]) for k in range(0, 600, 100)]
    >>> folder = tempfile.TemporaryDirectory()
    >>> model = OPAUC().fit_stream(batches[:4], checkpoint=Checkpoints(folder.name))
    >>> # The process ends here; another one goes on with the fifth batch.
    >>> model = OPAUC().fit_stream(batches, checkpoint=Checkpoints(folder.name))
    >>> model.n_samples_seen_
    600
    >>> folder.cleanup()
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        every: int = 1,
        keep: int = 2,
        trusted: Trusted | None = None,
    ) -> None:
        for name, number in (("every", every), ("keep", keep)):
            is_count = isinstance(number, Integral) and not isinstance(number, bool)
            if not is_count or number < 1:
                raise ValueError(
                    f"{name} must be a whole number from 1 on; got {number!r}."
                )
        self.folder = Path(folder)
        self.every = every
        self.keep = keep
        self.trusted = trusted
        self._what: dict[str, Any] = {}
        self._n_offered = 0
        if self.folder.exists() and not self.folder.is_dir():
            raise NotADirectoryError(
                f"{self.folder} is a file. Give the name of a folder for checkpoints."
            )
        self.folder.mkdir(parents=True, exist_ok=True)

    def __repr__(self) -> str:
        return f"Checkpoints({str(self.folder)!r}, every={self.every})"

    def resume(self, what: State) -> State | None:
        """Return the last state of a fit, or None if there is none.

        Parameters
        ----------
        what : dict
            By what the fit is known again: numbers, text, lists and dicts.

        Returns
        -------
        state : dict or None
            What `offer` was last given.

        Raises
        ------
        ValueError
            If the folder has the states of another fit.
        ImportError
            If a state names a module, or a part of one, that is not found here. The
            files stay as they are.

        Warns
        -----
        UserWarning
            If the newest state is damaged; the one before is taken. If all are, the fit
            begins anew.
        """
        self._what = what
        # Now, rather than after hours.
        with tempfile.TemporaryFile(dir=self.folder):
            pass
        for draft in self.folder.iterdir():
            if DRAFT.fullmatch(draft.name):
                draft.unlink(missing_ok=True)
        damaged = []
        state: State | None = None
        for file in reversed(self._files()):
            try:
                told = read_metadata(file)["metadata"]
                state = load(file, trusted=self.trusted)
            except (NewerFormat, UntrustedModel):
                raise
            except ValueError as error:
                if isinstance(error.__cause__, ImportError | AttributeError):
                    raise _not_found(file, error.__cause__) from error.__cause__
                warnings.warn(
                    f"{error} The checkpoint before it is used, if there is one.",
                    UserWarning,
                    stacklevel=5,
                )
                damaged.append(file)
                continue
            self._refuse_another(told)
            break
        # Out of the way, or they would count as some of those to keep. Not before it is
        # known that the others are of this fit.
        for file in damaged:
            file.replace(file.with_suffix(".damaged"))
        return state

    def offer(self, state: Callable[[], State]) -> None:
        """Keep what ``state()`` returns, if it is its turn.

        Parameters
        ----------
        state : callable
            Returns the state: numbers, text, arrays, models, and lists and dicts of
            them.
        """
        self._n_offered += 1
        if self._n_offered % self.every:
            return
        files = self._files()
        number = 1 + (int(NAME.fullmatch(files[-1].name)[1]) if files else 0)  # type: ignore[index]
        # Most of a state is numbers that do not get smaller.
        write_model(
            state(),
            self.folder / f"checkpoint-{number:08}.skops",
            metadata=self._what,
            compression=zipfile.ZIP_STORED,
        )
        for old in self._files()[: -self.keep]:
            old.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(
            file
            for file in self.folder.iterdir()
            if NAME.fullmatch(file.name) and file.is_file()
        )

    def _refuse_another(self, told: dict[str, Any]) -> None:
        for key, value in self._what.items():
            if told.get(key) == value:
                continue
            then, now = told.get(key), value
            if isinstance(then, dict) and isinstance(now, dict):
                changed = [k for k in {*then, *now} if then.get(k) != now.get(k)]
                key = min(changed)
                then, now = then.get(key), now.get(key)
            raise ValueError(
                f"{self.folder} has the checkpoints of another fit: its {key} was "
                f"{then}, but now it is {now}. Give another folder, or delete this one "
                "to begin anew."
            )


def _not_found(file: Path, error: BaseException) -> ImportError:
    return ImportError(
        f"{file} names code that is not found here: {error}. Make it importable, as it "
        "was when the checkpoint was written, and call again; or give another folder "
        "to begin anew."
    )
