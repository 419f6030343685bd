"""Made-up files in the layout of every publisher: a few harmless rows, and what they hold.

``MADE_UP[name].write(folder)`` installs a corpus below a data folder. A test that needs other
content changes a copy: ``without`` a column or a file, ``with_value`` in one place, ``backwards``.
"""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

ID_LIST = "waseem_hovy2016/arango_Waseem_IDS.tsv"
UNKNOWN = "puzzling"
"""A label no publisher uses."""


@dataclass(frozen=True)
class Table:
    """A file of rows; its ending says how it is written."""

    frame: pl.DataFrame
    spare: tuple[str, ...] = ()
    """Columns that are published and that a reader can do without."""

    @property
    def columns(self) -> list[str]:
        return self.frame.columns

    def without(self, column: str) -> Table:
        return replace(self, frame=self.frame.drop(column))

    def backwards(self) -> Table:
        return replace(self, frame=self.frame.reverse())

    def with_value(self, at: tuple[Any, ...], value: object) -> Table:
        row, column = at
        cells = self.frame[column].to_list()
        cells[row] = value
        series = pl.Series(column, cells, dtype=self.frame.schema[column])
        return replace(self, frame=self.frame.with_columns(series))

    def place(self, file: str, at: tuple[Any, ...]) -> str:
        """How a message names the place."""
        name, row = Path(file).name, at[0]
        if file.endswith(".parquet"):
            return f"{name} row {row + 1}"
        return f"{name} line {row + (1 if file == ID_LIST else 2)}"

    def to_bytes(self, file: str) -> bytes:
        text = io.StringIO(newline="")
        if file.endswith(".parquet"):
            buffer = io.BytesIO()
            self.frame.write_parquet(buffer)
            return buffer.getvalue()
        if file == ID_LIST:  # no header, and two carriage returns at the end of every line
            text.writelines("\t".join(row) + "\r\r\n" for row in self.frame.iter_rows())
        elif file.endswith(".tsv"):  # quotes are ordinary letters
            rows = [self.frame.columns, *self.frame.iter_rows()]
            text.writelines("\t".join(row) + "\n" for row in rows)
        else:
            csv.writer(text).writerows([self.frame.columns, *self.frame.iter_rows()])
        return text.getvalue().encode()


@dataclass(frozen=True)
class Entries:
    """A JSON file: one object, an entry per post."""

    content: dict[str, Any]
    spare: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        first = next(iter(self.content.values()))
        return list(first) if isinstance(first, dict) else []

    def without(self, column: str) -> Entries:
        content = copy.deepcopy(self.content)
        del next(iter(content.values()))[column]
        return replace(self, content=content)

    def backwards(self) -> Entries:
        return replace(self, content=dict(reversed(self.content.items())))

    def with_value(self, at: tuple[Any, ...], value: object) -> Entries:
        content = copy.deepcopy(self.content)
        inner: Any = content
        for key in at[:-1]:
            inner = inner[key]
        inner[at[-1]] = value
        return replace(self, content=content)

    def place(self, file: str, at: tuple[Any, ...]) -> str:
        """How a message names the place."""
        return f"{Path(file).name} entry {at[0]!r}"

    def to_bytes(self, file: str) -> bytes:
        return json.dumps(self.content, ensure_ascii=False, indent=1).encode()


@dataclass(frozen=True)
class Label:
    """Where a label stands, and something that is none."""

    file: str
    at: tuple[Any, ...]
    wrong: object = UNKNOWN

    def __str__(self) -> str:
        return "-".join(map(str, (Path(self.file).name, *self.at)))


@dataclass(frozen=True, kw_only=True)
class MadeUp:
    """The files of a corpus by their place below the data folder, and what they hold."""

    files: dict[str, Table | Entries]
    rows: int
    posts: int
    labels: tuple[Label, ...]
    """One per file that has labels."""

    def write(self, data: Path, *, gzipped: bool = False) -> Path:
        """Install the files; all but Parquet gzipped on request. Returns ``data``."""
        for file, content in self.files.items():
            path = data / file
            path.parent.mkdir(parents=True, exist_ok=True)
            raw = content.to_bytes(file)
            if gzipped and path.suffix != ".parquet":
                path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(raw))
            else:
                path.write_bytes(raw)
        return data

    def with_file(self, file: str, content: Table | Entries) -> MadeUp:
        return replace(self, files={**self.files, file: content})

    def with_value(self, file: str, at: tuple[Any, ...], value: object) -> MadeUp:
        return self.with_file(file, self.files[file].with_value(at, value))

    def without(self, *files: str) -> MadeUp:
        return replace(self, files={f: c for f, c in self.files.items() if f not in files})

    def without_column(self, file: str, column: str) -> MadeUp:
        return self.with_file(file, self.files[file].without(column))

    def backwards(self) -> MadeUp:
        return replace(self, files={f: c.backwards() for f, c in self.files.items()})


