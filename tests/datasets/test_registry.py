# SPDX-License-Identifier: BSD-3-Clause
import re
from importlib import resources

import pytest

from aucmax.datasets import info, list_bundled, list_datasets
from aucmax.datasets.store import select

# Every set of which a paper has a result, or which it lists.
PAPERS = {
    "gao2013": """diabetes fourclass german splice usps letter magic04 a9a w8a kddcup04
        mnist connect-4 acoustic ijcnn1 epsilon covtype sector news20.binary rcv1v2
        news20 ecml2012""",
    "kakkar2017": """sonar glass ionosphere balance australian vehicle fourclass
        svmguide3 a2a magic04 segment satimage ijcnn1 poker""",
    "khalid2018": """spambase usps magic04 protein ijcnn1 connect-4 acoustic skin
        cod-rna covtype""",
    "natole2019": """diabetes fourclass german splice usps a9a mnist acoustic ijcnn1
        covtype sector news20""",
    "szorenyi2017": """fourclass svmguide1 magic04 german a9a svmguide3 vehicle acoustic
        segment ijcnn1 connect-4 satimage vowel usps letter poker""",
}
USED = [(paper, name) for paper, names in PAPERS.items() for name in names.split()]
# Rows and columns as printed in the papers, of the parts that the papers used.
PRINTED = {
    "diabetes": ("all", 768, 8),
    "w8a": ("train", 49749, 300),
    "kddcup04": ("train", 50000, 65),
    "mnist": ("train", 60000, 780),
    "connect-4": ("all", 67557, 126),
    "acoustic": ("train", 78823, 50),
    "epsilon": ("train", 400000, 2000),
    "covtype": ("all", 581012, 54),
    "usps": ("all", 9298, 256),
    "ijcnn1": ("all", 141691, 22),
    "splice": ("all", 3175, 60),
    "sector": ("all", 9619, 55197),
    "news20": ("train", 15935, 62061),
    "news20.binary": ("all", 19996, 1355191),
    "rcv1v2": ("train", 23149, 47236),
    "ecml2012": ("train", 456886, 98519),
    "cod-rna": ("all", 331152, 8),
    "protein": ("train", 17766, 357),
    "poker": ("test", 1000000, 10),
    "letter": ("all", 20000, 16),
}
PARTS = [(name, part) for name in list_datasets() for part in info(name).parts.values()]


@pytest.mark.parametrize(("paper", "name"), USED)
def test_every_set_of_the_papers_is_there(paper, name):
    assert len(info(name).papers[paper]) > 10


def test_no_set_claims_a_paper_that_does_not_use_it():
    claimed = {(p, name) for name in list_datasets() for p in info(name).papers}
    assert claimed == set(USED)


@pytest.mark.parametrize("name", PRINTED)
def test_sizes_are_those_printed(name):
    part, n_rows, n_features = PRINTED[name]
    chosen = info(name)
    assert sum(each.n_rows for each in select(chosen, part)) == n_rows
    assert chosen.n_features == n_features


@pytest.mark.parametrize("name", list_datasets())
def test_facts_are_complete(name):
    facts = info(name)
    assert facts.name == name
    assert facts.title
    assert facts.summary.endswith(".")
    assert facts.task in ("binary", "multiclass", "multilabel")
    assert facts.source.startswith("http")
    assert len(facts.reference) > 20
    assert facts.licence == "CC BY 4.0" or facts.licence.startswith("not stated")
    assert facts.notes == "" or facts.notes.endswith(".")
    assert select(facts, "all")
    assert set(facts.parts) <= {"train", "test", "val", "rest", "all"}


@pytest.mark.parametrize(
    ("name", "part"), PARTS, ids=[f"{name}-{part.name}" for name, part in PARTS]
)
def test_files_are_named_counted_and_summed(name, part):
    suffix = "" if part.name == "all" else f".{part.name}"
    assert part.file == f"{name}{suffix}.svm.bz2"
    assert (part.sha256 is None) == (part.bytes is None)
    assert part.sha256 is None or part.class_counts is not None
    for checksum in (part.sha256, part.text_sha256):
        assert checksum is None or re.fullmatch("[0-9a-f]{64}", checksum)
    assert part.url_hash is None or re.fullmatch(
        "sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}", part.url_hash
    )
    if part.class_counts is not None:
        assert sum(part.class_counts.values()) == part.n_rows
        assert all(str(int(label)) == label for label in part.class_counts)
    if part.labels and part.class_counts:
        assert {str(value) for value in part.labels.values()} == set(part.class_counts)
    # Only where there are both can they differ.
    assert part.mirror_differs is None or (part.sha256 and part.url)
    assert part.format in ("libsvm", "csv")
    assert set(part.options) <= {"separator", "target", "drop"}
    if part.url is None:
        assert part.url_hash is part.text_sha256 is None
        # What to do by hand, for want of a download.
        assert info(name).notes
    else:
        home = re.match("https://([^/]+)/", part.url)[1]
        assert home in ("www.csie.ntu.edu.tw", "archive.ics.uci.edu")
        assert (part.format == "csv") == (home == "archive.ics.uci.edu")


def test_mirrors_with_other_values_are_marked():
    marked = {(name, part.name) for name, part in PARTS if part.mirror_differs}
    assert marked == {("cod-rna", "train"), ("usps", "train"), ("usps", "test")}


def test_no_two_parts_share_a_file():
    files = [part.file for _, part in PARTS]
    public = [part.public_file for _, part in PARTS if part.url]
    assert len(set(files)) == len(files)
    assert len(set(public)) == len(public)
    assert not set(files) & set(public)


def test_bundled_files_are_the_ones_registered():
    shipped = resources.files("aucmax.datasets") / "data"
    for name in list_bundled():
        facts = info(name)
        assert set(facts.where().values()) == {"package"}
        for part in facts.parts.values():
            assert len((shipped / part.file).read_bytes()) == part.bytes


def test_where_names_the_place_of_each_part(toy, mirror, cache):
    facts = toy.register(
        toy.part("train"),
        toy.part("test", url="https://example.org/toy.t"),
        toy.part("val"),
    )
    assert facts.where() == {"train": "manual", "test": "download", "val": "manual"}
    (mirror / "toy.train.svm.bz2").write_bytes(b"")
    (cache / "toy.t").write_bytes(b"")
    assert facts.where() == {"train": "mirror", "test": "cache", "val": "manual"}


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"no data set 'iris'. Choose one of a2a, a9a"):
        info("iris")
