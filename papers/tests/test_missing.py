# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

from small_paper import load_small

from aucmax_papers import missing
from aucmax_papers.missing import find_missing, is_at_hand


def test_sets_at_hand_are_found_without_fetching(monkeypatch, tmp_path):
    monkeypatch.setattr(missing, "fetch", None)
    monkeypatch.delenv("AUCMAX_DATA", raising=False)
    monkeypatch.setenv("AUCMAX_CACHE", str(tmp_path))
    use = load_small().sets["german"]
    assert is_at_hand(use)
    assert is_at_hand(replace(use, data="satimage", split="given"))
    assert is_at_hand(replace(use, data="satimage", part="test"))
    assert not is_at_hand(replace(use, data="letter", part="train"))
    assert find_missing([use]) == {}