def table(header: str, *rows: tuple[str, ...], spare: str = "") -> Table:
    """A file of texts; names separated by commas."""
    frame = pl.DataFrame(rows, schema=dict.fromkeys(header.split(","), pl.String), orient="row")
    return Table(frame, tuple(spare.split(",")) if spare else ())


_WASEEM_TEXTS = "waseem_hovy2016/waseem_hovy_text_authors.csv"
_WASEEM_2016 = "waseem2016/w+ws_labeled_data.csv"
_EXTENDED = "waseem_hovy2016/arango_extended_7006.csv"
_ROSES = "The roses opened early this spring 🌹"
_BUS = 'Bus 42 is late again, "five minutes" says the board'


def _waseem_texts() -> Table:
    return table(
        "tweet_id,text,label,labels_naacl,author",
        ("1001", _ROSES, "none", "none", "a0001"),
        ("1002", _BUS, "racism", "racism", "a0001"),
        ("1003", "Rain, then sun, then rain", "sexism", "sexism|none", "a0002"),
        ("1004", "My tomatoes won a prize", "none", "none", ""),
        ("1005", "The ferry sails at noon", "none", "none", "a0003"),
        spare="labels_naacl",
    )


def waseem_hovy() -> MadeUp:
    """1003 is listed twice, with two labels; 1005 is not listed; 1004 has no author."""
    ids = table(
        "id,label",
        ("1001", "none"),
        ("1002", "racism"),
        ("1003", "sexism"),
        ("1004", "none"),
        ("1003", "none"),
    )
    return MadeUp(
        files={ID_LIST: ids, _WASEEM_TEXTS: _waseem_texts()},
        rows=5,
        posts=4,
        labels=(Label(ID_LIST, (0, "label")), Label(_WASEEM_TEXTS, (1, "label"))),
    )


def waseem_hovy_full() -> MadeUp:
    return MadeUp(
        files={_WASEEM_TEXTS: _waseem_texts()},
        rows=5,
        posts=5,
        labels=(Label(_WASEEM_TEXTS, (1, "label")),),
    )


def waseem_2016() -> MadeUp:
    """1003 has two labels; 9999 has no text and is left out."""
    classes = (("1001", "2"), ("1002", "0"), ("1003", "1"), ("1003", "2"), ("1004", "3"))
    return MadeUp(
        files={
            _WASEEM_2016: table("id,class", *classes, ("9999", "2")),
            _WASEEM_TEXTS: _waseem_texts(),
        },
        rows=5,
        posts=4,
        labels=(Label(_WASEEM_2016, (1, "class")), Label(_WASEEM_TEXTS, (1, "label"))),
    )


def arango_extended() -> MadeUp:
    """w1 stands there twice, with two labels; the Davidson post has no author."""
    rows = table(
        "source,id,text,label,author",
        ("waseem_hovy", "w1", _ROSES, "sexism", "a0001"),
        ("waseem_hovy", "w1", _ROSES, "none", "a0001"),
        ("waseem_hovy", "w2", _BUS, "racism", "a0002"),
        ("davidson", "d1", "The hedge needs trimming", "hate", ""),
    )
    return MadeUp(
        files={_EXTENDED: rows}, rows=4, posts=3, labels=(Label(_EXTENDED, (1, "label")),)
    )


def davidson() -> MadeUp:
    file = "davidson2017/labeled_data.csv"
    rows = table(
        ",count,hate_speech,offensive_language,neither,class,tweet",
        ("0", "3", "0", "0", "3", "2", _ROSES),
        ("1", "6", "1", "3", "2", "1", _BUS),
        ("3", "3", "2", "1", "0", "0", "The hedge needs trimming"),
    )
    return MadeUp(files={file: rows}, rows=3, posts=3, labels=(Label(file, (1, "class")),))


