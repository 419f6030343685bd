"""Sets of cases made to find a detector's weaknesses, and what they show.

An audit is handed something that scores texts and never imports a recipe. Passing one shows that
*these* weaknesses are absent, no more: a template is not a person.
"""
