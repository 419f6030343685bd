"""Parts of campaigns for tests of the pages: everything a campaign can have, mild and small."""

from __future__ import annotations

TUTORIAL = """
[[tutorial.page]]
title = "Reading"
text = "Read calmly."
[[tutorial.practice]]
text = "you fool"
answers = { abuse = "Abusive", type = "insult" }
feedback = "A plain insult."
[[tutorial.check]]
id = "rude"
text = "Is a rude word enough?"
right = "no"
[[tutorial.check.answer]]
id = "yes"
text = "Yes, enough"
[[tutorial.check.answer]]
id = "no"
text = "No, not enough"
"""
WELLBEING = """
[wellbeing]
mask_words = "masked.txt"
break_after_posts = 2
category_tag = "topic"
[[wellbeing.category]]
id = "sport"
text = "Sport"
[[wellbeing.category]]
id = "town"
text = "Town"
[[wellbeing.help]]
address = "https://help.example.org"
text = "Somebody to talk to"
"""
BACKGROUND = """
[background]
consent = "Count me."
[[background.question]]
id = "age"
kind = "one"
text = "Your age?"
[[background.question.answer]]
id = "under 40"
text = "Under 40"
[[background.question.answer]]
id = "40 and over"
text = "40 and over"
"""
DEFINITION = """
[[definition]]
term = "Abuse"
text = "What hurts."
[[definition.example]]
text = "blorp off"
"""
EVERYTHING = TUTORIAL + WELLBEING + BACKGROUND + DEFINITION
