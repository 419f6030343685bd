"""A simulated campaign with known truth goes in; the exported records give it back exactly."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import typer.testing

from evenhand.cli import label
from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.core.tables import JUDGEMENTS, draws_table, judgements_table
from evenhand.data.find import read_folder, write_folder
from evenhand.labelling import opened, read_campaign, read_posts
from evenhand.labelling.export import export, flat
from evenhand.labelling.new import new_campaign
from evenhand.labelling.pseudonyms import Pseudonyms
from evenhand.labelling.records import read_records
from evenhand.labelling.report import report
from evenhand.sampling.draw import draw
from evenhand.studies.estimates import Claim, estimate_population
from evenhand.studies.people import Question, agree
from factories import make_corpus

from .conftest import CHEAP, write_campaign

ANSWERS = ("No", "Problematic", "Abusive")
KINDS = ("Racism", "Other", "Sexism or misogyny")


def truth(post: int, person: int) -> dict[str, list[str]]:
    """What a simulated person answers, from numbers alone."""
    rng = np.random.default_rng([post, person])
    level = int(np.clip((post % 3) + rng.integers(-1, 2), 0, 2))
    form = {"abuse": [ANSWERS[level]]}
    if level:
        form["type"] = sorted({KINDS[post % 3], KINDS[rng.integers(3)]})
    return form


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Sixty drawn posts, six people with three votes a post: the store's records and ours."""
    folder = tmp_path_factory.mktemp("simulated")
    rows = [{"id": f"s{n:03d}", "text": f"post {n} to @jane", "author": f"a{n % 9}"}
            for n in range(90)]  # fmt: skip
    corpus = make_corpus(rows)
    frame = pl.DataFrame(
        {
            "post": [row["id"] for row in rows],
            "stratum": [f"day {n % 3}" for n in range(90)],
            "flag": [n % 4 == 0 for n in range(90)],
        }
    )
    drawn = draw(frame, {"day 0": 300, "day 1": 500, "day 2": 700}, target=50, enrich=10, seed=1)
    posts = corpus.posts.filter(pl.col("id").is_in(drawn.draws["post"].implode()))
    corpus = replace(
        corpus, posts=posts, draws=draws_table(drawn.draws), strata=drawn.strata, origin="simulated"
    )
    new_campaign(folder / "c", "troll-patrol", corpus)
    campaign = read_campaign(folder / "c")
    hidden = Pseudonyms(campaign.secret)
    known = []
    with opened(campaign, codes=CHEAP) as store:
        found = read_posts(campaign)
        store.load(found)
        numbers = {post.text: int(post.id[1:]) for post in found.shown}
        code = store.invites.make("volunteers", most=6)
        people = [store.people.join(code) for _ in range(6)]
        for index, person in enumerate(people):
            store.people.consent(person.id)
            store.people.finish_tutorial(person.id)
            for done in range(3):
                store.people.practise(person.id, done, {})
            store.people.take_check(person.id, {"criticism": "no", "skip": "skip"})
            while (task := store.work.next(person.id)) is not None and index < 5:
                post = numbers[task.text]
                form = truth(post, index)
                store.work.vote(person.id, task.token, form, seconds=float(post))
                for question, answer in form.items():
                    known.append((f"s{post:03d}", hidden.annotator(person.name), question,
                                  [a for a in ANSWERS + KINDS_IN_ORDER if a in answer],
                                  float(post)))  # fmt: skip
        records = read_records(store, found)
    table = pl.DataFrame(
        known, schema=["post", "annotator", "question", "answer", "seconds"], orient="row"
    )
    ours = judgements_table(table.with_columns(cohort=pl.lit("volunteers")))
    return campaign, records, replace(records.corpus, judgements=ours), folder


KINDS_IN_ORDER = ("Sexism or misogyny", "Racism", "Other")
SORT = ["post", "question", "annotator"]


