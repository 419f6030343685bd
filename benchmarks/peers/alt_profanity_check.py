"""alt-profanity-check as a filter: texts in, probabilities out, both as JSON lines.

It pins its version of scikit-learn, so that it runs in an environment of its own::

    python -m venv PEER && PEER/bin/pip install alt-profanity-check==1.9.1
    PEER/bin/python benchmarks/peers/alt_profanity_check.py < texts.jsonl > probabilities.jsonl
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Score every line."""
    from profanity_check import predict_prob

    texts = [json.loads(line) for line in sys.stdin]
    for p in predict_prob(texts) if texts else ():
        print(json.dumps(float(p)))


if __name__ == "__main__":
    main()
