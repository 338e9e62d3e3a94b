# SPDX-License-Identifier: BSD-3-Clause
from hypothesis import given, settings
from hypothesis import strategies as st

from aucmax.io.arff_format import split_row, split_rows

BARE = st.text("abc 1.%é", min_size=1).map(str.strip).filter(lambda t: t[:1] not in "%")
TEXT = st.text("ab ,'\"\\{}%é\t")


def quoted(text, quote):
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"


# What a cell holds, and how it is written.
cells = BARE.map(lambda t: (t, t)) | st.tuples(TEXT, st.sampled_from("'\"")).map(
    lambda drawn: (drawn[0], quoted(*drawn))
)
spaces = st.sampled_from(["", " ", "  "])
rows = st.lists(st.tuples(cells, spaces, spaces), min_size=2, max_size=4)


@given(table=st.lists(rows, min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_rows_are_split_as_they_were_written(table):
    expected = [[held for (held, _), _, _ in row] for row in table]
    lines = [",".join(f"{a}{text}{b}" for (_, text), a, b in row) for row in table]
    assert [split_row(line.strip()) for line in lines] == expected
    found = split_rows("\n".join(["", *lines, "% end", ""]))
    # The quick reader leaves spaces at the end; values are looked up without them.
    stripped = [[cell.strip() for cell in row] for row in found]
    assert stripped == [[cell.strip() for cell in row] for row in expected]
