"""Kirk's printed figures hold together, and detectors with known answers get theirs beside them."""

import csv
import re

import numpy as np
import polars as pl
import pytest

from contracts.corpora import MADE_UP
from evenhand.core.errors import BadInput, UnknownComponent
from evenhand.core.measures import MEASURES
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.data.find import find
from evenhand.data.labels import HATEFUL, OTHER
from evenhand.models.find import detector as find_detector
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.predictions import predictions
from evenhand.studies import kirk
from evenhand.studies.kirk_rows import published_3, published_8, verdict
from evenhand.studies.kirk_tables import (
    EMOJI_3,
    EMOJI_4,
    MODELS,
    SETS,
    TABLE_3,
    TABLE_4,
    TABLE_8,
    TABLE_9,
    hateful_cases,
    label_of,
    mean_of_rounds,
    rounds_disagree,
    without_append,
)
from evenhand.studies.parts import How
from evenhand.studies.reproduce import reproduce
from factories import finding, value

# Half a unit of the last printed place.
THREE, TWO = 0.0005, 0.005
NO_EMOJI = "no_emoji_perturb"
CELLS = [(f, s, *row) for f, sets in TABLE_4.items() for s, row in sets.items()]


def mean(pairs):
    pairs = list(pairs)
    return sum(n * x for n, x in pairs) / sum(n for n, _ in pairs)


def part(**group):
    return tuple(group.items())


# What is printed


@pytest.mark.parametrize("key", ["label", "set"])
def test_the_parts_of_table_3_give_its_first_row(key):
    parts = [row for group, row in TABLE_3.items() if group and group[0][0] == key]
    assert sum(n for n, _ in parts) == TABLE_3[()][0] == 3930
    for at in range(len(MODELS)):
        whole = mean((n, figures[at]) for n, figures in parts)
        assert whole == pytest.approx(TABLE_3[()][1][at], abs=2 * THREE)


@pytest.mark.parametrize("group", [g for g in TABLE_3 if g], ids=lambda g: f"{g[0][0]}-{g[0][1]}")
def test_table_4_gives_the_parts_of_table_3(group):
    [(key, wanted)] = group
    rows = [
        (n, figures)
        for functionality, set_, n, figures in CELLS
        if wanted == (set_ if key == "set" else label_of(functionality, set_))
    ]
    assert sum(n for n, _ in rows) == TABLE_3[group][0]
    for at in range(len(MODELS)):
        whole = mean((n, figures[at]) for n, figures in rows)
        assert whole == pytest.approx(TABLE_3[group][1][at], abs=TWO + THREE)


def test_the_printed_emoji_differences_are_those_of_the_printed_rows():
    for at in range(len(MODELS)):
        first, second = (TABLE_3[part(set=s)][1][at] for s in ("orig", NO_EMOJI))
        assert first - second == pytest.approx(EMOJI_3[at], abs=3 * THREE)
        for name, values in EMOJI_4.items():
            first, second = (TABLE_4[name][s][1][at] for s in ("orig", NO_EMOJI))
            assert first - second == pytest.approx(values[at], abs=3 * TWO)
    assert set(TABLE_4) - set(EMOJI_4) == {"append"}


def test_every_printed_accuracy_is_a_share_of_its_cases():
    rows = [(n, figures, TWO) for _, _, n, figures in CELLS]
    rows += [(n, figures, THREE) for n, figures in TABLE_3.values()]
    for n, figures, slack in rows:
        for x in figures:
            assert abs(round(x * n) / n - x) <= slack + 1e-9


def test_table_8_repeats_table_3():
    for at, model in enumerate(MODELS):
        accuracy, f1 = TABLE_8[model][list(SETS).index("hatemojicheck")]
        assert accuracy == TABLE_3[()][1][at]
        # Hits are the hateful cases answered rightly, errors all others answered wrongly.
        hits = 2654 * TABLE_3[part(label=HATEFUL)][1][at]
        errors = 3930 - hits - 1276 * TABLE_3[part(label=OTHER)][1][at]
        assert 2 * hits / (2 * hits + errors) == pytest.approx(f1, abs=0.0015)


