"""From a population to a sample that can be labelled, and back: strata, enrichment, planning.

``draw`` takes posts by stratum in proportion to its true volume and adds posts a filter flags,
every post keeping its inclusion probability; ``again`` draws a second phase (experts) from labelled
posts; ``plan`` says how many posts, votes and hours a wanted precision needs.
"""
