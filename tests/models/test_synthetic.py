"""Sentences made for training: balance, holding out, and exchanging identities."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import numpy as np
import pytest

from evenhand.core.errors import BadInput
from evenhand.models import synthetic
from evenhand.models._synthetic_source import SLUR_SLOTS, TERM_SLOTS, slots, source, words
from evenhand.models.synthetic import FAMILIES, Sentence, regendered, sentences, swapped, templates

IDENTITIES = source()["identities"]


@pytest.fixture(scope="module")
def made() -> list[Sentence]:
    return sentences(3, many=12_346)


def by_label(made: list[Sentence]) -> tuple[Counter[str | None], Counter[str | None]]:
    hateful = Counter(s.identity for s in made if s.hateful)
    return hateful, Counter(s.identity for s in made if not s.hateful)


# The data


def test_there_are_enough_of_everything() -> None:
    kinds = Counter(template.kind for template in templates())
    assert len(kinds) >= 35
    assert min(kinds.values()) >= 30
    assert 1900 <= len(templates()) <= 2300
    axes = Counter(about["axis"] for about in IDENTITIES.values())
    assert len(axes) == 9
    assert set(axes.values()) == {14}


def test_every_slot_can_be_filled_and_every_list_serves_both_labels() -> None:
    used: dict[str, set[bool]] = defaultdict(set)
    for template in templates():
        for slot in slots(template.text):
            used[slot].add(template.hateful)
    lists = set(used) - {"a", "sign", *TERM_SLOTS, *SLUR_SLOTS}
    assert lists == set(source()["lists"])
    abusive = {"vile", "vermin", "harmed", "vice", "beast", "weapon", "sick", "clown"}
    assert all(used[slot] == {True, False} for slot in abusive)


def test_slurs_and_signs_belong_to_known_identities() -> None:
    assert set(source()["slurs"]) <= set(IDENTITIES)
    assert set(source()["signs"]) <= set(IDENTITIES)


def test_no_template_stands_there_twice() -> None:
    texts = [re.sub(r"\W", "", template.text.lower()) for template in templates()]
    assert len(set(texts)) == len(texts)


def test_about_a_tenth_of_each_kind_is_held_out_in_every_family() -> None:
    for kind in {template.kind for template in templates()}:
        some = [template.held_out for template in templates() if template.kind == kind]
        assert sum(some) == max(1, round(len(some) / 10))
    sides = {(t.family, t.hateful, t.held_out) for t in templates()}
    assert len(sides) == len(FAMILIES) * 2 * 2


# The sentences


def test_half_are_hateful_and_no_two_are_equal(made: list[Sentence]) -> None:
    assert len(made) == 12_346
    assert sum(sentence.hateful for sentence in made) == 6173
    assert len({sentence.text for sentence in made}) == 12_346


def test_every_identity_is_in_as_many_hateful_as_harmless_sentences(made: list[Sentence]) -> None:
    hateful, harmless = by_label(made)
    assert hateful == harmless
    assert set(hateful) == {*IDENTITIES, None}


@pytest.mark.parametrize("many", [2, 100, 1334])
@pytest.mark.parametrize("held_out", [False, True])
def test_the_balance_holds_for_any_number_on_either_side(many: int, held_out: bool) -> None:
    hateful, harmless = by_label(sentences(1, many=many, held_out=held_out))
    assert hateful == harmless
    assert hateful.total() == many // 2


def test_identities_of_a_family_occur_equally_often(made: list[Sentence]) -> None:
    family = {template.name: template.family for template in templates()}
    for one in FAMILIES:
        counts = Counter(s.identity for s in made if s.hateful and family[s.template] == one)
        assert max(counts.values()) - min(counts.values()) <= 1


def test_templates_of_a_family_and_label_are_used_equally_often(made: list[Sentence]) -> None:
    used = Counter(sentence.template for sentence in made)
    groups: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for template in templates():
        if not template.held_out:
            groups[template.family, template.hateful].append(used[template.name])
    assert all(max(counts) - min(counts) <= 1 for counts in groups.values())


def test_a_template_meets_all_kinds_of_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    # A quarter of the templates, about 25 sentences of each over 126 identities: nearly every pair
    # is there once.
    some = templates()[::4]
    monkeypatch.setattr(synthetic, "templates", lambda: some)
    pairs = Counter(
        (s.template, s.identity)
        for s in sentences(3, many=12_000)
        if s.identity and not {"slur", "slurs", "sign"} & set(slots(_text(s.template)))
    )
    assert max(pairs.values()) <= 3
    assert sum(times == 1 for times in pairs.values()) >= 0.9 * len(pairs)
    axes = defaultdict(set)
    for template, who in pairs:
        axes[template].add(IDENTITIES[who]["axis"])
    assert min(map(len, axes.values())) >= 7


def _text(name: str) -> str:
    return next(template.text for template in templates() if template.name == name)


def test_the_sides_share_no_template(made: list[Sentence]) -> None:
    kept = {sentence.template for sentence in sentences(3, many=600, held_out=True)}
    assert not kept & {sentence.template for sentence in made}
    assert kept == {template.name for template in templates() if template.held_out}


def test_the_seed_decides() -> None:
    assert sentences(5, many=60) == sentences(5, many=60)
    assert sentences(5, many=60) != sentences(6, many=60)


def test_nothing_is_left_unfilled(made: list[Sentence]) -> None:
    assert not [s.template for s in made if re.search(r"[{}~]|  ", s.text)]
    assert not [s.template for s in made if re.search(r"\ban? an? \w\w", s.text)]


def test_the_word_for_the_identity_is_in_the_sentence(made: list[Sentence]) -> None:
    plain = [s for s in made if s.kind in ("positive", "rights")]
    for sentence in plain:
        # A slip exchanges two letters, so a term is found by its letters in any order.
        options = [w.lower() for form in TERM_SLOTS for w in words(form, sentence.identity)]
        text = sentence.text.lower()
        assert any(
            sorted(text[at : at + len(word)]) == sorted(word)
            for word in options
            for at in range(len(text))
        ), sentence.template


@pytest.mark.parametrize("many", [0, -2, 7])
def test_a_number_that_cannot_be_halved_is_refused(many: int) -> None:
    with pytest.raises(BadInput, match="expected an even number"):
        sentences(1, many=many)


def test_more_than_the_templates_give_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = [
        synthetic.Template(f"{kind}/{family}", kind, text, kind == "bad", family, False)
        for kind in ("bad", "good")
        for family, text in (
            ("identity", "hello {many}"),
            ("slur", "hello {slur}"),
            ("sign", "hello {sign}"),
            ("nobody", "hello"),
        )
    ]
    monkeypatch.setattr(synthetic, "templates", lambda: tuple(one))
    with pytest.raises(BadInput, match="ask for fewer"):
        sentences(1, many=40_000)


# Exchanging identities


def swap(text: str, seed: int = 0) -> str | None:
    return swapped(text, np.random.default_rng(seed))


@pytest.mark.parametrize(
    "text",
    [
        "Nothing to see here",
        "womenfolk and Jewishness",
        "anti-Muslim #muslims @jews /gay",
        "a black car, the old house, a blind corner",
        "oh man, the poles of the tent",
        "The night is black and the house is old",
        "",
    ],
)
def test_a_text_that_names_nobody_has_no_other(text: str) -> None:
    assert all(swap(text, seed) is None for seed in range(20))


@pytest.mark.parametrize("seed", range(40))
def test_the_form_stays(seed: int) -> None:
    many = {word for who in IDENTITIES for word in words("many", who)}
    adjectives = {word for who in IDENTITIES for word in words("adj", who)}
    text = swap("I saw women there", seed)
    assert text is not None and text.removeprefix("I saw ").removesuffix(" there") in many
    text = swap("Ask the black man there", seed)
    assert text is not None and text.removeprefix("Ask the ").removesuffix(" man there") in {
        word.lower() for word in adjectives
    }
    text = swap("She is gay", seed)
    assert text is not None and text.removeprefix("She is ") in adjectives


@pytest.mark.parametrize("seed", range(40))
def test_case_article_and_possessive_follow(seed: int) -> None:
    one = swap("He met an Arab today", seed)
    assert one is not None and re.fullmatch(
        r"He met (an [AEIOUaeiou]|a [^AEIOUaeiou]).* today", one
    )
    assert (swap("MUSLIMS CAME", seed) or "").isupper()
    assert (swap("muslims came", seed) or "").islower()
    assert (swap("Women came. Women left.", seed) or "")[0].isupper()
    belongs = swap("the Jews' street", seed) or ""
    assert re.fullmatch(r"the (.*s'|.*[^s]'s) street", belongs)


@pytest.mark.parametrize("seed", range(40))
def test_one_becomes_one_other_and_two_become_two(seed: int) -> None:
    text = swap("A Muslim said that Muslims and Sikhs agree", seed) or ""
    found = re.fullmatch(r"(An?) (.*) said that (.*) and (.*) agree", text)
    assert found is not None
    whose = {word: who for who in IDENTITIES for f in TERM_SLOTS for word in words(f, who)}
    first, again, second = (whose[found[at]] for at in (2, 3, 4))
    assert first == again != second
    assert not {first, second} & {"muslim", "sikh"}


def test_every_identity_can_come_in() -> None:
    came = {swap("these women", seed) for seed in range(1500)}
    assert {f"these {words('many', who)[0]}" for who in IDENTITIES if who != "women"} <= came


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("She told her brother", "He told his sister"),
        ("I saw HER and left her.", "I saw HIM and left him."),
        ("It is his, not hers", "It is her, not his"),
        ("He’s late, mum", "She's late, dad"),
        ("Men and women", "Women and men"),
    ],
)
def test_men_and_women_change_places(text: str, other: str):
    assert regendered(text) == other


@pytest.mark.parametrize("text", ["", "The weather", "@man #girls mankind her-story", "the_man"])
def test_a_text_that_names_neither_is_left_alone(text: str):
    assert regendered(text) is None