def hateval() -> MadeUp:
    """The second gold changes the label of 31."""
    header = "id,text,HS,TR,AG"
    files = {
        "hateval2019/hateval2019_en_train.csv": table(
            header, ("11", _ROSES, "0", "0", "0"), ("12", _BUS, "1", "1", "0")
        ),
        "hateval2019/hateval2019_en_dev.csv": table(
            header, ("21", "Fog on the river", "0", "0", "0")
        ),
        "hateval2019/hateval2019_en_test.csv": table(
            header, ("31", "Snow by Friday", "0", "0", "0"), ("32", "Mild again", "1", "0", "1")
        ),
        "hateval2019/relabeled_en_test.csv": table(
            "id,HS,TR,AG,HS_original",
            ("31", "1", "0", "0", "1"),
            ("32", "1", "0", "0", "1"),
            spare="TR,AG,HS_original",
        ),
    }
    labels = tuple(Label(file, (0, "HS")) for file in files)
    return MadeUp(files=files, rows=5, posts=5, labels=labels)


_BUILD = "entry_id,text,type,target,round.base,round.set,set,split,label_gold,matched_text"


def hatemojibuild() -> MadeUp:
    """2 was made from 1, 4 from 3, which lies in another split."""

    def rows(*cells: tuple[str, ...]) -> Table:
        return table(f"{_BUILD},matched_id", *cells, spare="round.set,matched_text")

    groups = "['wom', 'asi.south']"
    one = ("1", "I 🌧 today", "none", groups, "5", "5a", "original", "train", "1", "I ☀️ today", "2")
    two = ("2", "I ☀️ today", "none", "[]", "5", "5b", "perturbation", "train", "0", "", "1")
    three = ("3", "Bus 🚌 gone", "none", "[]", "6", "6a", "original", "dev", "0", "", "4")
    four = ("4", "Bus 🚎 gone", "none", "[]", "6", "6b", "perturbation", "test", "1", "", "3")
    five = ("5", "No twin 🌱", "none", "[]", "7", "7a", "original", "test", "0", "", "")
    files = {
        "hatemojibuild/train.csv": rows(one, two),
        "hatemojibuild/validation.csv": rows(three),
        "hatemojibuild/test.csv": rows(four, five),
    }
    labels = tuple(Label(file, (0, "label_gold")) for file in files)
    return MadeUp(files=files, rows=5, posts=5, labels=labels)


def hatemojicheck() -> MadeUp:
    file = "hatemojicheck/test.csv"
    rows = table(
        "case_id,templ_id,test_group_id,text,target,functionality,set,label_gold,"
        "unrealistic_flags,included_in_test_suite",
        ("1", "7.1", "7", "I ☀️ gardens", "women", "append", "orig", "1", "0", "1"),
        ("2", "7.1", "7", "I ☀️ buses", "None", "append", "identity_perturb", "0", "0", "1"),
        ("3", "8.1", "8", "Rain 🌧 again", "None", "word_for_emoji", "orig", "0", "1", "1"),
        spare="unrealistic_flags,included_in_test_suite",
    )
    return MadeUp(files={file: rows}, rows=3, posts=3, labels=(Label(file, (1, "label_gold")),))


def hatecheck() -> MadeUp:
    """Case 2 was made from case 1; five of the ten people voted on each."""
    cases = "hatecheck/test_suite_cases.csv"
    votes = "hatecheck/test_suite_annotations.csv"
    people = ",".join(f"label_{number}" for number in range(1, 11))
    yes, no = "hateful", "non-hateful"
    return MadeUp(
        files={
            cases: table(
                ",functionality,case_id,test_case,label_gold,target_ident,direction,focus_words,"
                "ref_case_id,templ_id",
                ("0", "f1", "1", "I dig gardens.", yes, "women", "general", "dig", "2.0", "10"),
                ("1", "f2", "2", "I dig no gardens.", no, "women", "-", "dig", "1.0", "11"),
                ("2", "f3", "3", "Buses are late.", no, "", "-", "", "", "12"),
                spare=",focus_words",
            ),
            votes: table(
                f",functionality,case_id,templ_id,{people},count_label_h",
                ("0", "f1", "1", "10", *[yes] * 4, no, *[""] * 5, "4"),
                ("1", "f2", "2", "11", *[""] * 5, *[no] * 5, "0"),
                ("2", "f3", "3", "12", *["", no] * 5, "0"),
                spare=",functionality,templ_id,count_label_h",
            ),
        },
        rows=3,
        posts=3,
        labels=(Label(cases, (1, "label_gold")), Label(votes, (1, "label_7"))),
    )


