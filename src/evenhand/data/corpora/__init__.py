"""Readers of published corpora, one file per publisher; each is registered as an entry point.

A reader states what the corpus is (:class:`evenhand.data.corpus.Reader`) and turns the published
files, plain or gzipped, into posts, gold, judgements and scores. No text of any corpus is here.
"""
