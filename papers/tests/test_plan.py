# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

from small_paper import TEXT, load_small

from aucmax_papers.plan import plan
from aucmax_papers.protocol import parse_paper


def test_columns_of_other_papers_are_not_run():
    paper = load_small()
    copied = replace(paper.methods["OAM"], copied="gao2013")
    paper = replace(paper, methods=paper.methods | {"OAM": copied})
    assert {cell.method.name for cell in plan(paper)} == {"OPAUC", "RankSVM"}


def test_cells_have_the_limits_and_the_parameters_of_their_set():
    text = TEXT.replace(
        "[methods.OAM]",
        "[methods.OAM]\nmax_train = 77\nby_set.glass = { step_size = 3.0 }",
    )
    cells = plan(parse_paper("small", text), methods=["OAM"], tables=["1"])
    found = {cell.use.name: cell for cell in cells}
    assert {cell.use.max_train for cell in cells} == {77}
    assert found["german"].use.max_rows == 300
    assert found["glass"].method.default == {"step_size": 3.0}
    assert found["german"].method.default == {}
