"""Recipes that train detectors, detectors that score, and adapters to other people's detectors.

``protocol`` says what a recipe and a detector are; ``training`` turns posts and gold into training
rows; one recipe per file (``naive_bayes``); ``saving`` writes a trained detector to a folder and
reads it back; ``predictions``, ``callables``, ``transformers_folder`` and ``remote`` (with the
dialects ``perspective`` and ``openai``) adapt a file of scores, a Python function, a transformers
classifier and a server; ``find`` resolves names, ``scoring`` gives every kind of detector one way
to score posts, and ``seen`` tells which posts a detector was trained on.
"""
