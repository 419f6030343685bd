import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from evenhand.core.measures import MEASURES
from evenhand.core.records import Finding
from evenhand.reports import LIMITS, Case, Section
from evenhand.reports.page import page

HOSTILE = "<script>alert(1)</script>"


def built(examples: Any, *sections: Section, **options: Any) -> str:
    given = list(sections) or examples.sections()
    run = examples.run()
    provenance = run.provenance() | {"seconds": 10.0}
    return page("Data card", given, run, provenance=provenance, **options)


class Elements(HTMLParser):
    """All start tags with their attributes, and the ids and balance of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def row_of(text: str, word: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("<tr") and word in line)


def test_same_input_same_bytes(examples: Any) -> None:
    assert built(examples) == built(examples)


def test_tags_are_balanced_and_ids_unique(examples: Any) -> None:
    elements = Elements(built(examples))
    assert elements.open == []
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [a["href"] for tag, a in elements.found if tag == "a"]
    assert {link.removeprefix("#") for link in links if link} <= set(ids)


def test_asks_for_nothing(examples: Any) -> None:
    text = built(examples)
    for _, attributes in Elements(text).found:
        for name in ("src", "href", "action", "srcset", "xlink:href"):
            assert re.match("#|data:,$", attributes.get(name) or "#")
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "@import" not in text and "url(" not in text
    assert "default-src 'none'" in text and "unsafe" not in text


def test_hostile_texts_are_only_text(examples: Any) -> None:
    finding = Finding(
        measure=HOSTILE,
        value=None,
        n=1,
        group={HOSTILE: HOSTILE, "b": '" onclick="x'},
        why=HOSTILE,
        method=HOSTILE,
        unit=HOSTILE,
        cases=(HOSTILE,),
    )
    section = Section(HOSTILE, [HOSTILE], (finding,), cases=(Case(HOSTILE, HOSTILE),))
    text = built(examples, section, summary=[HOSTILE])
    assert [tag for tag, _ in Elements(text).found].count("script") == 1
    assert not any("onclick" in attributes for _, attributes in Elements(text).found)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_a_finding_stands_with_all_that_defends_it(examples: Any) -> None:
    row = row_of(built(examples), ".658")
    for part in ("racism", ">2<", "[.641, .675]", "1,970", "bootstrap · author", "waseem:2"):
        assert part in row
    assert 'data-sort="0.6584"' in row


def test_missing_value_has_a_dash_and_its_reason(examples: Any) -> None:
    row = row_of(built(examples), "annotators")
    assert ">–</td>" in row and "the corpus does not say who answered" in row


def test_simulated_is_marked_in_every_row_and_title(examples: Any) -> None:
    text = built(examples)
    assert "<title>Data card (partly simulated)</title>" in text
    assert "<h1>Data card (partly simulated)</h1>" in text
    assert ">Made up (simulated)</h2>" in text
    assert re.search("<caption.*>abuse_rate</a> by set \\(simulated\\)</caption>", text)
    assert '<span class="mark simulated">simulated</span>' in row_of(text, "all")
    assert ">Authors</h2>" in text


def test_key_figures_carry_n_and_the_mark(examples: Any) -> None:
    simulated = replace(examples.SIMULATED, group={})
    text = built(examples, Section("A", findings=(simulated,)))
    block = re.search('<dl class="key">(.*?)</dl>', text)
    assert block and "n = 1,000,000" in block[1] and "simulated" in block[1]


def test_each_measure_is_explained_once(examples: Any) -> None:
    again = Section("Again", findings=(examples.POSTS,))
    text = built(examples, again, replace(again, title="And again"))
    assert text.count(f"<dd>{MEASURES['posts']}</dd>") == 1


def test_provenance_and_limits_are_on_the_page(examples: Any) -> None:
    text = built(examples)
    for part in ("evenhand data describe &#x27;my corpus&#x27;", "ab" * 32, "16,849", "<dd>7</dd>"):
        assert part in text
    assert LIMITS in text.split("<footer>")[1]


def test_headings_go_down_one_step_at_a_time(examples: Any) -> None:
    levels = [
        int(tag[1]) for tag, _ in Elements(built(examples)).found if re.fullmatch("h[1-6]", tag)
    ]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_captions_and_scopes(examples: Any) -> None:
    text = built(examples)
    assert text.count("<caption") == text.count("<table>")
    heads = [attributes for tag, attributes in Elements(text).found if tag == "th"]
    assert heads and all(attributes.get("scope") in ("col", "row") for attributes in heads)


def test_cases_show_ids_only_unless_text_is_given(examples: Any) -> None:
    plain = built(examples, Section("A", cases=(Case("waseem:9"),)))
    assert "waseem:9" in plain and "These texts can hurt" not in plain
    given = built(
        examples, Section("A", cases=(Case("waseem:9", "@jane see https://t.co/x a@b.org"),))
    )
    assert '<p dir="auto">@user see [link] [e-mail]</p></details>' in given
    assert "These texts can hurt" in given
    assert "jane" not in given
    assert "<details open" not in given


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_read(theme: int) -> None:
    style = files("evenhand.reports").joinpath("page.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    colour = dict(re.findall(r"--([\w-]+): (#\w{6});", blocks[theme]))
    for ink, ground in (
        ("ink", "paper"),
        ("quiet", "paper"),
        ("link", "paper"),
        ("mark-ink", "mark"),
        ("quiet", "raised"),
    ):
        assert contrast(colour[ink], colour[ground]) >= 4.5, (ink, ground)
    for index in range(1, 7):
        assert contrast(colour[f"series-{index}"], colour["paper"]) >= 3