def test_every_judgement_comes_back(simulated):
    _, records, ours, _ = simulated
    found, known = records.corpus.judgements, ours.judgements
    columns = [name for name in JUDGEMENTS if name != "at"]
    assert found.height == known.height > 180
    assert found.select(columns).sort(SORT).equals(known.select(columns).sort(SORT))


def test_agree_and_estimate_give_the_same_figures(simulated, tmp_path):
    campaign, records, ours, _ = simulated
    export(tmp_path / "out", "records", campaign, records)
    for question in ("abuse", "type"):
        figures = []
        for corpus in (read_folder(tmp_path / "out"), ours):
            run = Run(["test"])
            agree(run, corpus, Question(name=question))
            figures.append(run.findings)
        assert figures[0] == figures[1]
    figures = []
    for corpus in (read_folder(tmp_path / "out"), ours):
        run = Run(["test"])
        estimate_population(run, corpus, Claim())
        figures.append(run.findings)
    assert figures[0] == figures[1]
    assert figures[0][0].value is not None


def test_the_report_has_agreement_by_question_and_cohort_and_estimates(simulated):
    campaign, records, ours, _ = simulated
    estimate = label.estimator(Run(["test"]))
    made = report(campaign, records, estimate=estimate, resamples=50)
    kappas = {
        (f.group["question"], f.group["cohort"]): f
        for f in made.findings
        if f.measure == "fleiss_kappa" and not f.weighted and "label" not in f.group
    }
    assert kappas["abuse", "volunteers"].low is not None
    assert kappas["abuse", "experts"].value is None and kappas["abuse", "experts"].why
    shares = [f for f in made.findings if f.measure == "population_share" and f.value is not None]
    assert {f.group["cohort"] for f in shares} == {"volunteers"}
    assert {f.origin for f in shares} == {"simulated"}
    assert any("of the mentions are hateful" in sentence for sentence in made.summary)


def test_texts_and_people_are_pseudonyms_in_every_form(simulated, tmp_path):
    campaign, records, _, _ = simulated
    for form in ("records", "dataset", "release"):
        export(tmp_path / form, form, campaign, records)
        everything = "".join(
            path.read_text(encoding="utf-8", errors="ignore")
            for path in (tmp_path / form).iterdir()
        )
        assert "jane" not in everything and campaign.secret.hex() not in everything
    dataset = pl.read_parquet(tmp_path / "dataset" / "posts.parquet")
    assert dataset.columns == ["id", "text", "targets"]
    assert not set(dataset["id"]) & set(records.corpus.posts["id"])
    release = pl.read_parquet(tmp_path / "release" / "posts.parquet")
    assert release.columns == ["id", "targets"]
    assert set(release["id"]) == set(records.corpus.posts["id"])
    for name in ("dataset", "release"):
        judged = pl.read_parquet(tmp_path / name / "judgements.parquet")
        posts = pl.read_parquet(tmp_path / name / "posts.parquet")
        assert set(judged["post"]) <= set(posts["id"])
        card = (tmp_path / name / "README.md").read_text()
        assert "Content warning" in card and "Not for decisions about a person" in card
        assert "data_files: judgements.parquet" in card


def test_csv_and_json_lines_hold_the_same_rows(simulated, tmp_path):
    campaign, records, _, _ = simulated
    export(tmp_path / "out", "records", campaign, records)
    rows = pl.read_csv(tmp_path / "out" / "judgements.csv")
    assert rows.height == records.corpus.judgements.height
    assert rows["answer"].to_list() == flat(records.corpus.judgements)["answer"].to_list()
    first = json.loads((tmp_path / "out" / "judgements.jsonl").read_text().splitlines()[0])
    assert first["answer"] == records.corpus.judgements["answer"][0].to_list()
    with pytest.raises(BadInput, match="expected one of records, dataset, release"):
        export(tmp_path / "x", "pdf", campaign, records)


