"""Published corpora and users' files as posts; what leaks in them; splits that keep it apart.

``find`` turns a name, a file or a folder into a :class:`~evenhand.data.corpus.Corpus`;
``describe`` and ``check`` turn a corpus into findings; ``splits`` makes folds in which authors,
twins, templates and duplicates stay on one side; ``get`` is the only code that fetches anything.
"""