def test_accuracy_and_f1_of_table_8_can_both_be():
    # F1 = 2 h / (2 h + e), so that the hits are h = F1 e / (2 − 2 F1); no more than are right.
    for pairs in TABLE_8.values():
        for n, (accuracy, f1) in zip(SETS.values(), pairs, strict=True):
            hits = f1 * n * (1 - accuracy) / (2 - 2 * f1)
            assert 0 < hits < n * accuracy


def test_most_accuracies_on_all_rounds_do_not_fit_their_parts():
    # P-IA: (593 × .508 + 4119 × .679) / 4712 = .6575; B-D: .5764, printed .591 above .489 and .589.
    assert mean_of_rounds("P-IA") == pytest.approx(0.6575, abs=5e-5)
    assert mean_of_rounds("B-D") == pytest.approx(0.5764, abs=5e-5)
    assert rounds_disagree() == ["B-D", "B-F", "R5-T", "R6-T", "R7-T", "R8-T"]


def test_table_9_is_what_the_text_says_of_it():
    def span(*rows):
        ratios = [x for row in rows for x in TABLE_9[row]]
        return round(min(ratios), 2), round(max(ratios), 2)

    assert span("B-D", "B-F") == (0.14, 0.28)
    assert span("P-IA", "P-TX") == (0.41, 0.67)
    assert [round(x, 2) for x in TABLE_9["R5-T"]] == [0.9, 0.77]
    assert max(TABLE_9.values()) == TABLE_9["R5-T"]


# What follows from print


def test_the_emoji_difference_without_append_by_hand():
    # Originals: (2126 × .877 − 288 × .87) / 1838 = 1613.942 / 1838 = .87810
    # Without emoji: (588 × .910 − 60 × .37) / 528 = 512.88 / 528 = .97136
    found, low, high = without_append("R8-T")
    assert found == pytest.approx(0.87810 - 0.97136, abs=1e-5)
    assert round(found, 2) == -0.09
    # Rounding: (2126 × .0005 + 288 × .005) / 1838 + (588 × .0005 + 60 × .005) / 528 = .002487
    assert (low, high) == pytest.approx((found - 0.002487, found + 0.002487), abs=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_the_other_rows_of_table_4_give_the_same(model):
    at = MODELS.index(model)
    first, second = (
        mean((TABLE_4[f][s][0], TABLE_4[f][s][1][at]) for f in EMOJI_4) for s in ("orig", NO_EMOJI)
    )
    found, low, high = without_append(model)
    assert low - 2 * TWO < first - second < high + 2 * TWO
    assert found < EMOJI_3[at] - 0.04  # the printed ones flatter every model


def test_constants_of_the_whole_suite():
    assert [hateful_cases(group) for group in TABLE_3] == [2654, 2654, 0, 2126, 0, 0, 528]
    found = list(published_3())
    always = {"table": "3", "baseline": "always-positive"}
    assert value(found, "accuracy", **always) == pytest.approx(2654 / 3930)
    # 60 of 588 cases without emoji are harmless: 1 − 528/588.
    assert value(found, "emoji_difference", **always, form="as printed") == pytest.approx(60 / 588)
    assert value(found, "emoji_difference", **always, form="without append") == 0
    always = {"table": "8", "baseline": "always-positive"}
    # F1 of always hateful: 2 s / (1 + s) with s = 2654/3930.
    f1 = value(published_8(), "f1", **always, on="hatemojicheck", label=HATEFUL)
    assert f1 == pytest.approx(2 * 2654 / (3930 + 2654))
    unknown = finding(published_8(), "accuracy", **always, on="hatecheck")
    assert unknown.value is None and "does not print how many" in unknown.why


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.01, 0.2, "better"), (0.0, 0.2, "level"), (-0.1, 0.1, "level"), (-0.2, -0.01, "worse"),
     (None, None, "–")],
)  # fmt: skip
def test_better_only_when_the_lower_bound_is(low, high, said):
    gap = Finding(measure="difference_from_paper", value=0.05, n=9, low=low, high=high)
    assert verdict(gap) == said
    assert verdict(None) == "–"