def dynahate() -> MadeUp:
    """No ids, and the same text twice: two posts."""
    first, test = "dynahate/dynahate_train_dev.csv", "dynahate/dynahate_test.csv"
    return MadeUp(
        files={
            first: table(
                "text,label,split,rottger_part",
                (_ROSES, "0", "train", ""),
                (_BUS, "1", "train", ""),
                (_ROSES, "0", "dev", ""),
                spare="rottger_part",
            ),
            test: table("text,label,split", ("Fog on the river", "1", "test")),
        },
        rows=4,
        posts=4,
        labels=(Label(first, (1, "label")), Label(test, (0, "label"))),
    )


def _hatexplain_entry(
    key: str, text: str, votes: dict[int | str, str], rationales: list[list[int]]
) -> dict[str, Any]:
    annotators = [
        {
            "label": label,
            "annotator_id": person if isinstance(person, int) else None,
            "target": ["Women", "None"],
        }
        for person, label in votes.items()
    ]
    tokens = text.split(" ")
    return {
        "post_id": key,
        "annotators": annotators,
        "rationales": rationales,
        "post_tokens": tokens,
    }


def hatexplain() -> MadeUp:
    """t1: nobody's name; v1: a rationale too short; x1: three labels, in no division."""
    nobody = {"a": "hatespeech", "b": "hatespeech", "c": "normal"}
    named = {7: "offensive", 8: "offensive", 9: "offensive"}
    divided = {7: "hatespeech", 8: "offensive", 9: "normal"}
    dataset, divisions = "hatexplain/dataset.json", "hatexplain/post_id_divisions.json"
    entries = {
        "t1": _hatexplain_entry(
            "t1", "the 🌧 roses are late again", nobody, [[0, 1, 1, 0, 0, 1], [1, 0, 0, 0, 0, 0]]
        ),
        "v1": _hatexplain_entry("v1", "buses run late", named, [[0, 1, 1], [1, 1], [0, 0, 0]]),
        "x1": _hatexplain_entry("x1", "fog on the river", divided, []),
    }
    return MadeUp(
        files={
            dataset: Entries(entries, spare=("post_id",)),
            divisions: Entries({"train": ["t1"], "val": ["v1"], "test": []}),
        },
        rows=3,
        posts=3,
        labels=(Label(dataset, ("v1", "annotators", 1, "label")),),
    )


_GUEST = (
    "entry_id,link_id,parent_id,entry_utc,subreddit,author,body,image,level_1,level_2,level_3,"
    "strength,highlight,split"
)


def guest() -> MadeUp:
    """g1 has two rows with two labels; g2 is empty; the highlight of g3 is not in its text."""
    yes, no, place = "Misogynistic", "Nonmisogynistic", "r/gardens"
    said = "🌧🌧 He said “plant  the roses” twice"
    day = "1583020800"  # 1 March 2020
    file = "guest_misogyny/final_labels.csv"
    rows = table(
        _GUEST,
        ("g1", "t3_a", "t3_a", day, place, "u1", said, "No", yes, "", "", "", "ROSES”", "train"),
        ("g1", "t3_a", "t3_a", day, place, "u1", said, "No", no, "", "", "", 'the roses"', "train"),
        ("g2", "t3_a", "t1_g1", day, place, "", "", "Yes", no, "", "", "", "", "train"),
        ("g3", "t3_b", "", day, place, "u2", "Buses!", "No", yes, "", "", "", "trains", "test"),
        spare="link_id",
    )
    return MadeUp(files={file: rows}, rows=4, posts=3, labels=(Label(file, (1, "level_1")),))


def stormfront() -> MadeUp:
    """One sentence opens a quotation mark and never closes it."""
    labels = "stormfront/annotations_metadata.csv"
    return MadeUp(
        files={
            labels: table(
                "file_id,user_id,subforum_id,num_contexts,label",
                ("1_1", "7", "1", "0", "noHate"),
                ("1_2", "7", "1", "1", "hate"),
                ("2_1", "8", "2", "0", "relation"),
                ("2_2", "8", "2", "0", "idk/skip"),
            ),
            "stormfront/all_files.tsv": table(
                "file_id,text,sample",
                ("1_1", 'He said "plant them', "train"),
                ("1_2", '"before the frost"', "test"),
                ("2_1", "Buses, again", ""),
                ("2_2", "…", ""),
            ),
        },
        rows=4,
        posts=4,
        labels=(Label(labels, (1, "label")),),
    )


