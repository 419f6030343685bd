import re
import tomllib
import unicodedata
from importlib.resources import files

import polars as pl
import pytest

from evenhand.audits.filling import MISSPELLINGS, substituted
from evenhand.audits.slurs import masked_words, our_slurs
from evenhand.audits.suites import NOT_VALIDATED, find_suite

OURS = ("emoji-hate", "hate-functions")
SETS = ("orig", "identity_perturb", "polarity_perturb", "no_emoji_perturb")
# kirk, tables 1 and 4: cases of each functionality in the four sets; 3,930 in all.
EMOJI_COUNTS = {
    "verb_swap": (300, 50, 60, 60),
    "identity_swap": (120, 20, 120, 120),
    "descriptor_swap": (260, 40, 60, 60),
    "double_swap": (288, 46, 60, 60),
    "append": (288, 48, 60, 60),
    "positive_confounder": (440, 65, 112, 88),
    "emoji_leetspeak": (430, 45, 430, 140),
}
IDENTITIES = {
    "emoji-hate": {
        "women", "trans people", "gay people", "black people", "disabled people", "Muslims",
    },
    "hate-functions": {
        "women", "trans people", "gay people", "black people", "disabled people", "Muslims",
        "immigrants",
    },
}  # fmt: skip
# The 29 functionalities of HateCheck by its own names, then four more of ours.
FUNCTIONS = {
    "derog_neg_emote_h", "derog_neg_attrib_h", "derog_dehum_h", "derog_impl_h",
    "threat_dir_h", "threat_norm_h", "slur_h", "slur_homonym_nh", "slur_reclaimed_nh",
    "profanity_h", "profanity_nh", "ref_subs_clause_h", "ref_subs_sent_h", "negate_pos_h",
    "negate_neg_nh", "phrase_question_h", "phrase_opinion_h", "ident_neutral_nh", "ident_pos_nh",
    "counter_quote_nh", "counter_ref_nh", "target_obj_nh", "target_indiv_nh", "target_group_nh",
    "spell_char_swap_h", "spell_char_del_h", "spell_space_del_h", "spell_space_add_h",
    "spell_leet_h",
    "dialect_h", "dialect_nh", "counter_support_nh", "ident_health_nh",
}  # fmt: skip


@pytest.fixture(scope="module")
def suites():
    return {name: find_suite(name) for name in OURS}


@pytest.fixture(params=OURS)
def suite(request, suites):
    return suites[request.param]


@pytest.fixture
def cases(suite):
    return suite.cases()


def letters(text):
    """The text in lower case without punctuation and spaces, or nothing if no letter is left."""
    kept = [c for c in text.casefold() if unicodedata.category(c)[0] not in "PZ"]
    return "".join(kept) if any(map(str.isalpha, kept)) else ""


@pytest.mark.parametrize("functionality", EMOJI_COUNTS)
def test_counts_of_emoji_hate_as_published(suites, functionality):
    cases = suites["emoji-hate"].cases().filter(pl.col("functionality") == functionality)
    counts = dict(cases.group_by("set").len().rows())
    assert counts == dict(zip(SETS, EMOJI_COUNTS[functionality], strict=True))


def test_size_of_emoji_hate(suites):
    cases = suites["emoji-hate"].cases()
    # 2,126 originals and 1,804 changes of them, 314 + 902 + 588.
    assert cases.height == 3930
    assert cases.filter(pl.col("set") == "orig").height == 2126
    assert set(cases["functionality"]) == set(EMOJI_COUNTS)


def test_gold_of_emoji_hate_as_published(suites):
    cases = suites["emoji-hate"].cases().select("functionality", "set", "hateful").unique()
    for functionality, set_, hateful in cases.rows():
        bare = set_ == "no_emoji_perturb" and functionality != "append"
        assert hateful == (set_ == "orig" or bare), (functionality, set_)


def test_size_and_parts_of_hate_functions(suites):
    cases = suites["hate-functions"].cases()
    assert cases.height >= 3000
    assert set(cases["functionality"]) == FUNCTIONS
    assert set(cases["set"]) == {"orig"}
    assert {"dialect", "reclaimed use", "counter-speech"} <= set(cases["section"])