# Detectors on made-up files

IDENTITIES = ("sailors", "archers", "bakers")
TEMPLATES = range(1, 13)


def check_rows():
    """Two functionalities of six templates: originals, polarity, identity, without emoji."""
    number = 0
    for template in TEMPLATES:
        functionality = "append" if template > 6 else "verb_swap"
        for set_ in ("orig", "polarity_perturb", NO_EMOJI, "identity_perturb"):
            who = ("None",) if set_ == "identity_perturb" else IDENTITIES
            hateful = label_of(functionality, set_) == HATEFUL
            for identity in who:
                number += 1
                mark = "damn " if hateful else ""
                text = f"{mark}{identity} {set_} number {template}"
                cell = f"{template}.{set_}"
                yield (
                    number, cell, template, text, identity, functionality, set_, int(hateful)
                )  # fmt: skip


def install(folder, *, backwards=False, names=("hatecheck", "hatemojibuild", "dynahate")):
    for name in names:
        MADE_UP[name].write(folder)
    rows = list(check_rows())
    (folder / "hatemojicheck").mkdir(parents=True, exist_ok=True)
    with (folder / "hatemojicheck" / "test.csv").open("w", newline="", encoding="utf-8") as file:
        heads = "case_id,templ_id,test_group_id,text,target,functionality,set,label_gold"
        csv.writer(file).writerow(heads.split(","))
        csv.writer(file).writerows(reversed(rows) if backwards else rows)
    return folder


class Words:
    """Flags what has one of its words."""

    attributes = ("HATE",)
    provenance = {}

    def __init__(self, name, *words):
        self.name, self.words = name, words

    def score(self, texts):
        return np.array([[0.9 if any(w in t for w in self.words) else 0.1] for t in texts])


RIGHT, SOUR = Words("right", "damn"), Words("sour", "damn sailors", "damn archers", "polarity")


