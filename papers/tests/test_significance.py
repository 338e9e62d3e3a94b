# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import numpy as np
import pytest
from fake_papers import fake_paper, make_rows
from scipy import stats

from aucmax_papers.compare import compare
from aucmax_papers.protocol import Printed
from aucmax_papers.significance import (
    count_outcomes,
    critical_difference,
    paired_test,
    rank_methods,
)

PAPER = fake_paper()


def runs(*values):
    return dict(enumerate(values))


def test_win_tie_and_loss(rng):
    noise = rng.normal(0, 0.05, 20)
    first = runs(*(0.8 + noise))
    second = runs(*(0.79 + noise + rng.normal(0, 0.001, 20)))
    win = paired_test(first, second)
    assert win.word == "win"
    assert paired_test(second, first).word == "loss"
    assert win.n_runs == 20
    assert win.difference == pytest.approx(0.01, abs=1e-3)
    # Not paired, the difference would drown.
    assert stats.ttest_ind(list(first.values()), list(second.values())).pvalue > 0.05
    tie = paired_test(runs(0.8, 0.7, 0.9), runs(0.7, 0.8, 0.91))
    assert tie.word == "tie"
    assert tie.p_value == pytest.approx(
        stats.ttest_rel([0.8, 0.7, 0.9], [0.7, 0.8, 0.91]).pvalue
    )


def test_the_level_decides():
    first, second = runs(0.80, 0.83, 0.81), runs(0.79, 0.80, 0.80)
    p_value = paired_test(first, second).p_value
    assert 0.05 < p_value < 0.2
    assert paired_test(first, second, level=0.8).word == "win"


def test_degenerate_cases():
    assert paired_test(runs(0.8, 0.9), runs(0.8, 0.9)).word == "tie"
    # The same difference in all runs, but for rounding.
    assert paired_test(runs(0.8, 0.9), runs(0.7, 0.8)).word == "win"
    assert paired_test(runs(0.7, 0.8), runs(0.8, 0.9)).word == "loss"
    assert paired_test(runs(0.8), runs(0.7)) is None
    assert paired_test({0: 0.8, 1: 0.9}, {1: 0.8, 2: 0.9}) is None


def test_runs_are_paired_not_lined_up():
    first, second = {0: 0.1, 1: 0.9, 2: 0.5}, {2: 0.4, 0: 0.0, 1: 0.8}
    assert paired_test(first, second).word == "win"


def test_counts_by_method():
    rows = [
        *make_rows(PAPER, "small", "Best", [0.9, 0.8, 0.7]),
        *make_rows(PAPER, "small", "Plain | B", [0.8, 0.7, 0.6]),
        *make_rows(PAPER, "small", "Given", [0.95, 0.85, 0.75]),
        *make_rows(PAPER, "odd", "Best", [0.9, 0.8]),
        *make_rows(PAPER, "odd", "Plain | B", [0.9, 0.8]),
        *make_rows(PAPER, "halved", "Best", [0.9, 0.8, 0.7]),
        *make_rows(PAPER, "halved", "Plain | B", [0.8, 0.7, 0.6]),
    ]
    records = count_outcomes(compare(PAPER, rows, "1"))
    assert list(records) == ["Plain | B", "Given", "Borrowed"]
    assert str(records["Plain | B"]) == "2/1/0"
    assert str(records["Given"]) == "0/0/1"
    assert records["Plain | B"].outcomes["large"] is None


def test_copied_columns_are_not_tested():
    rows = make_rows(PAPER, "small", "Best", [0.9, 0.8])
    rows += make_rows(PAPER, "small", "Given", [0.9, 0.8])
    lender = make_rows(PAPER, "small", "Borrowed", [0.8, 0.7], method="Lender")
    records = count_outcomes(compare(PAPER, rows, "1", {"other": lender}))
    assert records["Borrowed"][:3] == (0, 0, 0)
    assert str(records["Borrowed"]) == "\N{EN DASH}"


def test_figures_that_the_paper_took_are_tested():
    # Ours were run here, on the same splits.
    printed = {
        ("1", "small", "Given", "auc"): Printed(
            0.7, None, "taken by that paper from gao2013"
        )
    }
    paper = replace(PAPER, printed=printed)
    rows = make_rows(paper, "small", "Best", [0.9, 0.8])
    rows += make_rows(paper, "small", "Given", [0.8, 0.7])
    comparison = compare(paper, rows, "1")
    assert comparison.cells["small", "Given", "auc"].verdict == "copied"
    assert str(count_outcomes(comparison)["Given"]) == "1/0/0"


def test_runs_on_other_test_rows_are_not_paired():
    rows = make_rows(PAPER, "small", "Best", [0.9, 0.8])
    rows += make_rows(PAPER, "small", "Given", [0.9, 0.8])
    fewer = make_rows(PAPER, "small", "Plain | B", [0.8, 0.7], n_test=5)
    records = count_outcomes(compare(PAPER, rows + fewer, "1"))
    assert records["Plain | B"].outcomes["small"] is None


