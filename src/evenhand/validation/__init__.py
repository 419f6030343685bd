"""Honest validation: protocols that keep sides apart, leaks on request, the cross-validated run.

``plan`` says what a protocol is and resolves its name; ``protocols`` has ours; ``run`` fits on one
side and predicts the other, fold by fold; ``leaks`` does on request what must not be done;
``selection`` chooses options on a dev split; ``lookups`` are classifiers that read no text;
``figures`` turns predictions into findings and ``verdict`` into plain words. Nothing here knows a
recipe: whatever fits and scores can be validated.
"""