def _lewidi_entry(
    text: str, people: str, marks: str, hard_label: str, info: dict[str, Any]
) -> dict[str, Any]:
    return {
        "text": text,
        "annotation task": "made up",
        "annotations": marks,
        "annotators": people,
        "lang": "en",
        "hard_label": hard_label,
        "other_info": info,
    }


def _lewidi(stem: str, splits: dict[str, dict[str, Any]], posts: int) -> MadeUp:
    spare = ("annotation task", "lang")
    files = {f"{stem}_{split}.json": Entries(found, spare) for split, found in splits.items()}
    train = f"{stem}_train.json"
    votes = splits["train"]["1"]["annotations"].split(",")
    unknown = ",".join([*votes[1:], UNKNOWN])
    labels = (Label(train, ("1", "hard_label")), Label(train, ("1", "annotations"), unknown))
    return MadeUp(files=files, rows=posts, posts=posts, labels=labels)


def md_agreement() -> MadeUp:
    """Every split numbers from 1; Ann4 stands twice on a post."""
    info = {"domain": "gardens"}
    return _lewidi(
        "lewidi2023_md-agreement/MD-Agreement",
        {
            "train": {
                "1": _lewidi_entry(_ROSES, "Ann1,Ann2,Ann3,Ann4,Ann5", "0,0,1,0,0", "0", info),
                "2": _lewidi_entry(_BUS, "Ann1,Ann2,Ann3,Ann4,Ann4", "1,1,1,0,1", "1", info),
            },
            "dev": {"1": _lewidi_entry("Fog", "Ann5,Ann6,Ann7,Ann8,Ann9", "0,0,0,0,0", "0", info)},
            "test": {"1": _lewidi_entry("Sun", "Ann1,Ann2,Ann3,Ann4,Ann5", "1,1,1,1,1", "1", info)},
        },
        posts=4,
    )


def hs_brexit() -> MadeUp:
    people = ",".join(f"Ann{number}" for number in range(1, 7))
    info = {
        "other annotations": {"offensive language detection": "1,0,0,0,0,0"},
        "annotators group": "group1,group1,group1,group2,group2,group2",
        "group1": "target group",
        "group2": "control group",
    }
    return _lewidi(
        "lewidi2023_hs-brexit/HS-Brexit",
        {
            "train": {"1": _lewidi_entry(_ROSES, people, "1,1,1,0,0,1", "1", info)},
            "dev": {"1": _lewidi_entry(_BUS, people, "0,0,0,0,0,0", "0", info)},
            "test": {"1": _lewidi_entry("Fog", people, "1,1,1,0,0,0", "0", info)},
        },
        posts=3,
    )


_LEVELS = ("1", "0", "-1", "-2", "-3")
_SEVERAL = {
    "type": "ableism homophobic intellectual racist sexist sex_harassment transphobic",
    "target": "generalised individual system",
    "direction": "explicit implicit",
}
_CHOICES = [f"{name}.{option}" for name, options in _SEVERAL.items() for option in options.split()]


def convabuse() -> MadeUp:
    """A2 judged the first turn twice; the second turn has the same words after others."""

    def row(number: int, person: str, before: str, level: str, *chosen: str) -> tuple[str, ...]:
        marks = ["1" if found == level else "0" for found in _LEVELS]
        choices = ["1" if choice in chosen else "0" for choice in _CHOICES]
        turns = ("Hello", before, "Nice weather", "Is it, really?")
        return (str(number), person, "12.0", *turns, "GardenBot", *marks, *choices)

    file = "convabuse/ConvAbuseEMNLPfull.csv"
    levels = ",".join(f"is_abuse.{level}" for level in _LEVELS)
    rows = table(
        f"example_no,annotator_id,conv_id,prev_agent,prev_user,agent,user,bot,{levels},"
        + ",".join(_CHOICES),
        row(1, "A1", "Hi", "1"),
        row(2, "A2", "Hi", "-1", "type.racist", "type.sexist", "target.system"),
        row(3, "A2", "Hi", "-3", "direction.explicit"),
        row(4, "A1", "Good day", "0"),
        spare="example_no",
    )
    return MadeUp(files={file: rows}, rows=4, posts=2, labels=(Label(file, (3, "is_abuse.0")),))


