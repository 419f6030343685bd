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
    # Samples and weights
    "drawn": "Posts drawn, by phase.",
    "n_effective": "Effective sample size of the weights, (Σw)² / Σw².",
    "heaviest_weight_share": "Share of all weight carried by the heaviest hundredth of posts.",
    "merged_cells": "Weighing cells that joined several strata because one had fewer than five"
    " analysed posts.",
    "response_share": "Share of drawn posts that were analysed.",
    "planned_posts": "Posts a wanted precision needs, from a pilot.",
    "planned_votes": "Votes a wanted precision needs, from a pilot.",
    "planned_hours": "Hours of labelling a wanted precision needs, from a pilot.",
    # Estimates
    "population_share": "Weighted share of mentions that are hateful (or carry the label), from"
    " vote shares.",
    "population_share_powered": "The same with a detector's scores on every post, corrected by the"
    " labelled ones (prediction-powered, λ tuned).",
    "powered_width_ratio": "Standard error with the detector's scores over that without them.",
    "interval_width_ratio": "Width of the main interval when something else is resampled, over its"
    " own.",
    "true_share": "The population share known because the population was made up.",
    "unweighted_share": "Share of hateful votes in the enriched sample, unweighted: not an estimate"
    " of the population.",
    # Agreement
    "votes": "Judgements used: first answers to the question.",
    "repeated_votes": "Further answers of the same person to the same question on the same post;"
    " not used.",
    "posts_judged": "Posts with at least two votes, which the measures use.",
    "posts_left_out": "Posts with one vote, or not with the number asked for.",
    "percent_agreement": "Mean over posts of the share of pairs of votes that agree.",
    "fleiss_kappa": "Fleiss' κ: mean pairwise agreement beyond chance, chance from the answers"
    " pooled over votes.",
    "kappa_class": "Fleiss' κ of one category: (P_c − p_c) / (1 − p_c).",
    "kappa_class_paper": "Delisle's per-class κ: (r_c − p_c²) / (1 − Σp²), a contribution that sums"
    " to κ.",
    "randolph_kappa": "Randolph's free-marginal κ: chance is one over the number of answers.",
    "gwet_ac1": "Gwet's AC1: chance from how evenly the answers are used.",
    "krippendorff_alpha": "Krippendorff's α: 1 − observed over expected disagreement (nominal,"
    " ordinal, interval, or MASI between sets).",
    "icc_1_1": "ICC(1,1): reliability of one rater, one-way, unbalanced.",
    "icc_1_k": "ICC(1,k): reliability of the mean of k raters, one-way; the method states k.",
    "icc_2_1": "ICC(2,1): one rater, raters random and crossed with posts.",
    "icc_2_k": "ICC(2,k): mean of k raters, raters random and crossed with posts.",
    "icc_3_1": "ICC(3,1): one rater, raters fixed and crossed with posts.",
    "icc_3_k": "ICC(3,k): mean of k raters, raters fixed and crossed with posts.",
    # Gold and annotators
    "gold": "Posts with gold, overall and by label.",
    "gold_tied": "Posts whose gold is a tie: the label stays null.",
    "annotator_agreement": "How often a person's answer is that of the others on the same post.",
    "annotator_confusion": "A person's answers by the majority answer of the others.",
    "annotator_seconds": "Median time a person took for an answer.",
    "annotator_weight": "How much a person's answers count in Dawid–Skene, 1 being the average"
    " judgement.",
    # Detectors against people
    "base_rate": "Weighted share of positive posts.",
    "precision": "Share of flagged posts that are positive, at a threshold chosen elsewhere.",
    "recall": "Share of positive posts that are flagged, at a threshold chosen elsewhere.",
    "f1": "Harmonic mean of precision and recall, at a threshold chosen elsewhere.",
    "f1_best": "F1*: the best F1 over thresholds on the same rows; optimistic, re-optimised in"
    " every resample.",
    "precision_best": "Precision at the threshold of F1*.",
    "recall_best": "Recall at the threshold of F1*.",
    "threshold_best": "The threshold of F1*.",
    "average_precision": "Area under the precision-recall curve, by steps; ties grouped.",
    "auc": "Area under the ROC curve.",
    # Perspective-like scores
    "spearman": "Spearman's rank correlation of a detector's scores with published or recorded"
    " ones.",
    "mean_absolute_difference": "Mean distance of mapped scores from published or recorded ones.",
    "mean_difference": "Mean of mapped scores minus published or recorded ones.",
    "kendall_tau": "Kendall's τ-b of a detector's scores with recorded ones.",
    "decisions_kept_share": "Share of texts whose decision stays the same at the new threshold.",
    "newly_flagged_share": "Share of texts flagged at the new threshold and not at the old.",
    "no_longer_flagged_share": "Share of texts flagged at the old threshold and not at the new.",
    "recorded_answers": "Answers of a recorded service, by what became of them.",
    # Validation
    "macro_f1": "Unweighted mean of F1 over the classes, from predictions pooled over folds.",
    "weighted_f1": "Mean of F1 over the classes weighted by their size (what arango calls micro).",
    "micro_f1": "F1 over all decisions pooled; with one class per post equal to accuracy.",
    "macro_precision": "Unweighted mean of precision over the classes in which it exists.",
    "macro_recall": "Unweighted mean of recall over the classes.",
    "weighted_precision": "Mean of precision over the classes weighted by their size.",
    "weighted_recall": "Mean of recall over the classes weighted by their size.",
    "macro_f1_difference": "Macro-F1 minus that of the other recipe, split or honest run; authors"
    " drawn jointly.",
    "left_out_of_training": "Training posts left out because a twin, template or duplicate is on"
    " the test side, summed over folds.",
    "fold_size_deviation": "Largest over folds of how far the number of test posts is from even,"
    " as a share.",
    "class_share_deviation": "Largest over folds of how far a class's share of the test posts is"
    " from its share overall.",
    "difference_from_paper": "Our figure minus the one a paper prints, which is taken as exact.",
    "seconds": "Time taken, by the wall clock.",
    "chosen": "Folds in which the dev split chose these options.",
    # Groups
    "fpr": "False-positive rate: share of negative posts that are flagged, overall or of a group.",
    "fnr": "False-negative rate: share of positive posts that are not flagged, overall or of a"
    " group.",
    "fped": "False-positive equality difference: sum over groups of |FPR − FPR of the group|.",
    "fned": "False-negative equality difference: sum over groups of |FNR − FNR of the group|.",
    "fped_mean": "The same as FPED, the mean over groups.",
    "fned_mean": "The same as FNED, the mean over groups.",
    "fped_max": "The same as FPED, the largest over groups.",
    "fned_max": "The same as FNED, the largest over groups.",
    "fped_shuffled": "FPED when groups are shuffled within sentence frames: what chance alone"
    " gives.",
    "fned_shuffled": "FNED when groups are shuffled within sentence frames: what chance alone"
    " gives.",
    "fped_swapped": "FPED when the terms of each pair change places in all sentences at once: what"
    " unlike treatment of single terms gives.",
    "fned_swapped": "FNED when the terms of each pair change places in all sentences at once: what"
    " unlike treatment of single terms gives.",
    "fped_p": "Share of permutations of groups within sentence frames with an FPED at least as"
    " large, (1 + count) / (1 + permutations).",
    "fned_p": "Share of permutations of groups within sentence frames with an FNED at least as"
    " large, (1 + count) / (1 + permutations).",
    "ungrouped": "Posts of no group, left out of the group measures.",
    "selection_rate": "Share of a group's posts that are flagged.",
    "recall_gap": "Highest minus lowest recall over the groups that have positive posts.",
    "fpr_gap": "Highest minus lowest false-positive rate over the groups that have negative posts.",
    "selection_gap": "Highest minus lowest selection rate over groups.",
    "demographic_parity_ratio": "Lowest over highest selection rate of groups; null where nothing"
    " is flagged.",
    "equalized_odds_ratio": "The smaller of lowest over highest recall and lowest over highest"
    " false-positive rate; null where a group lacks a class or nothing of one is flagged.",
    "recall_gap_shuffled": "The recall gap when groups are permuted within frames: what chance"
    " alone gives.",
    "fpr_gap_shuffled": "The gap of false-positive rates when groups are permuted within frames.",
    "selection_gap_shuffled": "The gap of selection rates when groups are permuted within frames.",
    "demographic_parity_ratio_shuffled": "The demographic parity ratio when groups are permuted"
    " within frames.",
    "equalized_odds_ratio_shuffled": "The equalized odds ratio when groups are permuted within"
    " frames.",
    "recall_gap_p": "Share of permutations of groups within frames with a recall gap at least as"
    " large, the observed one counted.",
    "fpr_gap_p": "Share of permutations of groups within frames with a gap of false-positive rates"
    " at least as large, the observed one counted.",
    "identity_flip_rate": "Share of pairs of sentences that differ in the identity term alone and"
    " get different decisions; a constant detector has 0.",
    "threshold": "The threshold used, or the one that flags a given share; over several runs their"
    " mean and range.",
    # Calibration and thresholds
    "calibration_error": "Mean distance between score and share of positive posts, over bins of"
    " equally many posts (ECE).",
    "calibration_error_chance": "The calibration error of a perfectly calibrated detector with the"
    " same scores: what chance alone gives.",
    "brier": "Mean squared distance between score and truth.",
    "reliability": "Weighted share of positive posts in a bin of scores.",
    "score_mean": "Weighted mean score in a bin.",
    "flagged_share": "Share of posts that are flagged at the threshold.",
    "score_at_base_rate": "What a score that is a probability on the labelled posts would be at"
    " another base rate, by the odds ratio.",
    # Suites
    "accuracy": "Share of cases answered rightly; a case the detector failed on counts as wrong.",
    "emoji_difference": "Accuracy on originals minus accuracy on the same without emoji, in three"
    " forms: `as printed` (with append, whose label changes), `without append`, and"
    " `template-matched` (the same templates and identities on both sides).",
    "unscored": "Cases the detector failed on; each counts as answered wrongly.",
    "judged_as_gold": "Share of judged cases that most people label as the suite does; a tie counts"
    " as otherwise.",
    "seen_cases": "Cases that are copies of posts the detector was trained on.",
    "unrealistic": "Cases that at least one person called unrealistic.",
    "accuracy_difference": "Accuracy minus that of another detector on the same cases, paired;"
    " intervals hold for all comparisons together.",
    "accuracy_difference_p": "Its p-value, corrected for all comparisons (Holm).",
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
