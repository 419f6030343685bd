"""What every registered reader promises, on made-up files; then what is peculiar to each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from evenhand.core import registry, tables
from evenhand.core.errors import BadInput
from evenhand.data.corpora.hatexplain import token_spans
from evenhand.data.corpus import Corpus
from evenhand.data.find import find, reader, write_folder

from . import corpora
from .corpora import MADE_UP, MadeUp, Table

NAMES = registry.names("readers")
FILES = [(name, file) for name in NAMES if name in MADE_UP for file in MADE_UP[name].files]
COLUMNS = [
    (name, file, column)
    for name, file in FILES
    if file != corpora.ID_LIST  # has no header
    for column in MADE_UP[name].files[file].columns
]
LABELS = [(name, label) for name in NAMES if name in MADE_UP for label in MADE_UP[name].labels]
REQUIRED = [(name, choice) for name in NAMES if name in MADE_UP for choice in reader(name).files]
ORDERED = {
    "dynahate": "a post's id is the number of its row",
    "convabuse": "the first of two attempts is the one that stands first",
}
TABLES = ("posts", "gold", "judgements", "draws", "scores")


def installed(name: str, folder: Path, made: MadeUp | None = None) -> Corpus:
    """The corpus of made-up files, read."""
    return reader(name).read((made or MADE_UP[name]).write(folder))


def parts(corpus: Corpus) -> dict[str, pl.DataFrame]:
    """The tables a corpus has."""
    found = {name: getattr(corpus, name) for name in TABLES}
    return {name: part for name, part in found.items() if part is not None}


def content(corpus: Corpus) -> dict[str, list[str]]:
    """The tables without the order of their rows; ``?1, ?2`` number people nobody knows."""
    found = parts(corpus)
    if "judgements" in found:
        nobody = pl.when("anonymous").then(pl.lit("?")).otherwise("annotator")
        found["judgements"] = found["judgements"].with_columns(annotator=nobody)
    return {name: sorted(map(repr, part.iter_rows())) for name, part in found.items()}


def post(corpus: Corpus, published: str) -> dict[str, object]:
    """One post by its published id."""
    return corpus.posts.row(by_predicate=pl.col("id") == f"{corpus.name}:{published}", named=True)


def gold_of(corpus: Corpus, published: str, question: str | None = None) -> dict[str, object]:
    """The gold of one post."""
    wanted = (pl.col("post") == f"{corpus.name}:{published}") & (
        pl.col("question") == (question or corpus.question)
    )
    return corpus.gold.row(by_predicate=wanted, named=True)


def shares(corpus: Corpus, published: str) -> dict[str, float]:
    """Label → share in the gold of one post."""
    return {found["label"]: found["share"] for found in gold_of(corpus, published)["shares"]}


def votes(corpus: Corpus, published: str, question: str | None = None) -> pl.DataFrame:
    """The judgements of one post on one question."""
    return corpus.judgements.filter(
        pl.col("post") == f"{corpus.name}:{published}",
        pl.col("question") == (question or corpus.question),
    )


def marked(corpus: Corpus, published: str) -> list[list[str]]:
    """The words each rationale of a post marks."""
    text = post(corpus, published)["text"]
    spans = votes(corpus, published, "rationale")["spans"]
    return [[text[span["start"] : span["end"]] for span in found] for found in spans]


# What every reader promises.


def test_every_reader_has_made_up_files():
    assert sorted(MADE_UP) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_rows_and_posts_are_counted(name, tmp_path):
    corpus = installed(name, tmp_path)
    assert (corpus.rows, corpus.posts.height) == (MADE_UP[name].rows, MADE_UP[name].posts)


@pytest.mark.parametrize("name", NAMES)
def test_installed_files_are_seen(name, tmp_path):
    assert not reader(name).installed(tmp_path)
    assert reader(name).installed(MADE_UP[name].write(tmp_path))


@pytest.mark.parametrize(("name", "choice"), REQUIRED)
def test_a_missing_file_is_named(name, choice, tmp_path):
    MADE_UP[name].without(*choice.split("|")).write(tmp_path)
    assert not reader(name).installed(tmp_path)
    with pytest.raises(BadInput) as error:
        reader(name).read(tmp_path)
    assert any(
        f"{tmp_path / file}: not installed" in str(error.value) for file in choice.split("|")
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_files_a_reader_requires_are_enough(name, tmp_path):
    required = "|".join(reader(name).files).split("|")
    optional = set(MADE_UP[name].files) - set(required)
    MADE_UP[name].without(*optional).write(tmp_path)
    assert reader(name).installed(tmp_path)
    assert reader(name).read(tmp_path).posts.height > 0


@pytest.mark.parametrize("name", NAMES)
def test_ids_and_sources_bear_the_name_of_the_corpus(name, tmp_path):
    posts = installed(name, tmp_path).posts
    assert posts["id"].str.starts_with(f"{name}:").all()
    assert posts["source"].unique().to_list() == [name]


@pytest.mark.parametrize("name", NAMES)
def test_tables_pass_their_own_checks(name, tmp_path):
    for kind, part in parts(installed(name, tmp_path)).items():
        assert getattr(tables, f"{kind}_table")(part).equals(part), kind


@pytest.mark.parametrize("name", NAMES)
def test_only_declared_labels_occur(name, tmp_path):
    corpus = installed(name, tmp_path)
    found = corpus.main_gold().explode("shares").unnest("shares", separator=".")
    assert set(found["shares.label"]) | set(corpus.hateful) <= set(reader(name).labels)
    assert tuple(corpus.hateful) == tuple(reader(name).hateful)
    assert corpus.question == reader(name).question


@pytest.mark.parametrize("name", NAMES)
def test_everything_belongs_to_a_post(name, tmp_path):
    found = parts(installed(name, tmp_path))
    posts = found.pop("posts").rename({"id": "post"})
    assert {
        kind: part.join(posts, on="post", how="anti").height for kind, part in found.items()
    } == (dict.fromkeys(found, 0))


@pytest.mark.parametrize("name", NAMES)
def test_spans_lie_within_their_text(name, tmp_path):
    corpus = installed(name, tmp_path)
    texts = dict(corpus.posts.select("id", "text").iter_rows())
    judgements = [] if corpus.judgements is None else corpus.judgements.iter_rows(named=True)
    for found in judgements:
        size = len(texts[found["post"]])
        assert all(0 <= span["start"] < span["end"] <= size for span in found["spans"])


@pytest.mark.parametrize("name", NAMES)
def test_gzipped_files_read_the_same(name, tmp_path):
    plain = parts(installed(name, tmp_path / "plain"))
    gzipped = parts(reader(name).read(MADE_UP[name].write(tmp_path / "gz", gzipped=True)))
    assert plain.keys() == gzipped.keys()
    assert all(plain[kind].equals(gzipped[kind]) for kind in plain)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ORDERED])
def test_the_order_of_rows_does_not_matter(name, tmp_path):
    forwards = installed(name, tmp_path / "forwards")
    backwards = installed(name, tmp_path / "backwards", MADE_UP[name].backwards())
    assert content(forwards) == content(backwards)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_of_records_reads_back(name, tmp_path):
    corpus = installed(name, tmp_path / "data")
    write_folder(corpus, tmp_path / "folder")
    again = find(str(tmp_path / "folder"))
    assert parts(again).keys() == parts(corpus).keys()
    assert all(part.equals(parts(again)[kind]) for kind, part in parts(corpus).items())
    about = ("name", "rows", "question", "hateful", "notes", "origin")
    assert [getattr(again, a) for a in about] == [getattr(corpus, a) for a in about]


@pytest.mark.parametrize(("name", "file", "column"), COLUMNS)
def test_a_missing_column_is_named(name, file, column, tmp_path):
    MADE_UP[name].without_column(file, column).write(tmp_path)
    if column in MADE_UP[name].files[file].spare:
        assert reader(name).read(tmp_path).rows == MADE_UP[name].rows
        return
    with pytest.raises(BadInput) as error:
        reader(name).read(tmp_path)
    assert str(tmp_path / file) in str(error.value)
    assert repr(column) in str(error.value)


@pytest.mark.parametrize(("name", "label"), LABELS, ids=str)
def test_an_unknown_label_is_named_with_its_place(name, label, tmp_path):
    MADE_UP[name].with_value(label.file, label.at, label.wrong).write(tmp_path)
    with pytest.raises(BadInput) as error:
        reader(name).read(tmp_path)
    place = MADE_UP[name].files[label.file].place(label.file, label.at)
    assert [str(fault).split(":")[0] for fault in error.value.faults] == [place]


@pytest.mark.parametrize(("name", "file"), FILES)
def test_a_file_cut_off_half_way_is_refused(name, file, tmp_path):
    path = next(MADE_UP[name].write(tmp_path, gzipped=True).glob(f"{file}*"))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(BadInput, match=path.name.replace("+", r"\+")):
        reader(name).read(tmp_path)


@pytest.mark.parametrize(
    ("name", "file"), [(name, file) for name, file in FILES if not file.endswith(".parquet")]
)
def test_a_damaged_gzip_file_is_refused(name, file, tmp_path):
    path = MADE_UP[name].write(tmp_path, gzipped=True) / f"{file}.gz"
    raw = path.read_bytes()
    path.write_bytes(raw[:10] + b"\xff" + raw[11:])  # the first block is of a kind that is not
    with pytest.raises(BadInput, match=path.name.replace("+", r"\+")):
        reader(name).read(tmp_path)


def test_one_id_with_two_texts_is_refused(tmp_path):
    file = "waseem_hovy2016/arango_extended_7006.csv"
    made = MADE_UP["arango_extended"].with_value(file, (1, "text"), "Other roses")
    with pytest.raises(BadInput, match="1 ids have more than one text: w1"):
        installed("arango_extended", tmp_path, made)


# Waseem and Hovy 2016, Waseem 2016, Arango et al. 2019.


def test_waseem_hovy_id_with_two_labels_is_a_conflict(tmp_path):
    corpus = installed("waseem_hovy", tmp_path)
    assert shares(corpus, "1003") == {"none": 0.5, "sexism": 0.5}
    assert (gold_of(corpus, "1003")["label"], gold_of(corpus, "1003")["n"]) == (None, 2)


def test_waseem_hovy_list_counts_a_blank_line_as_none(tmp_path):
    # Every line ends in \r\r\n: an editor shows a blank line after each.
    raw = (MADE_UP["waseem_hovy"].write(tmp_path) / corpora.ID_LIST).read_bytes()
    assert raw.count(b"\r\r\n") == 5
    assert reader("waseem_hovy").read(tmp_path).rows == 5


def test_waseem_hovy_list_without_labels_is_refused(tmp_path):
    made = MADE_UP["waseem_hovy"].without_column(corpora.ID_LIST, "label")
    with pytest.raises(BadInput, match=r"line 1: 1 cells; expected 2 \(id, label\)"):
        installed("waseem_hovy", tmp_path, made)


def test_waseem_hovy_listed_id_without_text_is_refused(tmp_path):
    made = MADE_UP["waseem_hovy"].with_value(corpora.ID_LIST, (0, "id"), "9999")
    with pytest.raises(BadInput, match="1 of 5 ids have no text"):
        installed("waseem_hovy", tmp_path, made)


@pytest.mark.parametrize(
    ("name", "published"),
    [("waseem_hovy", "1004"), ("waseem_hovy_full", "1004"), ("arango_extended", "d1")],
)
def test_an_empty_author_is_no_author(name, published, tmp_path):
    corpus = installed(name, tmp_path)
    assert post(corpus, published)["author"] is None
    assert corpus.posts["author"].null_count() == 1


def test_waseem_2016_translates_classes_and_counts_ids_without_text(tmp_path):
    corpus = installed("waseem_2016", tmp_path)
    labels = [gold_of(corpus, published)["label"] for published in ("1001", "1002", "1003", "1004")]
    assert labels == ["none", "racism", None, "both"]
    assert corpus.notes == ("1 of 6 ids have no text here.",)


def test_arango_extended_keeps_where_a_post_comes_from(tmp_path):
    corpus = installed("arango_extended", tmp_path)
    assert [post(corpus, p)["tags"]["part"] for p in ("w1", "d1")] == ["waseem_hovy", "davidson"]


# Davidson et al. 2017.


def test_davidson_counts_become_anonymous_judgements(tmp_path):
    # 1 for hate_speech, 3 for offensive_language, 2 for neither: six people nobody knows.
    found = votes(installed("davidson", tmp_path), "1")
    assert sorted(found["annotator"]) == ["?1", "?2", "?3", "?4", "?5", "?6"]
    assert found["anonymous"].all()
    assert sorted(found["answer"].explode().value_counts().iter_rows()) == [
        ("hate_speech", 1),
        ("neither", 2),
        ("offensive_language", 3),
    ]


def test_davidson_gold_has_the_shares_of_the_votes(tmp_path):
    corpus = installed("davidson", tmp_path)
    assert shares(corpus, "1") == {
        "hate_speech": 1 / 6,
        "offensive_language": 0.5,
        "neither": 2 / 6,
    }
    assert (gold_of(corpus, "1")["label"], gold_of(corpus, "1")["n"]) == ("offensive_language", 6)


@pytest.mark.parametrize(("column", "value"), [("count", "4"), ("neither", "many"), ("count", "")])
def test_davidson_votes_that_do_not_add_up_are_refused(column, value, tmp_path):
    made = MADE_UP["davidson"].with_value("davidson2017/labeled_data.csv", (1, column), value)
    with pytest.raises(BadInput, match=r"labeled_data\.csv line 3: .* do not sum to count"):
        installed("davidson", tmp_path, made)


# HatEval.


def test_hateval_second_gold_stands_beside_the_first(tmp_path):
    corpus = installed("hateval", tmp_path)
    assert gold_of(corpus, "31", "HS")["label"] == "0"
    assert gold_of(corpus, "31", "HS relabelled")["label"] == "1"
    assert (corpus.main_gold().height, corpus.gold.height) == (5, 7)  # 5 posts, 2 of them twice


def test_hateval_without_a_second_gold(tmp_path):
    made = MADE_UP["hateval"].without("hateval2019/relabeled_en_test.csv")
    assert installed("hateval", tmp_path, made).gold["question"].unique().to_list() == ["HS"]


def test_hateval_split_is_the_file(tmp_path):
    corpus = installed("hateval", tmp_path)
    assert [post(corpus, p)["tags"]["split"] for p in ("11", "21", "31")] == [
        "train",
        "dev",
        "test",
    ]


# HatemojiBuild, HatemojiCheck, HateCheck, DynaHate.


def test_hatemojibuild_perturbation_is_an_edit_of_its_twin(tmp_path):
    corpus = installed("hatemojibuild", tmp_path)
    edits = [post(corpus, published)["edit_of"] for published in "12345"]
    twins = [post(corpus, published)["tags"]["twin"] for published in "12345"]
    name = "hatemojibuild"
    assert edits == [None, f"{name}:1", None, f"{name}:3", None]
    assert twins == [f"{name}:2", f"{name}:1", f"{name}:4", f"{name}:3", None]


def test_hatemojibuild_tags(tmp_path):
    tags = post(installed("hatemojibuild", tmp_path), "1")["tags"]
    assert (tags["split"], tags["set"], tags["round"]) == ("train", "original", "5")
    assert tags["target"] == "wom|asi.south"


def test_hatemojibuild_reads_the_splits_that_are_there(tmp_path):
    made = MADE_UP["hatemojibuild"].without("hatemojibuild/train.csv", "hatemojibuild/test.csv")
    assert installed("hatemojibuild", tmp_path, made).posts["id"].to_list() == ["hatemojibuild:3"]


def test_hatemojicheck_groups_cases_by_template(tmp_path):
    corpus = installed("hatemojicheck", tmp_path)
    assert [post(corpus, published)["tags"]["template"] for published in "123"] == ["7", "7", "8"]
    assert post(corpus, "1")["tags"]["identity"] == "women"
    assert post(corpus, "2")["tags"]["identity"] is None


def test_hatemojicheck_case_without_a_template_is_refused(tmp_path):
    file = "hatemojicheck/test.csv"
    made = MADE_UP["hatemojicheck"].with_value(file, (1, "test_group_id"), "")
    with pytest.raises(BadInput, match=r"test\.csv line 3: a case without test_group_id"):
        installed("hatemojicheck", tmp_path, made)


@pytest.mark.parametrize(
    ("name", "renamed"),
    [
        ("hatemojicheck", {"test.csv": "sample.csv"}),
        (
            "hatecheck",
            {
                "test_suite_cases.csv": "sample.csv",
                "test_suite_annotations.csv": "sample_annotations.csv",
            },
        ),
    ],
)
def test_a_sample_is_read_only_where_the_suite_is_absent(name, renamed, tmp_path):
    suite = MADE_UP[name]
    first = {new: suite.files[f"{name}/{old}"] for old, new in renamed.items()}
    sample = replace(
        suite,
        files={f"{name}/{f}": Table(part.frame.head(1), part.spare) for f, part in first.items()},
    )
    alone = installed(name, tmp_path, sample)
    both = installed(name, tmp_path, suite)
    assert (alone.rows, alone.notes) == (1, ("A sample of the suite, not all of it.",))
    assert (both.rows, both.notes) == (3, ())


def test_hatecheck_twin_is_the_case_it_refers_to(tmp_path):
    # ref_case_id went through a float on its way: 1.0 is case 1.
    corpus = installed("hatecheck", tmp_path)
    assert [post(corpus, published)["edit_of"] for published in "123"] == [
        "hatecheck:2",
        "hatecheck:1",
        None,
    ]
    assert post(corpus, "2")["tags"]["twin"] == "hatecheck:1"


def test_hatecheck_five_people_vote_on_a_case(tmp_path):
    corpus = installed("hatecheck", tmp_path)
    assert corpus.judgements.group_by("post").len()["len"].to_list() == [5, 5, 5]
    assert dict(votes(corpus, "1").select("annotator", "answer").iter_rows()) == {
        **dict.fromkeys([f"annotator {number}" for number in (1, 2, 3, 4)], ["hateful"]),
        "annotator 5": ["non-hateful"],
    }


def test_hatecheck_without_votes_has_no_judgements(tmp_path):
    made = MADE_UP["hatecheck"].without("hatecheck/test_suite_annotations.csv")
    assert installed("hatecheck", tmp_path, made).judgements is None


def test_dynahate_ids_are_file_and_row(tmp_path):
    assert installed("dynahate", tmp_path).posts["id"].to_list() == [
        "dynahate:dynahate_train_dev:1",
        "dynahate:dynahate_train_dev:2",
        "dynahate:dynahate_train_dev:3",
        "dynahate:dynahate_test:1",
    ]


def test_dynahate_test_file_may_be_absent(tmp_path):
    made = MADE_UP["dynahate"].without("dynahate/dynahate_test.csv")
    assert installed("dynahate", tmp_path, made).rows == 3


# HateXplain and Guest et al. 2021: marked words.


def test_hatexplain_spans_cut_back_to_the_marked_words(tmp_path):
    # "the 🌧 roses are late again": words 2, 3 and 6 by one person, word 1 by the other.
    corpus = installed("hatexplain", tmp_path)
    assert marked(corpus, "t1") == [["🌧 roses", "again"], ["the"]]


def test_hatexplain_rationale_of_the_wrong_length_is_left_out_and_noted(tmp_path):
    corpus = installed("hatexplain", tmp_path)
    assert marked(corpus, "v1") == [["run late"]]  # of three, one is too short, one marks nothing
    assert "1 rationale of the wrong length was left out." in corpus.notes


def test_hatexplain_people_without_an_id_are_anonymous(tmp_path):
    corpus = installed("hatexplain", tmp_path)
    people = {p: votes(corpus, p).select("annotator", "anonymous").rows() for p in ("t1", "v1")}
    assert people["t1"] == [("?1", True), ("?2", True), ("?3", True)]
    assert people["v1"] == [("7", False), ("8", False), ("9", False)]


def test_hatexplain_three_labels_are_a_tie(tmp_path):
    corpus = installed("hatexplain", tmp_path)
    assert shares(corpus, "x1") == pytest.approx(
        {"hatespeech": 1 / 3, "normal": 1 / 3, "offensive": 1 / 3}
    )
    assert gold_of(corpus, "x1")["label"] is None


def test_hatexplain_splits_come_from_the_divisions(tmp_path):
    corpus = installed("hatexplain", tmp_path)
    splits = [post(corpus, published)["tags"]["split"] for published in ("t1", "v1", "x1")]
    assert splits == ["train", "dev", None]


def test_hatexplain_unknown_division_is_refused(tmp_path):
    file = "hatexplain/post_id_divisions.json"
    made = MADE_UP["hatexplain"].with_value(file, ("extra",), ["x1"])
    with pytest.raises(BadInput, match="unknown division 'extra'; expected train, val, test"):
        installed("hatexplain", tmp_path, made)


def test_an_empty_marked_token_does_not_reach_back_over_unmarked_words():
    # "a b  c": a and c are marked, and the empty token before c.
    spans = token_spans(["a", "b", "", "c"], [1, 0, 1, 1])
    assert spans == [{"start": 0, "end": 1}, {"start": 5, "end": 6}]


def test_guest_span_is_the_highlight(tmp_path):
    # Found whatever the case and the kind of quotation mark; counted in code points, past 🌧🌧.
    corpus = installed("guest", tmp_path)
    assert marked(corpus, "g1") == [["roses”"], ["the roses”"]]
    assert votes(corpus, "g1", "rationale")["annotator"].to_list() == ["?1", "?2"]


def test_guest_span_is_of_the_text_that_is_kept(tmp_path):
    # The second row has three more spaces in front; the post keeps the text of the first.
    file = "guest_misogyny/final_labels.csv"
    text = MADE_UP["guest"].files[file].frame["body"][1]
    made = MADE_UP["guest"].with_value(file, (1, "body"), f"   {text}")
    assert marked(installed("guest", tmp_path, made), "g1") == [["roses”"], ["the roses”"]]


def test_guest_highlight_that_is_not_in_the_text_has_no_span_and_is_noted(tmp_path):
    corpus = installed("guest", tmp_path)
    assert marked(corpus, "g3") == [[]]
    assert "1 highlights are not found in their text and have no span." in corpus.notes


def test_guest_keeps_an_empty_text(tmp_path):
    found = post(installed("guest", tmp_path), "g2")
    assert (found["text"], found["author"], found["media"]) == ("", None, ["image"])
    assert found["reply_to"] == "guest:g1"


def test_guest_rows_of_one_entry_share_its_gold(tmp_path):
    corpus = installed("guest", tmp_path)
    assert shares(corpus, "g1") == {"Misogynistic": 0.5, "Nonmisogynistic": 0.5}
    assert post(corpus, "g1")["date"].isoformat() == "2020-03-01T00:00:00+00:00"


# Stormfront.


def test_stormfront_quotation_marks_are_ordinary(tmp_path):
    corpus = installed("stormfront", tmp_path)
    assert post(corpus, "1_1")["text"] == 'He said "plant them'
    assert post(corpus, "1_2")["text"] == '"before the frost"'


def test_stormfront_authors_and_splits(tmp_path):
    corpus = installed("stormfront", tmp_path)
    assert corpus.posts["author"].to_list() == ["7", "7", "8", "8"]
    splits = corpus.posts["tags"].struct.field("split").to_list()
    assert splits == ["train", "test", None, None]


def test_stormfront_sentence_without_text_is_refused(tmp_path):
    made = MADE_UP["stormfront"].with_value("stormfront/all_files.tsv", (0, "file_id"), "9_9")
    with pytest.raises(BadInput, match="text is missing"):
        installed("stormfront", tmp_path, made)


# Judgements with ids: MD-Agreement, HS-Brexit, ConvAbuse, annotation sensitivity.


def test_lewidi_ids_are_split_and_key(tmp_path):
    assert installed("md_agreement", tmp_path).posts["id"].to_list() == [
        "md_agreement:train:1",
        "md_agreement:train:2",
        "md_agreement:dev:1",
        "md_agreement:test:1",
    ]


def test_lewidi_person_twice_on_a_post_is_a_second_attempt(tmp_path):
    found = votes(installed("md_agreement", tmp_path), "train:2")
    again = found.filter(annotator="Ann4").select("attempt", "answer").rows()
    assert again == [(1, ["0"]), (2, ["1"])]


def test_lewidi_votes_and_people_must_be_as_many(tmp_path):
    file = "lewidi2023_md-agreement/MD-Agreement_dev.json"
    made = MADE_UP["md_agreement"].with_value(file, ("1", "annotations"), "0,0")
    with pytest.raises(BadInput, match="entry 'dev:1' is not in the published form"):
        installed("md_agreement", tmp_path, made)


def test_hs_brexit_people_belong_to_two_groups(tmp_path):
    found = votes(installed("hs_brexit", tmp_path), "train:1")
    target, control = found.filter(cohort="target group"), found.filter(cohort="control group")
    assert target["annotator"].to_list() == ["Ann1", "Ann2", "Ann3"]
    assert control["annotator"].to_list() == ["Ann4", "Ann5", "Ann6"]


def test_hs_brexit_asks_other_questions_too(tmp_path):
    found = votes(installed("hs_brexit", tmp_path), "dev:1", "offensive language detection")
    assert found["answer"].explode().to_list() == ["1", "0", "0", "0", "0", "0"]


def test_lewidi_gold_is_the_published_label(tmp_path):
    # test:1 is a tie, three against three, and published as 0.
    corpus = installed("hs_brexit", tmp_path)
    assert (gold_of(corpus, "test:1")["label"], gold_of(corpus, "test:1")["n"]) == ("0", 1)


def test_convabuse_second_judgement_of_a_person_is_an_attempt(tmp_path):
    # One-hot columns become the level; A2 said -1 first and -3 later.
    corpus = installed("convabuse", tmp_path)
    found = corpus.judgements.filter(question="abuse", annotator="A2")
    assert found.select("attempt", "answer").rows() == [(1, ["-1"]), (2, ["-3"])]


def test_convabuse_gold_counts_first_attempts(tmp_path):
    # A1 said 1, A2 first said -1: a tie.
    corpus = installed("convabuse", tmp_path)
    twice = corpus.gold.row(by_predicate=pl.col("n") == 2, named=True)
    assert [share["label"] for share in twice["shares"]] == ["-1", "1"]
    assert twice["label"] is None


def test_convabuse_several_answers(tmp_path):
    corpus = installed("convabuse", tmp_path)
    answers = corpus.judgements.filter(pl.col("question") != "abuse")
    assert answers.select("question", "attempt", "answer").rows() == [
        ("type", 1, ["racist", "sexist"]),
        ("target", 1, ["system"]),
        ("direction", 2, ["explicit"]),
    ]


def test_convabuse_post_is_a_turn_with_those_before_it(tmp_path):
    # The same words after another turn are another post; row numbers are not ids.
    posts = installed("convabuse", tmp_path).posts
    assert posts["text"].to_list() == ["Is it, really?"] * 2
    assert posts["tags"].struct.field("prev_user").to_list() == ["Hi", "Good day"]
    assert posts["id"].str.starts_with("convabuse:12-").all()


def test_convabuse_order_of_posts_does_not_matter(tmp_path):
    file = "convabuse/ConvAbuseEMNLPfull.csv"
    made = MADE_UP["convabuse"]
    frame = made.files[file].frame
    moved = made.with_file(file, Table(pl.concat([frame.tail(1), frame.head(3)])))
    assert content(installed("convabuse", tmp_path / "a")) == content(
        installed("convabuse", tmp_path / "b", moved)
    )


def test_annotation_sensitivity_missing_answer_is_no_judgement(tmp_path):
    # Four rows, two questions, two answers missing: 8 - 2.
    corpus = installed("annotation_sensitivity", tmp_path)
    assert corpus.judgements.height == 6
    assert votes(corpus, "1").select("annotator", "answer").rows() == [("9", ["0"])]
    assert votes(corpus, "2", "offensive_language").height == 0


def test_annotation_sensitivity_cohort_is_the_design(tmp_path):
    found = votes(installed("annotation_sensitivity", tmp_path), "1", "offensive_language")
    assert found.select("annotator", "cohort").rows() == [("9", "A"), ("8", "B")]


def test_annotation_sensitivity_columns_may_stand_in_any_order(tmp_path):
    found = post(installed("annotation_sensitivity", tmp_path), "5")
    assert found["text"] == "Fog on the river"
    assert found["tags"] == {"split": "test", "batch": "4"}


# EDOS, Jigsaw, Perspective.


def test_edos_none_is_no_category(tmp_path):
    corpus = installed("edos", tmp_path)
    assert post(corpus, "s-1")["tags"] == {"split": "train", "category": None, "vector": None}
    assert post(corpus, "s-2")["tags"]["category"] == "3. animosity"


@pytest.mark.parametrize(
    ("published", "expected", "label"),
    [
        ("j1", {"none": 1.0}, "none"),
        ("j2", {"toxic": 1.0}, "toxic"),
        ("j3", {"toxic": 1.0, "insult": 1.0}, None),
    ],
)
def test_jigsaw_several_labels_may_apply(published, expected, label, tmp_path):
    corpus = installed("jigsaw", tmp_path)
    assert shares(corpus, published) == expected
    assert gold_of(corpus, published)["label"] == label
    assert gold_of(corpus, published)["multiple"]


def test_jigsaw_draws_restore_the_base_rate(tmp_path):
    # Kept: 41,314 of 143,346 without a label, 14,466 of 16,225 with one, every threat.
    draws = installed("jigsaw", tmp_path).draws
    expected = [143_346 / 41_314, 16_225 / 14_466, 16_225 / 14_466, 1.0]
    assert draws["weight"].to_list() == pytest.approx(expected)
    assert (draws["probability"] * draws["weight"]).to_list() == pytest.approx([1.0] * 4)
    assert draws["flag"].to_list() == [False, True, True, True]


def test_perspective_names_of_attributes_agree(tmp_path):
    # TOXICITY@6 and toxicity are TOXICITY; @5 is an earlier version, a detector of its own.
    scores = installed("perspective_scores", tmp_path).scores
    wanted = scores.filter(attribute="TOXICITY").select("post", "detector", "p").sort("p")
    assert wanted.rows() == [
        ("perspective_scores:wikipedia:j9", "perspective", 0.1),
        ("perspective_scores:wikipedia:j9", "perspective (earlier version)", 0.1),
        ("perspective_scores:rtp:f.txt:0-9:prompt", "perspective", 0.2),
        ("perspective_scores:wikipedia:j2", "perspective (earlier version)", 0.8),
        ("perspective_scores:wikipedia:j2", "perspective", 0.9),
    ]
    assert set(scores["attribute"]) == {"TOXICITY", "SEVERE_TOXICITY", "SPAM"}


def test_perspective_text_without_scores_is_a_post(tmp_path):
    corpus = installed("perspective_scores", tmp_path)
    unscored = "perspective_scores:rtp:f.txt:0-9:continuation"
    assert unscored in corpus.posts["id"]
    assert unscored not in corpus.scores["post"]
    assert corpus.notes[0] == "1 texts have no scores."


def test_perspective_labels_are_those_of_jigsaw(tmp_path):
    corpus = installed("perspective_scores", tmp_path)
    assert corpus.gold["post"].to_list() == ["perspective_scores:wikipedia:j2"]
    assert shares(corpus, "wikipedia:j2") == {"toxic": 1.0, "insult": 1.0}