def test_spans_notes_gold_posts_and_settled_cases(make_store, people_ready, tmp_path):
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / "gold.csv").write_text("id,text,abuse\ng1,gold fool,Abusive\n")
    more = '\n[[cohort]]\nname = "experts"\nrole = "expert"\noverlap = 2\n'
    store = make_store(
        posts=[{"id": "a", "text": "you fool"}, {"id": "b", "text": "hello"}],
        more=more, head='gold = "gold.csv"\ngold_rate = 0.9\n',
    )  # fmt: skip
    one, other = people_ready(store, 2, "experts")
    bad = {"abuse": "Abusive", "type": "insult", "words": "4-8", "note": "see @bob"}
    for person, form in ((one, bad), (other, {"abuse": "No"})):
        while (task := store.work.next(person)) is not None:
            mine = form if "fool" in task.text else {"abuse": "No"}
            if "gold" in task.text:
                mine = form | ({"words": "5-9"} if "words" in form else {})
            store.work.vote(person, task.token, mine)
    case = store.experts.next(one)
    store.experts.settle(one, case.task.token, {"abuse": "Problematic", "type": "insult"})
    records = read_records(store, read_posts(store.campaign))
    judgements = records.corpus.judgements
    marked = judgements.filter(pl.col("spans").list.len() > 0)
    assert marked.select("post", "question").rows() == [("a", "abuse")]
    assert marked["spans"][0].to_list() == [{"start": 4, "end": 8}]
    assert set(judgements["post"]) == {"a", "b"}
    gold = records.corpus.gold.filter(pl.col("question") == "abuse").sort("post")
    assert gold.select("post", "label", "origin").rows() == [
        ("a", "Problematic", "adjudicated"), ("b", "No", "votes"),
    ]  # fmt: skip
    assert records.checks.filter(pl.col("question") == "abuse")["right"].sum() == 1
    assert "bob" not in str(records.notes["note"].to_list()) and records.notes.height == 2


def test_small_counts_of_background_are_not_told_apart(simulated, tmp_path):
    campaign, records, _, _ = simulated
    counted = replace(records, background={"age": {"18-29": 12, "65+": 2}})
    export(tmp_path / "d", "dataset", campaign, counted)
    card = (tmp_path / "d" / "README.md").read_text()
    assert "18 to 29 12, 65 or more fewer than 5" in card


def run(*words):
    return typer.testing.CliRunner().invoke(label.app, [str(word) for word in words])


def test_the_commands(tmp_path):
    posts = "id,text\n" + "".join(f"p{n},made-up post {n}\n" for n in range(4))
    (tmp_path / "posts.csv").write_text(posts)
    folder = tmp_path / "c"
    done = run("new", folder, "--posts", tmp_path / "posts.csv", "--template", "rationale")
    assert done.exit_code == 0, done.output
    done = run("invite", folder, "--codes", "2", "--json")
    assert len(json.loads(done.stdout)["codes"]) == 2
    done = run("export", folder, "--out", tmp_path / "out")
    assert "0 answers about 4 posts" in done.output
    assert read_folder(tmp_path / "out").posts.height == 4
    done = run("report", folder, "--out", tmp_path / "report", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["findings"]
    kappas = [f for f in found if f["measure"] in ("fleiss_kappa", "population_share")]
    assert kappas and all(f["value"] is None and f["why"] for f in kappas)
    assert (tmp_path / "report" / "report.html").exists()
    done = run("export", folder, "--out", tmp_path / "o2", "--form", "pdf")
    assert isinstance(done.exception, BadInput)


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from evenhand.cli import label; import evenhand.labelling;"
        "print(sorted({'numpy', 'polars', 'sqlalchemy', 'litestar'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_folder_of_records_can_be_a_campaigns_posts(simulated, tmp_path):
    _, records, _, _ = simulated
    write_folder(replace(records.corpus, judgements=None, gold=None), tmp_path / "sample")
    folder = write_campaign(tmp_path / "c")
    text = (folder / "campaign.toml").read_text()
    (folder / "campaign.toml").write_text(text.replace('"posts.csv"', '"../sample"'))
    assert len(read_posts(read_campaign(folder)).shown) == records.corpus.posts.height