def annotation_sensitivity() -> MadeUp:
    """The two files order their columns differently; two answers are missing."""
    train, test = (f"tweet_annotation_sensitivity/full_{s}_s.csv" for s in ("train", "test"))
    return MadeUp(
        files={
            train: table(
                "tweet.id,id,version,batch.tweet,hate.speech,offensive.language,tweet_hashed",
                ("1", "9", "A", "3", "0", "1", _ROSES),
                ("1", "8", "B", "3", "NA", "0", _ROSES),
                ("2", "8", "B", "3", "1", "NA", _BUS),
            ),
            test: table(
                "id,version,batch.tweet,hate.speech,offensive.language,tweet.id,tweet_hashed",
                ("9", "A", "4", "0", "0", "5", "Fog on the river"),
            ),
        },
        rows=4,
        posts=3,
        labels=(Label(train, (1, "hate.speech")), Label(test, (0, "offensive.language"))),
    )


def edos() -> MadeUp:
    file = "edos/edos_labelled_aggregated.csv"
    rows = table(
        "rewire_id,text,label_sexist,label_category,label_vector,split",
        ("s-1", _ROSES, "not sexist", "none", "none", "train"),
        ("s-2", _BUS, "sexist", "3. animosity", "3.1", "dev"),
        ("s-3", "Fog on the river", "not sexist", "none", "none", "test"),
    )
    return MadeUp(files={file: rows}, rows=3, posts=3, labels=(Label(file, (1, "label_sexist")),))


_SIX = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
_BITS = dict.fromkeys(_SIX, pl.Int8)


def jigsaw() -> MadeUp:
    """No label, one, two, and a threat."""
    file = "jigsaw/jigsaw_train_subset.parquet"
    frame = pl.DataFrame(
        [
            ("j1", _ROSES, 0, 0, 0, 0, 0, 0, "train"),
            ("j2", _BUS, 1, 0, 0, 0, 0, 0, "train"),
            ("j3", "Fog on the river", 1, 0, 0, 0, 1, 0, "dev"),
            ("j4", "Snow by Friday", 1, 0, 0, 1, 0, 0, "dev"),
        ],
        schema={"id": pl.String, "comment_text": pl.String, **_BITS, "split": pl.String},
        orient="row",
    )
    return MadeUp(
        files={file: Table(frame, ("split",))},
        rows=4,
        posts=4,
        labels=(Label(file, (1, "insult"), 7), Label(file, (2, "toxic"), None)),
    )


def perspective_scores() -> MadeUp:
    """j9 is no row of jigsaw and has no labels; one continuation has no scores."""
    wikipedia = "jigsaw/perspective_wikipedia_2k_part.parquet"
    prompts = "jigsaw/rtp_perspective_val_part.parquet"
    marks = ("TOXICITY@6", "SEVERE_TOXICITY@2", "SPAM", "TOXICITY@5")
    comments = pl.DataFrame(
        [
            ("j2", _BUS, 0.9, 0.4, 0.1, 0.8, 1, 0, 0, 0, 1, 0),
            ("j9", "Mild again", 0.1, 0.0, 0.2, 0.1, None, None, None, None, None, None),
        ],
        schema={
            "id": pl.String,
            "comment_text": pl.String,
            **dict.fromkeys(marks, pl.Float64),
            **_BITS,
        },
        orient="row",
    )
    texts = pl.DataFrame(
        [
            ("f.txt", 0, 9, "prompt", "Fog on the", 0.2, 0.1),
            ("f.txt", 0, 9, "continuation", "river", None, None),
        ],
        schema={
            "filename": pl.String,
            "begin": pl.Int64,
            "end": pl.Int64,
            "part": pl.String,
            "text": pl.String,
            "toxicity": pl.Float64,
            "severe_toxicity": pl.Float64,
        },
        orient="row",
    )
    return MadeUp(
        files={
            wikipedia: Table(comments, marks[1:]),
            prompts: Table(texts, ("severe_toxicity",)),
        },
        rows=4,
        posts=4,
        labels=(Label(wikipedia, (0, "threat"), 7),),
    )


MADE_UP: dict[str, MadeUp] = {
    make.__name__: make()
    for make in (
        annotation_sensitivity,
        arango_extended,
        convabuse,
        davidson,
        dynahate,
        edos,
        guest,
        hatecheck,
        hatemojibuild,
        hatemojicheck,
        hateval,
        hatexplain,
        hs_brexit,
        jigsaw,
        md_agreement,
        perspective_scores,
        stormfront,
        waseem_2016,
        waseem_hovy,
        waseem_hovy_full,
    )
}