def test_nothing_to_test_no_counts():
    rows = make_rows(PAPER, "small", "Best", [0.9])
    rows += make_rows(PAPER, "small", "Given", [0.8])
    assert count_outcomes(compare(PAPER, rows, "1")) == {}


def test_no_reference_no_counts():
    assert count_outcomes(compare(PAPER, [], "2")) == {}


def ranked(means, paper=PAPER, other=None):
    rows = [
        row
        for (name, method), mean in means.items()
        for row in make_rows(paper, name, method, [mean])
    ]
    return rank_methods(compare(paper, rows, "1", other))


METHODS = ("Best", "Plain | B", "Given")


def test_ranks_over_sets_that_all_have():
    aucs = {"small": (0.9, 0.8, 0.7), "odd": (0.9, 0.7, 0.7), "large": (0.9, 0.6, 0.8)}
    means = {
        (s, m): a for s, v in aucs.items() for m, a in zip(METHODS, v, strict=True)
    }
    means["halved", "Best"] = 0.1
    ranks = ranked(means)
    assert ranks.sets == ("small", "odd", "large")
    assert ranks.mean == pytest.approx(
        {"Best": 1.0, "Plain | B": 7.5 / 3, "Given": 7.5 / 3}
    )
    assert next(iter(ranks.mean)) == "Best"
    expected = stats.friedmanchisquare(*np.array(list(aucs.values())).T)
    assert ranks.statistic == pytest.approx(expected.statistic)
    assert ranks.p_value == pytest.approx(expected.pvalue)
    assert ranks.critical_difference == pytest.approx(critical_difference(3, 3))


EVEN = {(s, m): 0.5 for s in ("small", "odd", "large") for m in METHODS}


def test_copied_columns_have_no_rank():
    lent = [
        row
        for name in PAPER.sets
        for row in make_rows(PAPER, name, "Borrowed", [0.99], method="Lender")
    ]
    ranks = ranked(EVEN, other={"other": lent})
    assert set(ranks.mean) == set(METHODS)
    assert ranks.left_out == {"Borrowed": "runs of other"}
    # Nor do their sets count.
    assert ranks.sets == ("small", "odd", "large")
    assert ranked(EVEN).left_out == {}


def test_a_method_on_few_sets_is_left_out():
    methods = {
        **PAPER.methods,
        "Borrowed": replace(PAPER.methods["Best"], name="Borrowed"),
    }
    paper = replace(PAPER, methods=methods)
    once = {**EVEN, ("small", "Borrowed"): 0.6}
    ranks = ranked(once, paper)
    assert ranks.sets == ("small", "odd", "large")
    assert ranks.left_out == {"Borrowed": "run on 1 of 3 sets"}
    # On half of them or more, the sets give way.
    ranks = ranked({**once, ("odd", "Borrowed"): 0.6}, paper)
    assert ranks.sets == ("small", "odd")
    assert next(iter(ranks.mean)) == "Borrowed"
    assert ranks.left_out == {}
    half = {
        ("halved", "Best"): 0.5,
        ("small", "Borrowed"): 0.6,
        ("odd", "Borrowed"): 0.6,
    }
    assert ranked({**EVEN, **half}, paper).sets == ("small", "odd")


def test_ranks_when_all_are_equal():
    ranks = ranked({(s, m): 0.5 for s in ("small", "odd") for m in METHODS})
    assert set(ranks.mean.values()) == {2.0}
    assert (ranks.statistic, ranks.p_value) == (0.0, 1.0)


def test_rounding_does_not_rank():
    means = {(s, m): 0.5 for s in ("small", "odd") for m in METHODS}
    means["small", "Best"] = 0.1 + 0.2 + 0.2
    means["odd", "Given"] = 0.5 + 1e-15
    assert set(ranked(means).mean.values()) == {2.0}


def test_too_few_methods_or_sets():
    assert ranked({(s, m): 0.5 for s in ("small", "odd") for m in METHODS[:2]}) is None
    assert ranked({("small", m): 0.5 for m in METHODS}) is None
    assert ranked({}) is None
    seconds = replace(PAPER.tables["1"], metrics=("train_s",))
    paper = replace(PAPER, tables={"1": seconds})
    assert (
        ranked({(s, m): 0.5 for s in ("small", "odd") for m in METHODS}, paper) is None
    )


# Table 5(a) of Demšar (2006), times sqrt(k (k + 1) / (6 n)).
@pytest.mark.parametrize(
    ("n_methods", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)]
)
def test_critical_values_as_published(n_methods, q):
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
    assert critical_difference(n_methods, 14) == pytest.approx(expected, rel=5e-4)
