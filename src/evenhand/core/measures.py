"""What each measure means, in one sentence: the words under every table and in the reference."""

from __future__ import annotations

MEASURES: dict[str, str] = {
    # What is there
    "rows": "Rows in the published file or files, before rows with the same id are joined.",
    "posts": "Distinct posts.",
    "posts_empty": "Posts whose text is empty.",
    "unlabelled": "Posts without any label.",
    "judgements": "Answers people gave, by question; repeats of one person count as attempts.",
    "annotators": "Distinct people who answered; null where the corpus does not say who did.",
    "scores": "Scores published with the corpus, by attribute.",
    "rationales": "Judgements in which the annotator marked words.",
    "label_share": "Share of labelled posts that carry the label (a post with two labels counts for"
    " both).",
    "split_share": "Share of posts in the published split.",
    "characters": "Length of a text in Unicode characters: the median, or a quantile.",
    "emoji_share": "Share of posts with at least one emoji.",
    # Authors
    "authors": "Distinct known authors, overall or of posts that carry a label.",
    "author_known_share": "Share of posts whose author is known.",
    "top_author_share": "Share of a label's posts (author known) written by its 1, 2 or 5 most"
    " prolific authors.",
    "author_lookup_f1": "F1 of a classifier that only looks at the author. Forms: `stated` (every"
    " post of a hateful label's most prolific author gets that label), `ideal` (only those of their"
    " posts that do carry it), `majority` (each author's commonest label in the training folds).",
    # Duplicates, twins, conflicts
    "duplicate_pairs": "Pairs of posts equal under the strict key (RT, handles, links, case,"
    " spacing and HTML entities removed).",
    "near_duplicate_pairs": "Pairs not equal under the strict key with Jaccard ≥ .8 on character"
    " 5-grams, or edit distance ≤ 2 between texts of 12 to 39 characters.",
    "duplicate_groups": "Groups of posts connected by duplicate or near-duplicate pairs.",
    "largest_duplicate_group": "Posts in the largest such group.",
    "duplicates_across_splits": "Posts with a duplicate or near-duplicate in another published"
    " split.",
    "empty_keys": "Posts with nothing left under the strict key (only links or handles): nobody's"
    " duplicates.",
    "conflicting_labels": "Texts that carry two different labels: one id published twice (`id`), or"
    " several posts equal under the strict key (`text`).",
    "twins": "Posts that have a twin (the same post with a small change).",
    "twins_across_splits": "Posts whose twin is in another published split.",
    "twins_missing": "Posts whose twin is not installed.",
    "templates": "Distinct templates the posts were made from.",
    "templates_across_splits": "Posts whose template also stands in another published split.",
    "authors_across_splits": "Posts whose author also has posts in another published split.",
    # The installation
    "components": "Registered components of a kind.",
    "installed": "Whether a corpus's files are in the data folder (1) or not (0).",
    "corpora_installed": "Published corpora whose files are in the data folder.",
    "install_bytes": "Size of the base install: Evenhand and the packages it needs.",
    "bytes": "Size of a downloaded file.",
    # The demo
    "abuse_rate": "Share of abusive posts in the whole made-up population (known, because made"
    " up).",
}
