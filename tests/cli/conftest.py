# SPDX-License-Identifier: BSD-3-Clause
import shutil
import sys
from types import SimpleNamespace

import pytest
from cli.command import call, invoke_here
from cli.loans import make_loans


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with tables and a model that the command made, and what it said."""
    folder = tmp_path_factory.mktemp("loans")
    make_loans().to_csv(folder / "loans.csv", index=False)
    make_loans(120, seed=1).to_csv(folder / "new.csv", index=False)
    choice = ("--target", "late", "--drop", "id", "--model", "opauc")
    out, err = call("fit", "loans.csv", *choice, folder=folder)
    return SimpleNamespace(folder=folder, out=out, err=err)


@pytest.fixture
def folder(made, tmp_path):
    """A copy of that folder, to change things in."""
    shutil.copytree(made.folder, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def invoke(folder, monkeypatch):
    """Run a command in this process, in the copied folder."""
    monkeypatch.chdir(folder)

    def invoke(*args, code=0, given=None):
        result = invoke_here(*args, given=given)
        assert result.exit_code == code, result.output
        return result

    yield invoke
    # Elsewhere a command ends with its process.
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
