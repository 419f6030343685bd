"""Tables 1 and 2 of Delisle et al. 2018 on public stand-ins: the paper's own data is not public.

The stand-ins are other people's posts, questions and annotators: the kind of figure can be
compared, not its value. Table 1: agreement of crowds and of a second group. Table 2: detectors and
the crowd itself against people, on HS-Brexit, where three people of a control group judge every
post (the crowd) and three of a target group do too (in the experts' place).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evenhand.core.errors import BadInput, EvenhandError
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.data.find import data_folder, find, reader, used
from evenhand.reports import Figure, Section
from evenhand.studies import people
from evenhand.studies.compare import compare
from evenhand.studies.filters import fitted
from evenhand.studies.parts import Parts

PAPER = "delisle"
TABLES = ("1", "2")
_STAND_INS = {
    "md_agreement": "offensiveness of tweets, five crowd workers a post",
    "annotation_sensitivity": "hate speech, about 15 crowd workers a post, five questionnaires",
    "convabuse": "abuse of a bot on a five-point scale, people with gender studies",
    "hs_brexit": "hate speech, a target and a control group of three each",
    "hatexplain": "hate, offence or neither, three crowd workers a post",
}
_SHOWN = ("posts_judged", "fleiss_kappa", "krippendorff_alpha", "icc_1_1", "icc_1_k")
_TABLE_1 = {
    ("Contain Abuse", "crowd"): {"fleiss_kappa": 0.26, "icc_1_1": 0.35},
    ("Contain Abuse", "experts"): {"fleiss_kappa": 0.54, "icc_1_1": 0.70},
    ("Type of Abuse", "crowd"): {"fleiss_kappa": 0.16},
    ("Type of Abuse", "experts"): {"fleiss_kappa": 0.74},
}
# Precision and recall are printed at the threshold of F1*.
_COLUMNS = ("precision_best", "recall_best", "f1_best", "average_precision")
_TABLE_2 = {
    ("Naive Bayes", "crowd"): (0.13, 0.25, 0.17, 0.11),
    ("Naive Bayes", "experts"): (0.40, 0.27, 0.32, 0.21),
    ("Crimson Hexagon", "crowd"): (0.14, 0.40, 0.20, None),
    ("Crimson Hexagon", "experts"): (0.05, 0.04, 0.04, None),
    ("Davidson", "crowd"): (0.53, 0.27, 0.36, 0.25),
    ("Davidson", "experts"): (0.35, 0.46, 0.39, 0.25),
    ("Perspective", "crowd"): (0.45, 0.41, 0.43, 0.34),
    ("Perspective", "experts"): (0.29, 0.52, 0.38, 0.25),
    ("fine-tuned BERT", "crowd"): (0.35, 0.57, 0.43, 0.40),
    ("fine-tuned BERT", "experts"): (0.50, 0.44, 0.47, 0.36),
    ("the crowd", "experts"): (0.41, 0.53, 0.46, 0.39),
}
# Posts as far as the paper states them; how many crowd-labelled posts table 2 rests on it does not.
_POSTS = {("1", "crowd"): 73_000, ("1", "experts"): 568, ("2", "experts"): 568}


def reproduce(run: Run, wanted: list[str]) -> Parts:
    """The paper's rows beside those of the stand-ins that are installed."""
    unknown = [table for table in wanted if table not in TABLES]
    if unknown:
        raise BadInput(f"{PAPER} has tables {', '.join(TABLES)} here; not {', '.join(unknown)}")
    sections = []
    if "1" in wanted:
        sections += list(_table_1(run))
    if "2" in wanted:
        sections += list(_table_2(run))
    summary = [
        "The paper's data is not public: its rows are as printed, ours come from other corpora and "
        "can be compared in kind, not in value.",
        "The formula the paper prints as icc(1,k) is ICC(1,1), the reliability of one rater; its "
        "figures stand under that name.",
    ]
    return Parts("Delisle et al. 2018, on stand-ins", sections, summary)


def _published(measure: str, value: float | None, cohort: str, group: dict[str, str]) -> Finding:
    n = _POSTS.get((group["table"], cohort))
    missing = "no interval printed" if n else "neither n nor an interval printed"
    return Finding(
        measure=measure,
        value=value,
        n=n or 0,
        group=group,
        method="as printed",
        unit="posts",
        origin="published",
        why=missing if value is not None else "classes only: average precision does not exist",
    )


def _table_1(run: Run) -> Iterator[Section]:
    paper = [
        _published(measure, value, cohort, {"table": "1", "question": q, "cohort": cohort})
        for (q, cohort), row in _TABLE_1.items()
        for measure, value in row.items()
    ]
    run.findings += paper
    yield Section("Table 1: agreement, as printed", ["Posts with more than two votes."], paper)
    for name, about in _STAND_INS.items():
        found, figures = _agreement(run, name)
        run.findings += found
        yield Section(f"Table 1 on {name}", [f"Stand-in: {about}."], found, figures)


def _agreement(run: Run, name: str) -> tuple[list[Finding], list[Figure]]:
    if not reader(name).installed(data_folder()):
        missing = Finding(
            measure="fleiss_kappa",
            value=None,
            n=0,
            group={"table": "1", "corpus": name},
            why=f"{name} is not installed",
        )
        return [missing], []
    own = Run(run.command, run.seed)
    corpus = find(name)
    run.data.append(used(corpus))
    questions = "all" if name == "convabuse" else None
    parts = people.agree(own, corpus, people.Question(name=questions))
    kept = [
        replace(finding, group={"table": "1", "corpus": name, **finding.group})
        for finding in own.findings
        if finding.measure in _SHOWN
    ]
    return kept, [figure for section in parts.sections for figure in section.figures]


def _table_2(run: Run) -> Iterator[Section]:
    paper = [
        _published(measure, value, cohort, {"table": "2", "detector": d, "against": cohort})
        for (d, cohort), row in _TABLE_2.items()
        for measure, value in zip(_COLUMNS, row, strict=True)
    ]
    run.findings += paper
    yield Section("Table 2: detectors, as printed", [], paper)
    detectors = {}
    for source in ("davidson", "hatexplain"):
        try:
            corpus = find(source)
        except EvenhandError as error:
            yield Section(f"Table 2: naive-bayes on {source}", [str(error)])
            continue
        run.data.append(used(corpus))
        detectors[f"naive-bayes on {source}"] = fitted("naive-bayes", corpus, seed=run.seed)
    if not detectors or not reader("hs_brexit").installed(data_folder()):
        yield Section("Table 2 on hs_brexit", ["Not installed: hs_brexit, or nothing to train on."])
        return
    own = Run(run.command, run.seed)
    parts = compare(
        own, find("hs_brexit"), detectors, crowd="control group", experts="target group"
    )
    run.data += own.data
    found = [replace(f, group={"table": "2", **f.group}) for f in own.findings]
    run.findings += found
    prose = [
        "Stand-in: the control group of HS-Brexit in the crowd's place, the target group in the "
        "experts'. Unweighted: the corpus says nothing of how it was drawn.",
        "The rows of Crimson Hexagon, Davidson, Perspective and BERT are as printed only.",
    ]
    yield Section("Table 2 on hs_brexit", prose, found, parts.sections[0].figures)
