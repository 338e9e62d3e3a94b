# SPDX-License-Identifier: BSD-3-Clause
import math
import sys

import pytest

from aucmax._utils.optional import import_optional


def test_what_is_there_is_returned():
    assert import_optional("math", "plot") is math


def test_what_is_missing_can_be_installed():
    with pytest.raises(ImportError, match=r'pip install "aucmax\[plot\]"') as caught:
        import_optional("no_such_package.inside", "plot")
    assert caught.value.name == "no_such_package"


def test_what_a_package_lacks_itself_is_not_hidden(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package'"):
        import_optional("broken_package", "plot")
    assert "broken_package" not in sys.modules