def test_names_of_hate_functions_say_the_gold(suites):
    named = pl.col("functionality").str.ends_with("_h")
    assert suites["hate-functions"].cases().select((named == pl.col("hateful")).all()).item()


def test_dialect_is_hateful_and_harmless_in_the_same_varieties(suites):
    cases = suites["hate-functions"].cases().filter(pl.col("section") == "dialect")
    varieties = ("african-american", "british", "scottish", "irish", "australian", "indian")
    for variety in (*varieties, "nigerian", "net"):
        found = cases.filter(pl.col("template").str.contains(f"/{variety}-"))
        assert set(found["functionality"]) == {"dialect_h", "dialect_nh"}, variety


def test_identities(suite, cases):
    assert set(cases["identity"].drop_nulls()) == IDENTITIES[suite.name]


def test_every_frame_has_every_identity_once_or_one_only(suite, cases):
    frames = cases.drop_nulls("identity").group_by("frame").agg("identity")
    assert frames.height
    for frame, found in frames.rows():
        assert len(found) == 1 or sorted(found) == sorted(IDENTITIES[suite.name]), frame


def test_one_gold_label_per_functionality_and_set(cases):
    labels = cases.group_by("functionality", "set").agg(pl.col("hateful").n_unique())
    assert set(labels["hateful"]) == {1}


def test_ten_templates_or_more_and_none_above_a_tenth(cases):
    sizes = cases.group_by("functionality", "template").len()
    for (functionality,), part in sizes.group_by("functionality"):
        assert part.height >= 10, functionality
        assert part["len"].max() * 10 <= part["len"].sum(), functionality


def test_no_text_twice(cases):
    assert cases["text"].n_unique() == cases.height
    known = [found for found in map(letters, cases["text"]) if found]
    assert len(set(known)) == len(known)


def test_no_text_in_both_suites(suites):
    first, second = ({*map(letters, suites[name].cases()["text"])} - {""} for name in OURS)
    assert not first & second


def test_letters_tell_emoji_apart_but_not_case_or_punctuation():
    assert letters("Wasps, again!") == letters("wasps again")
    assert letters("Wasps again 🤢") != letters("Wasps again")
    assert letters("👎🥦") == ""


@pytest.mark.parametrize(
    "fault",
    [r"[\[\]{}]", r"\s\s|^\s|\s$", r"\s[.,;:!?]", r"\b[Aa] (?!use)[aeiouAEIOU]", r"\w[.!?]\w"],
    ids=["placeholder", "spaces", "space-before-mark", "article", "no-space-behind-mark"],
)
def test_no_fault_of_filling(cases, fault):
    assert [text for text in cases["text"] if re.search(fault, text)] == []


@pytest.fixture
def spellings(suite):
    """Every way in which the suite can write a slur, the plain one first."""
    card = files("evenhand.audits").joinpath("sources", "suites", suite.name, "suite.toml")
    ways = [*tomllib.loads(card.read_text("utf-8"))["substitutions"].values()]
    words = [word for slur in our_slurs() for word in (slur.one, slur.many)]
    ways += MISSPELLINGS.values()
    written = {substituted(f"[[{word}]]", way) for word in words for way in ways}
    # A word that is an ordinary one when a letter is left out says nothing.
    return {*words}, {one for one in written - {*words} if not re.fullmatch("[a-z]{1,4}", one)}


def holds(texts, words):
    """The texts in which one of the words stands, in either case."""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)
    return [text for text in texts if pattern.search(text)]


def test_no_slur_is_shown_however_it_is_written(suite, cases, spellings):
    plain, written = spellings
    assert holds(cases["text"], plain)
    assert bool(holds(cases["text"], written)) == (suite.name == "emoji-hate")
    assert holds(cases["shown"], [*plain, *written, *masked_words()]) == []


def test_what_has_no_slur_is_shown_as_it_is(cases):
    changed = cases.filter(pl.col("text") != pl.col("shown"))
    assert changed["shown"].str.contains("*", literal=True).all()
    assert 0 < changed.height < cases.height / 2


def test_every_functionality_says_what_it_tests(suite, cases):
    assert set(suite.about) == set(cases["functionality"])
    assert all(text.endswith(".") for text in suite.about.values())


def test_the_statement_says_that_nobody_has_judged_the_cases(suite):
    assert NOT_VALIDATED in suite.statement.annotators