def study(folder, *detectors, tables=kirk.TABLES, how=None, **options):
    run = Run(["reproduce", "kirk"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_DATA", str(folder))
        parts = kirk.reproduce(run, list(tables), how or How(), detectors, **options)
    return run, parts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return install(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def made(folder):
    return study(folder, RIGHT, SOUR)


def ours(made, measure, **group):
    return finding([f for f in made[0].findings if f.origin == "data"], measure, **group)


def test_table_3_by_hand(made):
    # 12 templates of 3 originals, 3 polarity, 3 without emoji and 1 identity: 120 cases. Hateful:
    # 36 originals and 18 without emoji (verb swap). Sour finds sailors and archers of them, misses
    # bakers, and flags every polarity case. Right: 24 + 12 of 54 hateful, and of 66 harmless the
    # 18 of append without emoji and the 12 identity perturbations.
    own = {"table": "3", "detector": "sour"}
    assert ours(made, "accuracy", **own).n == 120
    assert ours(made, "accuracy", **own).value == pytest.approx(66 / 120)
    assert ours(made, "accuracy", **own, label=HATEFUL).value == pytest.approx(36 / 54)
    assert ours(made, "accuracy", **own, label=OTHER).value == pytest.approx(30 / 66)
    assert ours(made, "accuracy", **own, set="polarity_perturb").value == 0
    # Originals 24/36; without emoji 12/18 of verb swap and 18/18 of append.
    printed, without, matched = (
        ours(made, "emoji_difference", **own, form=form).value
        for form in ("as printed", "without append", "template-matched")
    )
    assert (printed, without) == pytest.approx((24 / 36 - 30 / 36, 24 / 36 - 12 / 18))
    assert matched == pytest.approx(0)
    assert ours(made, "accuracy", table="3", detector="right").value == 1


def test_constant_answers_are_rows_on_the_installed_cases(made):
    for name, right in (("always-positive", 54), ("always-negative", 66)):
        own = {"baseline": name}
        assert ours(made, "accuracy", table="3", **own).value == pytest.approx(right / 120)
        on = {"table": "8", **own, "on": "hatemojicheck"}
        assert ours(made, "accuracy", **on).value == pytest.approx(right / 120)
    ratio = "demographic_parity_ratio"
    assert ours(made, ratio, table="9", baseline="always-positive").value == 1
    never = ours(made, ratio, table="9", baseline="always-negative")
    assert never.value is None and never.why


def test_printed_rows_stand_under_the_same_names(made):
    printed = [f for f in made[0].findings if f.origin == "published"]
    cell = {"functionality": "verb_swap", "set": "orig", "label": HATEFUL}
    assert value(printed, "accuracy", table="4", detector="R8-T", **cell) == 0.84
    assert ours(made, "accuracy", table="4", detector="sour", **cell).value == pytest.approx(2 / 3)
    undefined = finding(
        printed, "emoji_difference", table="4", detector="R8-T", functionality="append"
    )
    assert undefined.value is None and "not defined" in undefined.why
    assert value(printed, "equalized_odds_ratio", table="9", detector="R8-T") == 0.6
    assert value(printed, "demographic_parity_ratio", table="9", detector="R8-T") == 0.832


def test_differences_from_print_and_what_is_said_of_them(made):
    own = {"table": "3", "detector": "right", "of": "accuracy", "against": "R8-T"}
    gap = ours(made, "difference_from_paper", **own)
    assert gap.value == pytest.approx(1 - 0.871)
    # All right: Wilson's lower bound of 12 of 12 templates, .7575, is below .871.
    assert gap.low == pytest.approx(0.7575 - 0.871, abs=5e-5)
    said = next(s for s in made[1].summary if s.startswith("right: accuracy"))
    assert "better than P-IA; level with R5-T, R6-T, R7-T, R8-T" in said
    said = next(s for s in made[1].summary if s.startswith("sour: accuracy"))
    assert "worse than P-IA, R5-T, R6-T, R7-T, R8-T" in said


def test_the_slip_is_in_the_summary(made):
    assert any("R8-T −.033 → −.093" in sentence for sentence in made[1].summary)
    assert any("2 of 8 rows; that of B-D lies above both" in s for s in made[1].summary)
    assert any("F1 .806 (below it: P-IA, P-TX, B-D, B-F)" in s for s in made[1].summary)


def test_the_size_of_what_is_installed_is_in_summary_and_section(made):
    assert "120 of the 3,930 cases of HatemojiCheck, 3 of the 3,728" in made[1].summary[0]
    for section in made[1].sections:
        assert any("120 are installed, 3,930 are in the paper" in p for p in section.paragraphs)


def test_table_8_on_made_up_test_splits(made):
    # HatemojiBuild's test posts are one hateful and one not, dynahate's is hateful; none is damned.
    own = {"table": "8", "detector": "right"}
    for on, right, n in (("R5–R7 test", 1, 2), ("R1–R4 test", 0, 1), ("R1–R7 test", 1, 3)):
        found = ours(made, "accuracy", **own, on=on)
        assert (found.value, found.n) == (pytest.approx(right / n), n)
        assert found.low is None and "fewer than 10" in found.why
        assert ours(made, "f1", **own, on=on, label=HATEFUL).value == 0
        always = ours(made, "accuracy", table="8", baseline="always-positive", on=on)
        assert always.value == pytest.approx({2: 1 / 2, 1: 1, 3: 2 / 3}[n])


def with_pairs(folder, *, backwards=False):
    """Twelve pairs of test posts in HatemojiBuild, the odd numbers hateful; one in dynahate."""
    install(folder, names=("dynahate",))
    rows = []
    for n in range(1, 25):
        twin = n + 1 if n % 2 else n - 1
        rows.append((n, f"tea 🍵 {n}", "none", "[]", 5, "original", "test", n % 2, twin))
    heads = "entry_id,text,type,target,round.base,set,split,label_gold,matched_id"
    (folder / "hatemojibuild").mkdir()
    with (folder / "hatemojibuild" / "test.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(heads.split(","))
        csv.writer(file).writerows(reversed(rows) if backwards else rows)
    return folder


def test_twins_are_drawn_together(tmp_path):
    made = study(with_pairs(tmp_path), Words("none"), Words("all", "tea"), tables=["8"])
    found = ours(made, "accuracy", table="8", detector="all", on="R5–R7 test")
    # One post of each pair is right, whichever pairs are drawn.
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))
    # F1 0: hateful posts of twelve pairs are missed, and in all rounds one post more.
    f1 = {"table": "8", "detector": "none", "label": HATEFUL}
    assert "the 12 posts, twins together as n" in ours(made, "f1", **f1, on="R5–R7 test").method
    assert "the 13 posts, twins together as n" in ours(made, "f1", **f1, on="R1–R7 test").method


def test_the_order_of_test_posts_does_not_matter(tmp_path):
    made = [
        study(with_pairs(tmp_path / str(b), backwards=b), Words("ones", "1"), tables=["8"])
        for b in (False, True)
    ]
    found = ours(made[0], "accuracy", table="8", detector="ones", on="R1–R7 test")
    assert found.low < found.value < found.high
    assert made[0][0].findings == made[1][0].findings


def test_a_set_that_is_not_installed_is_null_with_the_reason(tmp_path):
    install(tmp_path, names=("dynahate",))
    made = study(tmp_path, RIGHT, tables=["8"])
    own = {"table": "8", "detector": "right"}
    for on in ("R5–R7 test", "R1–R7 test"):
        found = ours(made, "accuracy", **own, on=on)
        assert found.value is None
        assert "test split of hatemojibuild is not installed: `evenhand data get" in found.why
    assert ours(made, "f1", **own, on="hatecheck", label=HATEFUL).value is None
    assert ours(made, "accuracy", **own, on="R1–R4 test").value == 0


def test_without_data_and_detectors_only_print_is_shown(tmp_path):
    run, parts = study(tmp_path)
    assert {f.origin for f in run.findings if f.value is not None} == {"published"}
    grids = [grid.name for section in parts.sections for grid in section.grids]
    assert grids == ["table_3", "table_4", "table_8", "table_9"]
    assert "name detectors with --detector" in parts.summary[-1]
    assert run.data == []


def test_a_detector_without_the_suite_has_null_figures(tmp_path):
    made = study(tmp_path, RIGHT)
    for table, measure in (("3", "accuracy"), ("9", "equalized_odds_ratio")):
        found = ours(made, measure, table=table, detector="right")
        assert found.value is None and "HatemojiCheck is not installed" in found.why


def test_grids_are_rectangles_in_the_papers_order(made):
    grids = {grid.name: grid for section in made[1].sections for grid in section.grids}
    for grid in grids.values():
        assert {len(row) for row in grid.rows} == {len(grid.headings)}
        assert max(grid.narrow, default=0) < len(grid.headings)
    assert [len(grids[f"table_{t}"].rows) for t in "3489"] == [7 + 2, 7 * 5, 8 + 2, 8 + 2]
    assert grids["table_3"].rows[-1][-3:] == ["−.093", ".000", ".000"]
    assert grids["table_4"].rows[4][-1] == "−.15"
    assert len(grids["table_3_here"].rows) == 4 * 10
    here = grids["table_4_here"].rows
    assert here[0][:4] == ["right", "verb swap", "originals", "18"]
    # verb swap has an emoji difference, append has none.
    assert len(here) == 2 * (5 + 4)


def test_ratios_stand_beside_chance_and_gaps(made):
    # Sour flags 12 + 6 damned and 12 kind cases of 42 of sailors and of archers, 12 of bakers.
    own = {"table": "9", "detector": "sour"}
    counted = {"sailors": 12 + 6 + 12, "bakers": 12}
    rates = {name: ours(made, "selection_rate", figure="2", detector="sour", identity=name).value
             for name in counted}  # fmt: skip
    n = 36  # 12 originals, 12 polarity, 12 without emoji
    assert rates == {name: pytest.approx(k / n) for name, k in counted.items()}
    assert ours(made, "demographic_parity_ratio", **own).value == pytest.approx(12 / 30)
    assert 0 < ours(made, "demographic_parity_ratio_shuffled", **own).value < 1
    assert ours(made, "recall_gap", **own).value == 1
    assert ours(made, "recall_gap_p", **own, cases="comparable").value < 0.05


def test_figure_2_has_six_panels_and_the_true_share(made):
    section = made[1].sections[-1]
    assert section.title.startswith("Figure 2")
    assert len(section.figures) == 6
    share = ours(made, "label_share", figure="2", identity="bakers", label=HATEFUL)
    assert (share.value, share.n) == (pytest.approx(18 / 36), 36)
    flagged = section.figures[-1]
    assert "bakers: truly hateful .500" in flagged.alt
    assert all(re.search("archers: sour", panel.alt) for panel in section.figures)
    assert [row[1] for row in section.grids[0].rows] == ["archers", "bakers", "sailors"] * 2


def test_a_single_detector_needs_no_name_in_the_panels(folder):
    panels = study(folder, RIGHT, tables=["9"])[1].sections[-1].figures
    assert "Bars: archers 1.000" in panels[0].alt


def test_findings_have_places_of_their_own_and_known_measures(made):
    found = made[0].findings
    keys = [(f.measure, f.origin, *sorted(f.group.items())) for f in found]
    assert len(set(keys)) == len(keys)
    assert {f.measure for f in found} <= set(MEASURES)


def test_the_order_of_rows_does_not_matter(made, tmp_path):
    again = study(install(tmp_path, backwards=True), RIGHT, SOUR)
    assert again[0].findings == made[0].findings


def test_posts_a_detector_was_trained_on_are_left_out(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_DATA", str(folder))
        corpus = find("hatemojibuild")
    # Posts 2 and 4: of the test split only 5 is left.
    posts = corpus.posts.filter(pl.col("id").is_in(["hatemojibuild:2", "hatemojibuild:4"]))
    trained = NaiveBayes(hateful=("1",), min_df=1).fit(posts, corpus.gold, seed=0)
    made = study(folder, trained, tables=["8"])
    own = {"table": "8", "detector": trained.name}
    assert ours(made, "accuracy", **own, on="R5–R7 test").n == 1
    assert any(
        "R5–R7 test: 1 left out for naive-bayes" in p for p in made[1].sections[0].paragraphs
    )
    posts = corpus.posts.filter(pl.col("id").is_in(["hatemojibuild:4", "hatemojibuild:5"]))
    trained = NaiveBayes(hateful=("1",), min_df=1).fit(posts, corpus.gold, seed=0)
    found = ours(study(folder, trained, tables=["8"]), "accuracy", **own, on="R1–R7 test")
    assert found.value is None and "trained on all 2 posts of the test split" in found.why


def test_templates_a_detector_has_seen_are_left_out(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_DATA", str(folder))
        corpus = find("hatemojicheck")
    # Cases 1 and 4 (an original and a polarity perturbation) are of the first template, of ten.
    posts = corpus.posts.filter(pl.col("id").is_in(["hatemojicheck:1", "hatemojicheck:4"]))
    trained = NaiveBayes(hateful=("1",), min_df=1).fit(posts, corpus.gold, seed=0)
    made = study(folder, trained, tables=["3"])
    assert ours(made, "accuracy", table="3", detector=trained.name).n == 120 - 10
    assert any("HatemojiCheck: 10 left out for naive-bayes" in p for p in
               made[1].sections[0].paragraphs)  # fmt: skip
    trained = NaiveBayes(hateful=("1",), min_df=1).fit(corpus.posts, corpus.gold, seed=0)
    found = ours(study(folder, trained, tables=["3"]), "accuracy", table="3", detector=trained.name)
    assert found.value is None and "every template" in found.why


def test_a_file_of_predictions_that_knows_one_suite_only(folder, tmp_path):
    rows = [(f"hatemojicheck:{row[0]}", 0.9 if row[-1] else 0.1) for row in check_rows()]
    known = pl.DataFrame(rows, schema=["id", "p"], orient="row")
    known.write_csv(tmp_path / "mine.csv")
    made = study(folder, predictions(tmp_path / "mine.csv"))
    assert ours(made, "accuracy", table="3", detector="mine.csv").value == 1
    for on in ("hatecheck", "R5–R7 test"):
        found = ours(made, "accuracy", table="8", detector="mine.csv", on=on)
        assert found.value is None and "no row for" in found.why
    known.head(100).write_csv(tmp_path / "part.csv")
    with pytest.raises(BadInput, match="no row for 20 of the posts"):
        study(folder, predictions(tmp_path / "part.csv"), tables=["3"])


def test_a_detector_that_fails_on_some_texts(folder):
    class Fussy(Words):
        def score(self, texts):
            if any("number 3" in text for text in texts):
                raise ValueError("threes are not my thing")
            return super().score(texts)

    made = study(folder, Fussy("fussy", "damn"), tables=["3", "8"])
    # The ten cases of template 3 count as wrong.
    assert ours(made, "accuracy", table="3", detector="fussy").value == pytest.approx(110 / 120)
    words = "fussy failed on 10 texts of HatemojiCheck"
    assert all(any(words in p for p in s.paragraphs) for s in made[1].sections)


def test_the_attribute_is_used_where_a_detector_has_it(folder):
    class Two(Words):
        attributes = ("TOXICITY", "IDENTITY_ATTACK")

        def score(self, texts):
            one = super().score(texts)
            return np.hstack([one, 1 - one])

    made = study(folder, Two("two", "damn"), RIGHT, tables=["3"], attribute="IDENTITY_ATTACK")
    assert ours(made, "accuracy", table="3", detector="two").value == 0
    assert ours(made, "accuracy", table="3", detector="right").value == 1
    assert "two is judged by its IDENTITY_ATTACK score, from 0.5 on." in made[1].summary
    assert "right is judged by its HATE score, from 0.5 on." in made[1].summary


def test_a_score_of_one_half_is_flagged(folder):
    class Half(Words):
        def score(self, texts):
            return np.full((len(texts), 1), 0.5)

    made = study(folder, Half("half"), tables=["3"])
    assert ours(made, "accuracy", table="3", detector="half", label=HATEFUL).value == 1


def test_progress_names_detector_and_set(folder):
    told = []
    study(folder, RIGHT, tables=["8"], how=How(step=lambda *step: told.append(step)))
    assert {what for what, _, _ in told} >= {"right: hatemojicheck", "right: dynahate"}


def test_quick_says_that_it_changes_nothing(folder):
    assert study(folder, how=How(quick=True))[1].summary[0].startswith("--quick changes nothing")


def test_what_is_refused(folder, tmp_path):
    with pytest.raises(BadInput, match="kirk has tables 3, 4, 8, 9 here; not 5"):
        study(folder, tables=["3", "5"])
    with pytest.raises(BadInput, match="two detectors are called 'right'"):
        study(folder, RIGHT, Words("right", "fool"))
    with pytest.raises(BadInput, match="--detector and --attribute are for kirk: park trains"):
        reproduce(Run(["x"]), "park", (), detectors=["mine"])
    with pytest.raises(UnknownComponent, match="no detector 'mine'"):
        reproduce(Run(["x"]), "kirk", (), detectors=["mine"])


def test_a_detector_by_name_as_it_is_typed(folder, tmp_path, monkeypatch):
    (tmp_path / "kirkwords.py").write_text(
        "def score(texts):\n    return ['damn' in text for text in texts]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(folder))
    run, name = Run(["x"]), "python:kirkwords:score"
    assert find_detector(name).name == name
    parts = reproduce(run, "kirk", ["3"], detectors=[name])
    assert ours((run, parts), "accuracy", table="3", detector=name).value == 1
    assert [data.name for data in run.data] == ["hatemojicheck"]
