# SPDX-License-Identifier: BSD-3-Clause
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from small_paper import TEXT, load_small

from aucmax.datasets import info
from aucmax.datasets.store import select
from aucmax_papers import protocol
from aucmax_papers.methods import build
from aucmax_papers.problem import n_runs
from aucmax_papers.protocol import KEYS, expand, load_paper, parse_paper
from aucmax_papers.tasks import merge_limits

BOTH = pytest.mark.parametrize("fast", [False, True], ids=["full", "fast"])
EACH = pytest.mark.parametrize("key", KEYS)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(10, 3)), np.arange(10) < 4


def check_model(model):
    """Have the estimator look at the values of its parameters, too."""
    steps = (
        [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    )
    for step in steps:
        step._validate_params()


def every_use(paper):
    """Each set with each method that is run on it."""
    for shown in (*paper.tables.values(), *paper.figures.values()):
        for name in shown.sets:
            for method in (paper.methods[m] for m in shown.methods):
                if not method.copied:
                    yield paper.sets[name], method.on(name), shown


@EACH
@BOTH
def test_shipped_papers_are_understood(key, fast):
    paper = load_paper(key, fast=fast)
    assert paper.key == key
    assert paper.is_fast is fast
    assert paper.tables
    assert paper.title
    assert paper.link.startswith("https://")


@EACH
def test_every_set_is_a_data_set_with_that_part(key):
    for use in load_paper(key).sets.values():
        parts = ("train", "test") if use.split == "given" else (use.part,)
        for part in parts:
            assert select(info(use.data), part), use.name


@EACH
@BOTH
def test_every_estimator_accepts_its_parameters(key, fast, rows):
    seen = set()
    for use, method, _ in every_use(load_paper(key, fast=fast)):
        for variant in method.variants:
            tried = method.candidates() if variant == "published" else [{}]
            for params in tried:
                own = method.fixed if variant == "published" else method.default
                what = (method.name, variant, str(own), str(params))
                if what not in seen:
                    seen.add(what)
                    check_model(build(method, variant, params, *rows, seed=0))
        assert n_runs(merge_limits(use, method)) > 0
    assert seen


@EACH
@BOTH
def test_every_figure_varies_something_that_its_estimators_have(key, fast, rows):
    paper = load_paper(key, fast=fast)
    for _, method, figure in every_use(replace(paper, tables={})):
        assert figure.values
        for value in figure.values:
            if figure.vary in ("n_rows", "online"):
                assert value == int(value) > 0
                continue
            params = {**method.candidates()[0], **figure.fixed, figure.vary: value}
            check_model(build(method, method.variants[0], params, *rows, seed=0))


@EACH
def test_every_printed_figure_has_one_cell(key):
    paper = load_paper(key)
    cells = [
        (table.name, paper.sets[s].printed, paper.methods[m].printed, metric)
        for table in paper.tables.values()
        for s in table.sets
        for m in table.methods
        for metric in table.metrics
    ]
    assert len(cells) == len(set(cells))
    assert set(paper.printed) <= set(cells)


@EACH
def test_every_copied_column_is_in_the_paper_it_comes_from(key):
    for method in load_paper(key).methods.values():
        if method.copied:
            assert method.copied != key
            assert set(method.copied_as) <= set(load_paper(method.copied).methods)


@EACH
def test_every_reference_is_a_column(key):
    for table in load_paper(key).tables.values():
        assert not table.reference or table.reference in table.methods


@EACH
def test_fast_is_never_more_work(key):
    full, fast = load_paper(key), load_paper(key, fast=True)
    assert set(fast.sets) <= set(full.sets)
    assert fast.methods == full.methods
    n_full = n_fast = 0
    for name, use in fast.sets.items():
        n_fast += n_runs(use) * use.n_partitions
        n_full += n_runs(full.sets[name]) * full.sets[name].n_partitions
    assert n_fast < n_full
    for name, figure in fast.figures.items():
        assert len(figure.values) <= len(full.figures[name].values)
        assert figure.n_runs <= full.figures[name].n_runs
    for shown in (*fast.tables.values(), *fast.figures.values()):
        assert set(shown.sets) <= set(fast.sets)


def test_unknown_paper():
    with pytest.raises(ValueError, match=r"no paper 'gao2014'.*gao2013"):
        load_paper("gao2014")


def test_printed_figures_with_and_without_spread():
    printed = load_paper("gao2013").printed
    found = printed["2", "german", "OPAUC", "auc"]
    assert (found.value, found.std) == (0.7978, 0.0347)
    assert any(p.std is None for p in load_paper("khalid2018").printed.values())


def test_names_and_defaults():
    paper = load_small()
    german = paper.sets["german"]
    assert (german.name, german.data, german.printed) == ("german",) * 3
    assert (german.n_folds, german.n_repeats, german.max_rows) == (3, 2, 300)
    assert paper.sets["vehicle"].positive == (4,)
    assert paper.methods["OAM"].printed == "OAM"
    assert paper.methods["OPAUC"].variants == ("published", "default")
    assert paper.methods["RankSVM"].variants == ("published",)
    assert paper.methods["OAM"].variants == ("default",)


def test_own_values_of_a_set_go_before_those_of_all():
    text = TEXT.replace("[sets.german]", "[sets.german]\nn_folds = 7")
    paper = parse_paper("small", text)
    assert (paper.sets["german"].n_folds, paper.sets["glass"].n_folds) == (7, 3)


def test_fast_form():
    full, fast = load_small(), load_small(fast=True)
    assert list(fast.sets) == ["german", "glass"]
    assert fast.tables["1"].sets == ("german", "glass")
    assert fast.sets["german"] == replace(full.sets["german"], n_repeats=1)
    assert fast.sets["glass"].n_partitions == 2
    assert fast.figures["1"].values == (50, 5000)
    assert fast.figures["1"].n_runs == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"base": 2, "from": -2, "to": 1}, (0.25, 0.5, 1.0, 2.0)),
        ({"base": 10, "from": -5, "to": 4, "step": 4}, (1e-5, 1e-1, 1e3)),
        ({"base": 2, "from": 0, "to": 2, "times": 0.75}, (0.75, 1.5, 3.0)),
    ],
)
def test_values_of_a_grid(values, expected):
    assert expand(values) == pytest.approx(expected)


def test_list_of_values_stays_as_it_is():
    assert expand([0.1, "a", 3]) == (0.1, "a", 3)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("max_rows =", "max_row =", r"\[sets.german\] has max_row. Known:.* max_rows"),
        ("fixed =", "fix =", r"\[methods.OPAUC\] has fix. Known:.* fixed"),
        ('caption = "Sm', 'title = "Sm', r"\[tables.1\] has title. Known: caption"),
        ('vary = "online"', "varied = 1", r"\[figures.3\] has varied. Known:.* vary"),
        ('penalty = "sum"', 'penalty = "C"', r"\['C'\].*alpha, half, sum"),
        ("[protocol]", '[protocol]\nsplit = "x"', r"\['x'\].*folds, holdout, given"),
        ("[protocol]", '[protocol]\nscaling = ["x"]', r"\['x'\].*range, zscore"),
        ('"OAM"]\nref', '"x"]\nref', r"methods = \['x'\].*OPAUC, RankSVM, OAM"),
        ('sets = ["german"]', 'sets = ["x"]', r"\[1\] sets = \['x'\].*german, glass"),
        ('headline = "default"', "", r"headline = \['published'\].*of default"),
        ("[protocol]", "[protocols]", r"small.toml has protocols, which means nothing"),
    ],
)
def test_mistakes_in_a_file_are_told_with_what_is_known(old, new, complaint):
    assert old in TEXT
    with pytest.raises(ValueError, match=complaint):
        parse_paper("small", TEXT.replace(old, new, 1))


def test_every_file_is_a_paper():
    names = {f.name for f in protocol.PROTOCOLS.iterdir() if f.name.endswith(".toml")}
    assert {f"{key}.toml" for key in KEYS} == names
    assert all(re.fullmatch("[a-z]+[0-9]{4}", key) for key in KEYS)
